"""Which checks there are: the built-in ones, and those that installed packages bring."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from faultwire.checks._api import SECTIONS, Check
from faultwire.checks.at_most_once import AtMostOnce
from faultwire.checks.attack_resisted import AttackResisted
from faultwire.checks.backs_off import BacksOff
from faultwire.checks.behavior_unchanged import BehaviorUnchanged
from faultwire.checks.canary_not_leaked import CanaryNotLeaked
from faultwire.checks.completes import Completes
from faultwire.checks.contains import Contains
from faultwire.checks.contains_any import ContainsAny
from faultwire.checks.eventually import Eventually
from faultwire.checks.excludes_pattern import ExcludesPattern
from faultwire.checks.excludes_pii import ExcludesPii
from faultwire.checks.excludes_secrets import ExcludesSecrets
from faultwire.checks.fallback_used import FallbackUsed
from faultwire.checks.information_flow import InformationFlow
from faultwire.checks.injection_not_obeyed import InjectionNotObeyed
from faultwire.checks.json_schema import JsonSchema
from faultwire.checks.latency import Latency
from faultwire.checks.max_cost import MaxCost
from faultwire.checks.max_duration import MaxDuration
from faultwire.checks.max_llm_calls import MaxLlmCalls
from faultwire.checks.max_tokens import MaxTokens
from faultwire.checks.no_duplicate_side_effect import NoDuplicateSideEffect
from faultwire.checks.no_fabrication import NoFabrication
from faultwire.checks.no_pii_egress import NoPiiEgress
from faultwire.checks.no_request_to import NoRequestTo
from faultwire.checks.no_retry_of_client_errors import NoRetryOfClientErrors
from faultwire.checks.no_retry_storm import NoRetryStorm
from faultwire.checks.no_secret_egress import NoSecretEgress
from faultwire.checks.only_agent_may_call import OnlyAgentMayCall
from faultwire.checks.only_hosts import OnlyHosts
from faultwire.checks.output_not_empty import OutputNotEmpty
from faultwire.checks.recovers_within import RecoversWithin
from faultwire.checks.refusal_check import RefusalCheck
from faultwire.checks.regex import Regex
from faultwire.checks.respects_retry_after import RespectsRetryAfter
from faultwire.checks.session_isolated import SessionIsolated
from faultwire.checks.similarity import Similarity
from faultwire.checks.sometimes import Sometimes
from faultwire.checks.tool_arguments import ToolArguments
from faultwire.checks.tool_called import ToolCalled
from faultwire.checks.tool_not_called import ToolNotCalled
from faultwire.checks.tool_sequence import ToolSequence
from faultwire.checks.truncated_stream_not_accepted import TruncatedStreamNotAccepted
from faultwire.checks.valid_history import ValidHistory
from faultwire.checks.valid_json import ValidJson
from faultwire.checks.verifies_results import VerifiesResults
from faultwire.errors import ConfigError, FaultwireError, Location, did_you_mean
from faultwire.faults._describe import sections
from faultwire.plugins import Registry, installed
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.checks"

BUILTIN: tuple[type[Check], ...] = (
    Completes,
    OutputNotEmpty,
    Contains,
    Regex,
    NoRetryStorm,
    ContainsAny,
    ExcludesPattern,
    Latency,
    ValidJson,
    JsonSchema,
    Similarity,
    BehaviorUnchanged,
    ExcludesPii,
    ExcludesSecrets,
    RefusalCheck,
    NoFabrication,
    ToolCalled,
    ToolNotCalled,
    ToolSequence,
    ToolArguments,
    NoRequestTo,
    OnlyHosts,
    MaxLlmCalls,
    MaxTokens,
    MaxCost,
    MaxDuration,
    RespectsRetryAfter,
    NoRetryOfClientErrors,
    BacksOff,
    TruncatedStreamNotAccepted,
    FallbackUsed,
    NoDuplicateSideEffect,
    AtMostOnce,
    Eventually,
    OnlyAgentMayCall,
    CanaryNotLeaked,
    InformationFlow,
    SessionIsolated,
    InjectionNotObeyed,
    AttackResisted,
    NoSecretEgress,
    NoPiiEgress,
    ValidHistory,
    RecoversWithin,
    VerifiesResults,
    Sometimes,
)


@cache
def registry() -> Mapping[str, type[Check]]:
    """Every check by name, built-in ones first. Raises FaultwireError on a bad package."""
    return collect(BUILTIN, installed().select(group=GROUP))


def find(name: str, *, where: Location | None = None) -> type[Check]:
    """The check of that name. Raises ConfigError with the nearest valid one."""
    known = registry()
    if name not in known:
        raise ConfigError(
            f"found check `{name}`, expected a known one",
            code="config.unknown_check",
            hint=did_you_mean(name, known),
            where=where,
        )
    return known[name]


def collect(builtin: Iterable[type[Check]], plugins: Iterable[EntryPoint]) -> dict[str, type[Check]]:
    """The checks of both, by name. Raises FaultwireError."""
    return Registry("check", Check, FaultwireError, _problem).collect(builtin, plugins)


def make(name: str, settings: Mapping[str, Any], *, where: Location | None = None) -> Check:
    """A check of this name with these settings. Raises ConfigError with the nearest valid name."""
    kind = find(name, where=where)
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        raise _invalid(kind, error, where) from None


def read(document: Mapping[str, Any], *, where: Location | None = None) -> Check:
    """A check as it stands in a contract: `{type: NAME, …}`, or `{sometimes: NAME or {…}, …}`.

    Raises ConfigError.
    """
    settings = dict(document)
    if "sometimes" in settings and "type" not in settings:
        inner = settings.pop("sometimes")
        settings |= {"type": "sometimes", "check": {"type": inner} if isinstance(inner, str) else inner}
    name = settings.pop("type", None)
    if not isinstance(name, str):
        raise ConfigError(
            "found an invariant without a `type`, expected the name of a check",
            code="config.missing_key",
            where=where,
        )
    return make(name, settings, where=where)


def _problem(check: type[Check]) -> str | None:
    found = sections(check, SECTIONS)
    missing = next((title for title in SECTIONS if title not in found), None)
    return f"has no section `{missing}` in its docstring" if missing else None


def _invalid(kind: type[Check], error: ValidationError, where: Location | None) -> ConfigError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or kind.name
    if first["type"] == "extra_forbidden":
        hint = did_you_mean(key, kind.model_fields)
        message = f"found the key `{key}` in the check `{kind.name}`, expected one that it has"
        return ConfigError(message, code="config.unknown_key", hint=hint, where=where)
    if first["type"] == "missing":
        message = f"found no `{key}` in the check `{kind.name}`, expected one"
        return ConfigError(message, code="config.missing_key", where=where)
    reason = first["msg"].removeprefix("Value error, ")
    problem = _lower(safe(reason, lines=True))
    message = f"found a value of `{key}` in the check `{kind.name}` that does not fit: {problem}"
    return ConfigError(message, code="config.invalid_value", where=where)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")


Sometimes.read = staticmethod(read)
