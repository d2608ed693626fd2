"""The protocols that are known, by name."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire.errors import FaultError, UsageError, did_you_mean
from faultwire.wire._api import Protocol
from faultwire.wire.anthropic import Anthropic
from faultwire.wire.bedrock import Bedrock
from faultwire.wire.bedrock_invoke import BedrockInvoke
from faultwire.wire.cohere import Cohere
from faultwire.wire.embeddings import Embeddings
from faultwire.wire.gemini import Gemini
from faultwire.wire.ollama import Ollama
from faultwire.wire.openai_chat import OpenAIChat
from faultwire.wire.openai_responses import OpenAIResponses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

BUILTIN: tuple[type[Protocol], ...] = (
    OpenAIChat,
    Anthropic,
    OpenAIResponses,
    Embeddings,
    Gemini,
    Ollama,
    Cohere,
    Bedrock,
    BedrockInvoke,
)
GROUP = "faultwire.protocols"
"""Entry points of this group name a class; it is asked after the built-in ones."""


@cache
def protocols() -> Mapping[str, Protocol]:
    """Every protocol, in the order in which they are asked to recognise a request.

    Raises FaultError where a plug-in fails to load or takes a name that is taken.
    """
    from importlib.metadata import entry_points

    return collect(BUILTIN, entry_points(group=GROUP))


def protocol(name: str) -> Protocol:
    """The protocol of that name. Raises UsageError."""
    known = protocols()
    if name not in known:
        raise UsageError(
            f"unknown protocol `{name}`", code="wire.unknown_protocol", hint=did_you_mean(name, known)
        )
    return known[name]


def collect(builtin: Iterable[type[Protocol]], plugins: Iterable[EntryPoint]) -> Mapping[str, Protocol]:
    """Instances by name: the built-in classes, then those of the plug-ins."""
    found: dict[str, Protocol] = {}
    for source in builtin:
        _add(found, source, source.__module__)
    for point in sorted(plugins, key=lambda point: (point.name, point.value)):
        _add(found, _load(point), f"{point.name} = {point.value}", plugged=True)
    return MappingProxyType(found)


def _add(found: dict[str, Protocol], source: type[Protocol], origin: str, *, plugged: bool = False) -> None:
    if getattr(source, "name", None) is None:
        raise FaultError(f"protocol plug-in `{origin}` has no `name`", code="wire.plugin_failed")
    if source.name in found:
        raise FaultError(
            f"protocol `{source.name}` of `{origin}` exists already", code="wire.duplicate_protocol"
        )
    try:
        found[source.name] = source()
    except (Exception, SystemExit) as error:
        if not plugged:
            raise
        raise FaultError(
            f"protocol plug-in `{origin}` failed to start: {type(error).__name__}: {error}",
            code="wire.plugin_failed",
            hint=f"mend or remove the package that provides the entry point group `{GROUP}`",
        ) from error


def _load(point: EntryPoint) -> type[Protocol]:
    hint = f"mend or remove the package that provides the entry point group `{GROUP}`"
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # whatever a foreign module raises is told as its failure
        raise FaultError(
            f"protocol plug-in `{point.name} = {point.value}` failed to load: "
            f"{type(error).__name__}: {error}",
            code="wire.plugin_failed",
            hint=hint,
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Protocol)):
        raise FaultError(
            f"protocol plug-in `{point.name} = {point.value}` is `{loaded!r}`, expected a `Protocol` class",
            code="wire.plugin_failed",
            hint=hint,
        )
    return loaded
