"""Whatever is in a file: a profile, or an error that a terminal can show."""

from __future__ import annotations

from hypothesis import example, given, strategies as st

from faultwire.errors import ProfileError
from faultwire.profile.load import dump, from_dump, inline, parse

KEYS = "name tools faults on trigger id url kind llm status code latency ms reset at"
WORDS = st.sampled_from(KEYS.split())
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
MARKS = st.sampled_from(
    [*"-:?,[]{}#&*!|>'\"%@` \n\t\\", "- ", ": ", "faults:\n", "\n  ", "\x85", "\u2028", "\x1b"]
)


def flow(tree: object) -> str:
    """The tree as YAML in one line."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(flow, tree)) + "]"
    if isinstance(tree, str):
        return '"' + "".join(f"\\U{ord(c):08x}" for c in tree) + '"'
    return {None: "null", True: "true", False: "false"}.get(tree, str(tree))  # type: ignore[call-overload]


def understood(reader, text: str) -> None:
    try:
        profile = reader(text)
    except ProfileError as error:
        shown = error.render()
        assert shown.replace("\n", "").isprintable()
        assert shown.startswith(("f.yaml:", "<inline>:")), shown
    else:
        assert from_dump(dump(profile)) == profile


@given(st.lists(MARKS | WORDS | st.text(max_size=3), max_size=30).map("".join))
@example("faults: [{latency: {ms: 1}, on: {kind: \ud800}}]")
def test_any_text(text):
    understood(lambda source: parse(source, "f.yaml"), text)
    understood(inline, text)


@given(TREES)
def test_any_tree(tree):
    text = flow({"faults": tree})
    understood(lambda source: parse(source, "f.yaml"), text)
    understood(lambda source: parse(source, "f.yaml"), flow(tree))
    understood(inline, flow(tree))


@given(st.binary(max_size=60))
def test_any_bytes(data):
    understood(lambda source: parse(source, "f.yaml"), data)
