"""Reading and writing safetensors files, over numpy."""

import json
import os
import struct
import tempfile
from typing import Dict, Mapping, Tuple

import numpy as np


def write(path: str, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """Writes the file whole, as float32, or leaves what was there."""
    header: Dict[str, object] = {"__metadata__": dict(metadata)}
    blocks, end = [], 0
    for name in sorted(tensors):
        block = np.ascontiguousarray(tensors[name], "<f4")
        header[name] = {"dtype": "F32", "shape": list(block.shape), "data_offsets": [end, end + block.nbytes]}
        blocks.append(block)
        end += block.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for block in blocks:
                file.write(block.tobytes())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path: str) -> Tuple[Dict[str, np.ndarray], Dict[str, str]]:
    """The tensors of a file (F32, F64 and I64), and its metadata."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    kinds = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8"}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata
