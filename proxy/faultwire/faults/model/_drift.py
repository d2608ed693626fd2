"""How a text drifts: the same content, worded as another version of a model would word it."""

from __future__ import annotations

import json
import re  # noqa: TID251 - the patterns below are fixed and linear
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Severity = Literal["subtle", "moderate", "significant"]

_SHARE: dict[Severity, float] = {"subtle": 0.0, "moderate": 0.5, "significant": 1.0}
_SYNONYMS = {
    "action": "tool_name", "tool_name": "action", "name": "title", "title": "name", "type": "kind",
    "kind": "type", "output": "result", "result": "output", "id": "identifier", "text": "content",
    "content": "text", "answer": "response", "response": "answer", "status": "state", "value": "amount",
}  # fmt: skip
_FENCE = re.compile(r"\A(\s*```[a-z]*\n)(.*)(\n```\s*)\Z", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*\s*")
_FULL = (
    ("I am ", "I'm "), ("do not ", "don't "), ("cannot ", "can't "), ("it is ", "it's "), ("It is ", "It's "),
    ("will not ", "won't "), ("you are ", "you're "), ("that is ", "that's "),
)  # fmt: skip


def renamed(text: str, severity: Severity) -> str:
    """Keys of a JSON answer under other names: one, half of them, or all at every depth."""
    return _in_json(text, lambda value: _rename(value, severity, deep=severity == "significant"))


def _rename(value: Any, severity: Severity, *, deep: bool) -> Any:
    if isinstance(value, list):
        return [_rename(item, severity, deep=deep) for item in value]
    if not isinstance(value, dict):
        return value
    count = max(1, round(len(value) * _SHARE[severity])) if value else 0
    made: dict[str, Any] = {}
    for at, (key, item) in enumerate(value.items()):
        new = _SYNONYMS.get(key) or _recased(key)
        renamed = _rename(item, severity, deep=True) if deep else item
        made[new if at < count and new not in value else key] = renamed
    return made


def _recased(key: str) -> str:
    """`order_id` and `orderId` change places; a single word gets another version."""
    if "_" in key.strip("_"):
        first, *rest = key.strip("_").split("_")
        return first + "".join(part.capitalize() for part in rest)
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), key)
    return snake if snake != key else f"{key}_v2"


def reworded(text: str, direction: Literal["expand", "compress"], factor: float) -> str:
    """Prose that is about `factor` times as long, or as short; JSON is left alone."""
    if _parsed(text) is not None:
        return text
    sentences = _SENTENCE.findall(text)
    if direction == "compress":
        return "".join(sentences[: max(1, round(len(sentences) / factor))]).rstrip()
    filler = "To put it differently: "
    out, target = text.rstrip(), len(text) * factor
    for at in range(1_000):
        if len(out) >= target or not sentences:
            break
        sentence = sentences[at % len(sentences)].strip()
        out += f" {filler}{sentence}"
    return out


def reformatted(text: str, severity: Severity) -> str:
    """JSON in a Markdown block, with a sentence before it, or as prose; prose as bullets."""
    value = _parsed(text)
    if value is None:
        bullets = [f"- {sentence.strip()}" for sentence in _SENTENCE.findall(text) if sentence.strip()]
        return "\n".join(bullets) or text
    bare = _FENCE.sub(r"\2", text).strip()
    if severity == "subtle":
        return f"```json\n{bare}\n```" if bare == text.strip() else bare
    if severity == "moderate":
        return f"Here is the result:\n\n```json\n{bare}\n```\n\nLet me know if you need anything else."
    return _prose(value)


def _prose(value: Any, name: str = "") -> str:
    if isinstance(value, dict):
        return "\n".join(
            _prose(item, f"{name} {key}".strip().replace("_", " ")) for key, item in value.items()
        )
    if isinstance(value, list):
        return "\n".join(_prose(item, f"{name} {at + 1}".strip()) for at, item in enumerate(value))
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{name}: {text}" if name else text


def declined(text: str, severity: Severity) -> str:
    """The same answer hedged, only begun, or not given at all."""
    if severity == "subtle":
        return f"I'm not certain about this, but here is what I have: {text}" if text else text
    if severity == "moderate":
        first = next(iter(_SENTENCE.findall(text)), "").strip()
        return f"{first} I'd rather not go into further detail on this." if first else text
    return "I'm not able to help with that as asked. Could you rephrase your request?" if text else text


def retoned(text: str, severity: Severity) -> str:
    """Prose in a chattier voice; JSON is left alone."""
    if _parsed(text) is not None or not text:
        return text
    for formal, casual in _FULL:
        text = text.replace(formal, casual)
    if severity == "subtle":
        return text if text.startswith("Sure") else f"Sure! {text}"
    text = f"Great question! {text}"
    return text if severity == "moderate" else f"{text.replace('. ', '! ')} Hope that helps, friend!"


def _in_json(text: str, change: Callable[[Any], Any]) -> str:
    """The JSON of a text (bare or in a Markdown block) changed, the rest kept."""
    value = _parsed(text)
    if not isinstance(value, dict | list):
        return text
    fence = _FENCE.match(text)
    encoded = json.dumps(change(value), ensure_ascii=False)
    return f"{fence[1]}{encoded}{fence[3]}" if fence else encoded


def _parsed(text: str) -> Any:
    """The object or array that the text is, None where it is prose."""
    fence = _FENCE.match(text)
    try:
        value = json.loads(fence[2] if fence else text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
