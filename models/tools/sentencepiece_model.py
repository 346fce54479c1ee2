"""Reads the fields of a SentencePiece model that a tokenizer needs.

The file is one protobuf message (`ModelProto` of sentencepiece_model.proto). A reader for the few
fields below is shorter than a dependency on the sentencepiece library.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Wire types of protobuf.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
# Field numbers of ModelProto, SentencePiece, TrainerSpec and NormalizerSpec.
PIECES, TRAINER, NORMALIZER = 1, 2, 3
PIECE_TEXT, PIECE_SCORE = 1, 2
MODEL_KIND, UNK_ID, BOS_ID, EOS_ID = 3, 40, 41, 42
CHARSMAP, DUMMY_PREFIX, REMOVE_EXTRA_SPACES = 2, 3, 4
UNIGRAM = 1


@dataclass
class Piece:
    text: str = ""
    score: float = 0.0


@dataclass
class SentencePieceModel:
    """The defaults are those of the .proto file: a field at its default is not written."""

    pieces: list[Piece] = field(default_factory=list)
    kind: int = UNIGRAM
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_spaces: bool = True


def read(path: Path) -> SentencePieceModel:
    model = SentencePieceModel()
    for number, value in fields(path.read_bytes()):
        if number == PIECES:
            model.pieces.append(read_piece(value))
        elif number == TRAINER:
            read_trainer(value, model)
        elif number == NORMALIZER:
            read_normalizer(value, model)
    if model.kind != UNIGRAM:
        raise ValueError(f"{path} is not a unigram model")
    return model


def read_piece(message: bytes) -> Piece:
    piece = Piece()
    for number, value in fields(message):
        if number == PIECE_TEXT:
            piece.text = value.decode()
        elif number == PIECE_SCORE:
            (piece.score,) = struct.unpack("<f", value)
    return piece


def read_trainer(message: bytes, model: SentencePieceModel) -> None:
    names = {MODEL_KIND: "kind", UNK_ID: "unk_id", BOS_ID: "bos_id", EOS_ID: "eos_id"}
    for number, value in fields(message):
        if number in names:
            setattr(model, names[number], value)


def read_normalizer(message: bytes, model: SentencePieceModel) -> None:
    for number, value in fields(message):
        if number == CHARSMAP:
            model.charsmap = value
        elif number == DUMMY_PREFIX:
            model.add_dummy_prefix = bool(value)
        elif number == REMOVE_EXTRA_SPACES:
            model.remove_extra_spaces = bool(value)


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message in order: (number, integer or raw bytes)."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(message, at)
            yield number, value
            continue
        if wire == BYTES:
            size, at = varint(message, at)
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
        else:
            raise ValueError(f"unknown protobuf wire type {wire}")
        yield number, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> tuple[int, int]:
    """A base-128 integer and the position after it."""
    value, shift = 0, 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
