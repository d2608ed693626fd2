"""Strings inside of YAML: plain, quoted, literal and folded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MOST = 200_000
"""Characters of a document that is looked into, at most."""
_LOADER: Any = yaml.SafeLoader


def scalars(text: str) -> list[yaml.ScalarNode]:
    """The strings that are values in a mapping or a sequence; none where the text is no such YAML.

    Prose with a colon is YAML, too: a document counts only where every line belongs to a block
    collection and the first line is `key: value`, `key:` or `- item`.
    """
    if len(text) > MOST or "&" in text or "\n" not in text.strip():
        return []
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError, ValueError):
        return []
    if not isinstance(root, yaml.MappingNode | yaml.SequenceNode) or root.flow_style:
        return []
    if isinstance(root, yaml.MappingNode) and any(" " in key.value for key, _ in root.value[:20]):
        return []  # sentences with colons
    return _strings(root)


def _strings(node: yaml.Node) -> list[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        return [node] if node.tag == "tag:yaml.org,2002:str" and node.value.strip() else []
    if isinstance(node, yaml.MappingNode):
        return [found for _, value in node.value for found in _strings(value)]
    return [found for value in node.value for found in _strings(value)]


def planted(text: str, payload: str, choose: Callable[[Sequence[int]], int]) -> str:
    """The document with a text added to one of its strings."""
    places = scalars(text)
    node = places[choose([len(node.value) for node in places])]
    start, end = node.start_mark.index, node.end_mark.index
    if node.style in ("|", ">"):
        return _in_block(text, start, end, payload, literal=node.style == "|")
    if node.style == "'":
        quoted = payload.replace("\n", " ").replace("'", "''")
        return (
            f"{text[: end - 1]} {quoted}{text[end - 1 :]}"
            if _printable(quoted)
            else _quoted(text, node, payload)
        )
    if node.style == '"':
        return f"{text[: end - 1]} {_escaped(payload)}{text[end - 1 :]}"
    return _quoted(text, node, payload)


def document(text: str) -> dict[Any, Any] | list[Any] | None:
    """What a document says; None where it is no mapping and no sequence, or has aliases."""
    if len(text) > MOST:
        return None
    try:
        if any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(text, Loader=_LOADER)):
            return None  # they make a document larger than it looks
        value = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return value if isinstance(value, dict | list) else None


def writer(text: str, value: Any, styles: Iterable[Mapping[str, Any]]) -> Callable[[Any], str] | None:
    """What has written this document: `yaml.safe_dump` in one of the styles, with or without its last line
    break; None where it was another."""
    for style in styles:
        dumped = str(yaml.safe_dump(value, **style))
        if text in (dumped, dumped.strip()):
            return partial(_dumped, style=style, stripped=text != dumped)
    return None


def _dumped(value: Any, style: Mapping[str, Any], *, stripped: bool) -> str:
    text = str(yaml.safe_dump(value, **style))
    return text.strip() if stripped else text


def rewritten(text: str, change: Callable[[str], str]) -> str:
    """The document with its strings changed, each in its own style where that can carry it."""
    made, at = [], 0
    for node in scalars(text):
        new = change(node.value)
        if new != node.value:
            start, end = node.start_mark.index, node.end_mark.index
            made += [text[at:start], _in_style(text, node, new)]
            at = end
    return "".join([*made, text[at:]])


def _in_style(text: str, node: yaml.ScalarNode, new: str) -> str:
    """A scalar in the style of the one that stood there; in double quotes where that cannot carry it."""
    start, end = node.start_mark.index, node.end_mark.index
    quoted = f'"{_escaped(new)}"'
    if node.style == "|":
        block = text[start:end]
        indent = next((line for line in block.splitlines()[1:] if line.strip()), " ")
        indent = indent[: len(indent) - len(indent.lstrip(" "))]
        ends_alike = new[len(new.rstrip("\n")) :] == node.value[len(node.value.rstrip("\n")) :]
        if ends_alike and _printable(new) and not new[:1].isspace() and "\r" not in new:
            head, tail = block.partition("\n")[0], block[len(block.rstrip("\n")) :]
            lines = (f"{indent}{line}" if line else "" for line in new.rstrip("\n").split("\n"))
            return f"{head}\n" + "\n".join(lines) + tail
    if node.style in ("|", ">"):
        return quoted + ("\n" if text[start:end].endswith("\n") else "")
    if node.style == "'" and _printable(new) and "\n" not in new and new == new.strip():
        return "'" + new.replace("'", "''") + "'"
    return quoted


def _quoted(text: str, node: yaml.ScalarNode, payload: str) -> str:
    """A plain scalar has to be quoted."""
    made = f'"{_escaped(f"{node.value} {payload}")}"'
    return text[: node.start_mark.index] + made + text[node.end_mark.index :]


def _in_block(text: str, start: int, end: int, payload: str, *, literal: bool) -> str:
    """Another line of the block, indented as its first one; where it folds, one line of its own."""
    block = text[start:end]
    first = next(line for line in block.splitlines()[1:] if line.strip())
    indent = first[: len(first) - len(first.lstrip(" "))]
    lines = payload.split("\n") if literal else [" ".join(payload.split())]
    lines_text = "".join(f"{indent}{_visible(line)}\n" for line in lines)
    used = start + len(block.rstrip("\n"))
    after = text[used:]
    return (
        text[:used] + "\n" + (lines_text[:-1] if after.startswith("\n") or not after else lines_text) + after
    )


def _escaped(text: str) -> str:
    """The inside of a double-quoted scalar, on one line (YAML 1.2 §5.7)."""
    return "".join(map(_character, text))


def _character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character in "\x85\u2028\u2029\ufeff" or not _printable(character):
        return f"\\u{ord(character):04x}"  # beyond U+FFFF all are printable
    return character


_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _printable(text: str) -> bool:
    return yaml.reader.Reader.NON_PRINTABLE.search(text) is None


def _visible(line: str) -> str:
    return yaml.reader.Reader.NON_PRINTABLE.sub("?", line)
