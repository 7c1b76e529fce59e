"""An ONNX model as a graph that can be cut in parts, without the ``onnx`` library.

ONNX Runtime runs models but does not take them apart, and ``onnx`` is twenty megabytes for what is a walk over a few
record types. The wire format never changes: the few fields that matter are read, and what is kept is copied as it
stands. Numbers are those of ``onnx.proto3``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property

# ModelProto
_GRAPH = 7
# GraphProto
_NODE, _GRAPH_NAME, _INITIALIZER, _INPUT, _OUTPUT = 1, 2, 5, 11, 12
# NodeProto
_NODE_INPUT, _NODE_OUTPUT, _OPERATOR, _ATTRIBUTE = 1, 2, 4, 5
# AttributeProto: a graph inside a node (If, Loop) may use any tensor around it.
_SUBGRAPHS = frozenset((6, 11))
# TensorProto and ValueInfoProto
_TENSOR_NAME, _VALUE_NAME, _VALUE_TYPE = 8, 1, 2
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
#: A value type of float tensors of any shape: ``TypeProto{tensor_type{elem_type: FLOAT, }}``.
_FLOAT_TENSOR = bytes((0x0A, 0x02, 0x08, 0x01))


class GraphError(ValueError):
    """The bytes are no ONNX model, or not one that can be cut like that."""


@dataclass(frozen=True)
class Node:
    """One operation; ``inputs`` and ``outputs`` are names of tensors."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    record: memoryview


class OnnxGraph:
    """The graph of a model. Raises ``GraphError``; nodes come in the order in which they run."""

    def __init__(self, model: bytes | memoryview) -> None:
        head: list[bytes] = []
        graph: memoryview | None = None
        for number, value, record in _fields(memoryview(model)):
            if number == _GRAPH:
                graph = _message(value)
            else:
                head.append(bytes(record))
        if graph is None:
            raise GraphError("there is no graph in it")
        self._head = b"".join(head)
        self.nodes: list[Node] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self._values: dict[str, memoryview] = {}
        self._initializers: dict[str, memoryview] = {}
        self._read(graph)

    @cached_property
    def maker(self) -> dict[str, int]:
        """Tensor to the index of the node that makes it; inputs and weights have none."""
        return {name: index for index, node in enumerate(self.nodes) for name in node.outputs}

    def needed_for(self, tensors: Iterable[str], *, given: Set[str] = frozenset()) -> set[int]:
        """The nodes that must run to make ``tensors`` when ``given`` exist already."""
        needed: set[int] = set()
        waiting = list(tensors)
        while waiting:
            tensor = waiting.pop()
            index = self.maker.get(tensor)
            if tensor in given or index is None or index in needed:
                continue
            needed.add(index)
            waiting.extend(self.nodes[index].inputs)
        return needed

    def part(self, given: Iterable[str], made: Iterable[str]) -> bytes:
        """A model of its own that makes the tensors ``made`` from ``given``: inputs of the graph, or float tensors."""
        given, made = list(given), list(made)
        kept = [self.nodes[index] for index in sorted(self.needed_for(made, given=set(given)))]
        used = {name for node in kept for name in node.inputs if name}
        local = {name for node in kept for name in node.outputs}
        if missing := used - local - set(given) - self._initializers.keys():
            raise GraphError(f"a part needs {', '.join(sorted(missing))} too")
        body = [_field(_NODE, node.record) for node in kept]
        body.append(_field(_GRAPH_NAME, b"part"))
        body += [_field(_INITIALIZER, record) for name, record in self._initializers.items() if name in used]
        body += [_field(_INPUT, self._value(name, is_input=True)) for name in given if name in used]
        body += [_field(_OUTPUT, self._value(name, is_input=False)) for name in made]
        return self._head + _field(_GRAPH, b"".join(body))

    def _value(self, name: str, *, is_input: bool) -> bytes:
        if name in self._values:
            return bytes(self._values[name])
        named = _field(_VALUE_NAME, name.encode())
        # The type of an output is worked out by whoever loads the model.
        return named + _field(_VALUE_TYPE, _FLOAT_TENSOR) if is_input else named

    def _read(self, graph: memoryview) -> None:
        for number, value, _ in _fields(graph):
            if number == _NODE:
                self.nodes.append(_node(_message(value)))
            elif number == _INITIALIZER:
                self._initializers[_text(_message(value), _TENSOR_NAME)] = _message(value)
            elif number in (_INPUT, _OUTPUT):
                name = _text(_message(value), _VALUE_NAME)
                self._values[name] = _message(value)
                (self.inputs if number == _INPUT else self.outputs).append(name)


def _node(record: memoryview) -> Node:
    inputs: list[str] = []
    outputs: list[str] = []
    operator = ""
    for number, value, _ in _fields(record):
        if number == _NODE_INPUT:
            inputs.append(_decoded(value))
        elif number == _NODE_OUTPUT:
            outputs.append(_decoded(value))
        elif number == _OPERATOR:
            operator = _decoded(value)
        elif number == _ATTRIBUTE and any(inner in _SUBGRAPHS for inner, _, _ in _fields(_message(value))):
            raise GraphError("it has graphs inside its nodes")
    return Node(operator, tuple(inputs), tuple(outputs), record)


# ---------------------------------------------------------------------------------------------- wire format


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview | int, memoryview]]:
    """Number, value and whole record of every field."""
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        kind = key & 7
        value: memoryview | int
        if kind == _VARINT:
            value, at = _varint(message, at)
        elif kind == _BYTES:
            size, at = _varint(message, at)
            value, at = message[at : at + size], at + size
        elif kind in (_FIXED_32, _FIXED_64):
            size = 4 if kind == _FIXED_32 else 8
            value, at = message[at : at + size], at + size
        else:
            raise GraphError("it is no ONNX model")
        if at > len(message):
            raise GraphError("it ends too early")
        yield key >> 3, value, message[start:at]


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise GraphError("it ends too early")


def _message(value: memoryview | int) -> memoryview:
    if isinstance(value, int):
        raise GraphError("it is no ONNX model")
    return value


def _text(record: memoryview, wanted: int) -> str:
    return next((_decoded(value) for number, value, _ in _fields(record) if number == wanted), "")


def _decoded(value: memoryview | int) -> str:
    try:
        return bytes(_message(value)).decode()
    except UnicodeDecodeError as error:
        raise GraphError("it is no ONNX model") from error


def _field(number: int, content: bytes | memoryview) -> bytes:
    return _encoded(number << 3 | _BYTES) + _encoded(len(content)) + bytes(content)


def _encoded(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
