from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from faultwire import wire
from faultwire.errors import FaultError, UsageError
from faultwire.wire.openai.chat import OpenAIChat
from faultwire.wire.registry import BUILTIN, GROUP, collect


class Mine(OpenAIChat):
    name = "mine"


class Entry:
    """An entry point whose module needs no import."""

    def __init__(self, loaded: object) -> None:
        self.name, self.value, self._loaded = "mine", "mine.module:Mine", loaded

    def load(self) -> object:
        return self._loaded


def test_built_in_protocols_by_name() -> None:
    assert [protocol.name for protocol in BUILTIN] == list(wire.protocols())
    assert {"openai_chat", "anthropic", "gemini", "ollama", "bedrock"} <= set(wire.protocols())
    assert isinstance(wire.protocol("openai_chat"), OpenAIChat)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        wire.protocol("openai_chatt")
    assert caught.value.code == "wire.unknown_protocol"
    assert caught.value.hint == "did you mean `openai_chat`?"


def test_a_plug_in_is_asked_after_the_built_in_ones() -> None:
    found = collect(BUILTIN, [Entry(Mine)])  # type: ignore[list-item]
    assert list(found) == [*(source.name for source in BUILTIN), "mine"]


def test_a_name_that_is_taken_is_an_error() -> None:
    with pytest.raises(FaultError, match=r"`openai_chat` of `mine = mine\.module:Mine` exists"):
        collect(BUILTIN, [Entry(OpenAIChat)])  # type: ignore[list-item]


@pytest.mark.parametrize("value", ["faultwire_no_such_package:X", "faultwire.wire:NoSuchName"])
def test_a_plug_in_that_fails_to_load_is_an_error(value: str) -> None:
    with pytest.raises(FaultError) as caught:
        collect((), [EntryPoint("mine", value, GROUP)])
    assert caught.value.code == "wire.plugin_failed"
    assert f"`mine = {value}` failed to load" in caught.value.message


@pytest.mark.parametrize("failure", [ZeroDivisionError("x"), SystemExit(1), ImportError("x"), KeyError(3)])
def test_a_plug_in_that_ends_the_program_or_fails_to_start_is_an_error(failure: BaseException) -> None:
    class Loading(Entry):
        def load(self) -> object:
            raise failure

    class Starting(OpenAIChat):
        name = "mine"

        def __init__(self) -> None:
            raise failure

    for point in (Loading(None), Entry(Starting)):
        with pytest.raises(FaultError) as caught:
            collect((), [point])  # type: ignore[list-item]
        assert caught.value.code == "wire.plugin_failed"


def test_a_plug_in_that_is_no_protocol_is_an_error() -> None:
    with pytest.raises(FaultError, match="expected a `Protocol` class"):
        collect((), [EntryPoint("mine", "faultwire.wire:VOLATILE", GROUP)])


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemError("odd"), TypeError("bad")])
def test_whatever_a_plug_in_raises_is_reported_as_its_failure(error: Exception) -> None:
    class Raising(Entry):
        def load(self) -> object:
            raise error

    with pytest.raises(FaultError, match=rf"failed to load: {type(error).__name__}: {error}"):
        collect((), [Raising(None)])  # type: ignore[list-item]


def test_a_plug_in_that_cannot_start_is_reported_as_its_failure() -> None:
    class Broken(Mine):
        def __init__(self) -> None:
            raise RuntimeError("boom")

    with pytest.raises(FaultError, match="failed to start: RuntimeError: boom"):
        collect((), [Entry(Broken)])  # type: ignore[list-item]


def test_a_plug_in_without_a_name_is_an_error() -> None:
    class Nameless(OpenAIChat):
        name = None  # type: ignore[assignment]

    with pytest.raises(FaultError, match="has no `name`"):
        collect((), [Entry(Nameless)])  # type: ignore[list-item]


def test_the_page_has_a_line_on_each_protocol_in_both_tables() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "protocols.md").read_text()
    first, _, rest = page.partition("## What can be done with each")
    for part in (first, rest.partition("\n## ")[0]):
        cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
        assert {name.strip(" `") for cell in cells for name in cell.split(",")} == {p.name for p in BUILTIN}
