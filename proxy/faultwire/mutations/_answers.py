"""What a model wrote, made into a mutant's text."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed and linear

from faultwire import _core

MOST_CHARS = 100_000
"""Longer answers are no prompts."""
_LEADS = re.compile(
    r"(?:(?:sure|okay|certainly|of course|here(?:'s| is| are))\b[^\n:]{0,80}:[ \t]*(?:\n\s*|(?=[\"'`“«„]))"
    r"|(?:the )?(?:new |mutated |modified |rewritten |paraphrased |resulting )?"
    r"(?:input|prompt|text|version|variant|output|answer|mutation)(?: \d+)?:\s*)",
    re.IGNORECASE,
)
"""Introductions. A polite word counts as one only where a line end or a quotation follows it."""
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[a-z]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "«": "»", "„": "“"}
_UNSENDABLE = re.compile(r"[\x00\ud800-\udfff]")
"""No process takes a NUL in its arguments, and no encoding has lone surrogates."""


def cleaned(answer: str) -> str:
    """The text alone: without thoughts, introductions, a fence around it all, or quotes around it all."""
    text = _UNSENDABLE.sub("", _THOUGHT.sub("", answer)).strip()
    for _ in range(3):
        before = text
        lead = _LEADS.match(text)
        if lead is not None and text[lead.end() :].strip():
            text = text[lead.end() :].strip()
        fence = _FENCE.fullmatch(text)
        if fence is not None:
            text = fence[1].strip()
        if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
            text = text[1:-1].strip()
        if text == before:
            break
    return text


def refuses(text: str, prompt: str) -> bool:
    """Does the model decline to write it? A prompt that reads like a refusal itself proves nothing."""
    return _core.judge_refusal(text, 0)[0] == "refused" and _core.judge_refusal(prompt, 0)[0] != "refused"


def usable(text: str) -> bool:
    """Can an agent be asked this?"""
    return bool(text.strip()) and len(text) <= MOST_CHARS
