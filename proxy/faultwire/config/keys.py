"""Literal keys in a configuration: refused wherever they stand, comments included, and never shown."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

from faultwire.errors import printable
from faultwire.patterns import secret_spans
from faultwire.tape.redact.names import header_class, kept_scheme

if TYPE_CHECKING:
    from faultwire.config.reading import Reading
    from faultwire.profile.yaml import Node

HINT = "put it into the environment, or into `.env` beside this file, and write `${NAME}` here"
NAMED = ("agent", "model", "replays", "proxy")
"""The sections in which a name alone says that a value is a key; elsewhere it may be a text to look for."""

_HARMLESS = re.compile(r"x-forwarded-for|openai-(organization|project)|prompt_cache_key|reset_.*|.*_path")
_REFERENCES = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-)?\}|\$[A-Za-z_][A-Za-z0-9_]*")


def refuse_patterns(data: bytes, reading: Reading) -> None:
    """Note every text that has the form of a known kind of key, by its place in the file."""
    for start, _, kind in secret_spans(data):
        line = data.count(b"\n", 0, start) + 1
        before = data[data.rfind(b"\n", 0, start) + 1 : start]
        column = len(before.decode("utf-8", "replace")) + 1
        message = f"found a literal key ({kind}), expected none in this file"
        reading.add((line, column), "literal_key", message, HINT)


def refuse_named(root: Node, reading: Reading) -> None:
    """Note every value that is a key by its name, before variables are filled in; and every text with a
    NUL character where no text may have one."""
    if isinstance(root.value, dict):
        for section in NAMED:
            if section in root.value:
                _walk(root.value[section], section, reading)


def _walk(node: Node, name: str, reading: Reading) -> None:
    if isinstance(node.value, dict):
        for key, value in node.value.items():
            _walk(value, key, reading)
    elif isinstance(node.value, list):
        for value in node.value:
            _walk(value, name, reading)
    elif isinstance(node.value, str):
        if "\0" in node.value:
            reading.add(node, "bad_value", f"found a NUL character in `{printable(name)}`, expected none")
        elif is_key(name) and _literal(node.value):
            message = f"found a literal value of `{printable(name)[:60]}`, expected a variable"
            reading.add(node, "literal_key", message, HINT)


def is_key(name: str) -> bool:
    """Is this the name of something that holds a key?"""
    bare = name.strip().lower()
    return header_class(bare) is not None and _HARMLESS.fullmatch(bare) is None


def _literal(text: str) -> bool:
    """Is there anything in a value besides variables and the word for a scheme?"""
    _, rest = kept_scheme(text)
    return bool(_REFERENCES.sub("", rest or text).strip())
