"""Writes the tokenizer files beside a converted model.

`tokenizer.json` is a unigram tokenizer in the format of the `tokenizers` library; the three small
files are what fastembed wants besides (padding token, special tokens, longest input); `model.toml`
tells the gateway how the model is used, so that an operator only names the folder.
"""

import json
from dataclasses import dataclass
from pathlib import Path

SPACE = "▁"  # SentencePiece writes a space as this character.


@dataclass
class SpecialTokens:
    """Ids of the tokens that are not text."""

    bos: int
    eos: int
    unk: int
    pad: int
    mask: int | None = None

    def ids(self) -> list[int]:
        known = {self.bos, self.eos, self.unk, self.pad}
        return sorted(known if self.mask is None else known | {self.mask})


@dataclass
class UnigramTokenizer:
    pieces: list[str]
    scores: list[float]
    special: SpecialTokens
    normalizers: list[dict]
    add_dummy_prefix: bool = True


@dataclass
class ModelUse:
    """How to feed the model: the content of `model.toml`."""

    name: str
    dimensions: int
    max_tokens: int
    pooling: str
    prefix: str = ""


def replace(pattern: str, content: str) -> dict:
    """A normalizer step that replaces what a regular expression matches."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def write_all(folder: Path, tokenizer: UnigramTokenizer, use: ModelUse) -> None:
    special, pieces = tokenizer.special, tokenizer.pieces
    names = {
        "bos_token": pieces[special.bos],
        "cls_token": pieces[special.bos],
        "eos_token": pieces[special.eos],
        "sep_token": pieces[special.eos],
        "unk_token": pieces[special.unk],
        "pad_token": pieces[special.pad],
    }
    write_json(folder / "tokenizer.json", tokenizer_json(tokenizer))
    write_json(folder / "config.json", {"hidden_size": use.dimensions, "pad_token_id": special.pad})
    write_json(folder / "special_tokens_map.json", names)
    write_json(folder / "tokenizer_config.json", {**names, "model_max_length": use.max_tokens})
    (folder / "model.toml").write_text(model_toml(use), encoding="utf-8")


def tokenizer_json(tokenizer: UnigramTokenizer) -> dict:
    special, pieces = tokenizer.special, tokenizer.pieces
    prepend = "always" if tokenizer.add_dummy_prefix else "never"
    metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": prepend, "split": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(i, pieces[i], lstrip=i == special.mask) for i in special.ids()],
        "normalizer": {"type": "Sequence", "normalizers": tokenizer.normalizers},
        "pre_tokenizer": metaspace,
        "post_processor": sentence_template(pieces[special.bos], special.bos, pieces[special.eos], special.eos),
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": special.unk,
            "byte_fallback": False,
            "vocab": [[piece, float(score)] for piece, score in zip(pieces, tokenizer.scores, strict=True)],
        },
    }


def added_token(index: int, content: str, lstrip: bool) -> dict:
    flags = {"single_word": False, "lstrip": lstrip, "rstrip": False, "normalized": False, "special": True}
    return {"id": index, "content": content, **flags}


def sentence_template(bos: str, bos_id: int, eos: str, eos_id: int) -> dict:
    """Every text becomes: begin, text, end."""
    begin, end = {"SpecialToken": {"id": bos, "type_id": 0}}, {"SpecialToken": {"id": eos, "type_id": 0}}
    text = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    tokens = {bos: {"id": bos, "ids": [bos_id], "tokens": [bos]}, eos: {"id": eos, "ids": [eos_id], "tokens": [eos]}}
    single, pair = [begin, text[0], end], [begin, text[0], end, text[1], end]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}


def model_toml(use: ModelUse) -> str:
    return (
        f'name = "{use.name}"\n'
        f"dimensions = {use.dimensions}\n"
        f"max_tokens = {use.max_tokens}\n"
        f'pooling = "{use.pooling}"\n'
        f'prefix = "{use.prefix}"\n'
    )


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
