"""From nodes to the description's layer lists; every affine step is folded into the linear beside it."""

from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from .graph import Node, Value
from .refusal import Refusal

Operation = Tuple[str, Any]  # ("linear", (weight, bias)), ("layer_norm", (weight, bias, eps)), ("activation", JSON), ...


class Lowering:
    """Layer lists that start from `base`, the nodes that come in side by side."""

    def __init__(self, base: Sequence[Node]) -> None:
        self.base = list(base)
        self.start: Dict[int, int] = {}
        self.width = 0
        for node in self.base:
            self.start[id(node)] = self.width
            self.width += node.width

    def list(self, value: Value) -> List[Operation]:
        """The operations that make `value`."""
        if self._from_base(value):
            if value.width == self.width and np.array_equal(self._columns(value), np.arange(self.width)) and np.all(value.scale == 1) and np.all(value.shift == 0):
                return []
            return self.linear(np.eye(value.width), np.zeros(value.width), value)
        node = self._single(value)
        if node.kind == "linear":
            weight, bias = node.attributes["weight"], node.attributes["bias"]
            return self.linear(weight[value.column] * value.scale[:, None], bias[value.column] * value.scale + value.shift, node.inputs[0])
        operations = self._node(node)
        if value.plain(node):
            return operations
        weight = np.zeros((value.width, node.width))
        weight[np.arange(value.width), value.column] = value.scale
        return operations + [("linear", (weight, value.shift))]

    def linear(self, weight: np.ndarray, bias: np.ndarray, value: Value) -> List[Operation]:
        """The operations that make weight * value + bias."""
        while not self._from_base(value) and len(value.used()) > 1:
            weight, bias, value = self._substitute(weight, bias, value)
        bias = bias + weight @ value.shift
        if self._from_base(value):
            before, width, columns = [], self.width, self._columns(value)
        else:
            node = self._single(value)
            before, width, columns = self.list(Value.of(node)), node.width, value.column
        folded = np.zeros((width, len(weight)))
        np.add.at(folded, columns, (weight * value.scale).T)
        return before + [("linear", (np.ascontiguousarray(folded.T), bias))]

    def _substitute(self, weight: np.ndarray, bias: np.ndarray, value: Value) -> Tuple[np.ndarray, np.ndarray, Value]:
        """One linear among the sources (an embedding's, beside x) replaced by what it takes."""
        from .graph import concatenate
        for i in sorted(set(value.source.tolist())):
            node = value.nodes[i]
            if node.kind == "linear" and id(node) not in self.start:
                mine = value.source == i
                part = weight[:, mine] * value.scale[mine]
                inner, offset = node.attributes["weight"][value.column[mine]], node.attributes["bias"][value.column[mine]]
                bias = bias + part @ offset + weight[:, mine] @ value.shift[mine]
                weight = np.concatenate([weight[:, ~mine], part @ inner], 1)
                return weight, bias, concatenate([value[~mine], node.inputs[0]])
        names = ", ".join(f"{node.where or node.kind}" for node in value.used())
        raise Refusal(f"a layer takes columns of several places ({names}), but a layer list is a chain")

    def _node(self, node: Node) -> List[Operation]:
        if node.kind in ("activation", "layer_norm"):
            return self.list(node.inputs[0]) + [(node.kind, node.attributes["what"])]
        if node.kind == "add":
            return self._residual(node)
        raise Refusal(f"{node.where}: {node.kind} inside a layer list")

    def _residual(self, node: Node) -> List[Operation]:
        for skip, branch in (node.inputs, node.inputs[::-1]):
            used = skip.used()
            if len(used) == 1 and skip.plain(used[0]):
                try:
                    inner = Lowering(used).list(branch)
                except Refusal:
                    continue
                return self.list(skip) + [("residual", inner)]
        raise Refusal(f"{node.where}: a sum that is no residual (a block's input plus its output)")

    def _from_base(self, value: Value) -> bool:
        return all(id(node) in self.start for node in value.used())

    def _columns(self, value: Value) -> np.ndarray:
        starts = np.array([self.start.get(id(node), 0) for node in value.nodes])
        return starts[value.source] + value.column

    def _single(self, value: Value) -> Node:
        used = value.used()
        if len(used) == 1:
            if used[0].kind in ("input", "noise", "reparameterized"):
                raise Refusal(f"a layer takes {used[0].where or used[0].kind}, which is not at the start of its list")
            return used[0]
        names = ", ".join(node.where or node.kind for node in used)
        raise Refusal(f"columns of several places ({names}) go side by side inside a layer list, which is a chain")
