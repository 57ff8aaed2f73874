"""cvae-export: a module by its name, and its weights, to a model file."""

import argparse
import importlib
import json
import sys
from typing import List, Optional

from .export import export
from .refusal import Refusal
from .weights import fit, load


def main(arguments: Optional[List[str]] = None) -> int:
    """The exit status: 0, or 1 where nothing was written."""
    parser = argparse.ArgumentParser(prog="cvae-export", description=__doc__)
    parser.add_argument("module", help="mypkg.model:CVAE, a class or a function that makes the module")
    parser.add_argument("--args", type=json.loads, default={}, help="its keyword arguments, as JSON")
    parser.add_argument("--weights", required=True, help="a checkpoint: .safetensors, or what torch.save wrote")
    parser.add_argument("-o", "--out", required=True, help="the model file to write")
    parser.add_argument("--data", type=int, required=True, help="D, the columns of x")
    parser.add_argument("--condition", type=json.loads, default=[], help='its parts: [{"name": "digit", "classes": 10, "ids": true}]')
    parser.add_argument("--arguments", nargs="+", help="what forward takes, in order, if not x and then the parts")
    parser.add_argument("--spread", choices=["logvar", "log_std"], help="go by encode (mu and this) and decode, not by forward")
    parser.add_argument("--latent", type=int, help="Z, of a decoder alone, whose forward takes z in place of x")
    parser.add_argument("--name", help="what requests call the model")
    parser.add_argument("--loss", type=json.loads, help='{"element": "bce", "kl_weight": 0.5}; default squared_error, 1, 1')
    parser.add_argument("--noise", choices=["sample", "mean"], default="sample", help="Reconstruct's default")
    options = parser.parse_args(arguments)
    sys.path.insert(0, "")
    place, _, name = options.module.partition(":")
    try:
        module = getattr(importlib.import_module(place), name)(**options.args)
        fit(module, load(options.weights), options.weights)
        export(module, options.out, data=options.data, condition=options.condition, arguments=options.arguments, spread=options.spread,
               latent=options.latent, name=options.name, loss=options.loss, noise=options.noise, report=print)
    except (Refusal, ImportError, AttributeError, OSError) as error:
        print(f"cvae-export: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
