"""What a traced module computes: nodes, and values that select, scale and shift their columns, all in float64."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple

import numpy as np


@dataclass(eq=False)
class Node:
    """An input, or one operation. kind: input, linear, activation, layer_norm, clamp, add, noise, reparameterized."""

    kind: str
    width: int
    inputs: Tuple["Value", ...] = ()
    attributes: Dict[str, Any] = field(default_factory=dict)
    where: str = ""  # the module, for messages


@dataclass(eq=False)
class Value:
    """Column j is scale[j] * nodes[source[j]][column[j]] + shift[j]: what cat, slices, BatchNorm and arithmetic leave."""

    nodes: List[Node]
    source: np.ndarray
    column: np.ndarray
    scale: np.ndarray
    shift: np.ndarray

    @staticmethod
    def of(node: Node) -> "Value":
        n = node.width
        return Value([node], np.zeros(n, int), np.arange(n), np.ones(n), np.zeros(n))

    @property
    def width(self) -> int:
        return len(self.column)

    def __getitem__(self, columns: Any) -> "Value":
        return Value(self.nodes, self.source[columns], self.column[columns], self.scale[columns], self.shift[columns])

    def affine(self, scale: Any, shift: Any) -> "Value":
        return Value(self.nodes, self.source, self.column, self.scale * scale, self.shift * scale + shift)

    def used(self) -> List[Node]:
        return [self.nodes[i] for i in sorted(set(self.source.tolist()))]

    def plain(self, node: Node) -> bool:
        """Whether it is just this node."""
        return (self.used() == [node] and self.width == node.width and np.array_equal(self.column, np.arange(node.width))
                and bool(np.all(self.scale == 1)) and bool(np.all(self.shift == 0)))


def concatenate(values: List[Value]) -> Value:
    """Side by side."""
    nodes = [node for value in values for node in value.nodes]
    starts = np.cumsum([0] + [len(value.nodes) for value in values])
    parts = zip(values, starts)
    return Value(nodes, np.concatenate([value.source + start for value, start in parts]),
                 *(np.concatenate([getattr(value, name) for value in values]) for name in ("column", "scale", "shift")))
