from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from faultwire.checks._api import SECTIONS, Check
from faultwire.checks._registry import BUILTIN, collect, find, make, read, registry
from faultwire.checks.contains import Contains
from faultwire.errors import ConfigError, FaultwireError, Location
from faultwire.faults._describe import sections


class Documented(Check):
    """Somebody else's check.

    What it judges:
        x
    Why agents fail it:
        x
    What it cannot tell:
        x
    Example:
        x
    """

    name = "documented"


class Bare(Check):
    """No sections."""

    name = "bare"


@dataclass
class Entry:
    """An entry point of an installed package."""

    name: str
    loaded: object
    value: str = "package.module:Name"
    dist: None = None

    def load(self):
        return self.loaded


def test_the_built_in_checks():
    assert {check.name for check in BUILTIN} == {
        "at_most_once",
        "attack_resisted", "backs_off", "behavior_unchanged", "canary_not_leaked", "completes", "contains",
        "contains_any", "eventually",
        "excludes_pattern", "excludes_pii", "excludes_secrets", "fallback_used", "information_flow",
        "injection_not_obeyed",
        "json_schema", "latency", "max_cost", "max_duration", "max_llm_calls", "max_tokens",
        "no_duplicate_side_effect", "no_fabrication", "no_pii_egress", "no_request_to",
        "no_retry_of_client_errors", "no_retry_storm", "no_secret_egress", "only_agent_may_call",
        "only_hosts", "output_not_empty",
        "recovers_within", "refusal_check", "regex", "respects_retry_after", "session_isolated", "similarity",
        "sometimes",
        "tool_arguments", "tool_called", "tool_not_called", "tool_sequence", "truncated_stream_not_accepted",
        "valid_history", "valid_json", "verifies_results",
    }  # fmt: skip
    assert list(registry())[: len(BUILTIN)] == [check.name for check in BUILTIN]


@pytest.mark.parametrize("check", BUILTIN, ids=lambda check: check.name)
def test_every_check_documents_itself(check):
    found = sections(check, SECTIONS)
    assert [title for title in SECTIONS if found.get(title)] == list(SECTIONS)
    assert f"type: {check.name}" in found["Example"]


def test_a_package_can_add_one():
    assert collect(BUILTIN, [Entry("documented", Documented)])["documented"] is Documented


@pytest.mark.parametrize(
    ("name", "loaded", "words"),
    [
        ("contains", Documented, "adds check `contains`, which there is already"),
        ("other", Documented, "is called `documented`"),
        ("bare", Bare, "has no section `What it judges` in its docstring"),
        ("nothing", object, "is no subclass of `Check`"),
    ],
)
def test_a_bad_package_is_an_error(name, loaded, words):
    with pytest.raises(FaultwireError) as error:
        collect(BUILTIN, [Entry(name, loaded)])
    assert words in error.value.message
    assert error.value.code == "check.plugin"


def test_a_package_that_fails_to_load_is_an_error():
    broken = EntryPoint("gone", "faultwire.no_such_module:Gone", "faultwire.checks")
    with pytest.raises(FaultwireError, match="failed to load: ModuleNotFoundError"):
        collect(BUILTIN, [broken])


def test_two_of_a_name_are_an_error():
    with pytest.raises(FaultwireError, match="found two checks named `contains`, expected one"):
        collect((Contains, Contains), ())


def test_make_gives_a_check():
    assert make("contains", {"value": "x", "severity": "high"}) == Contains(value="x", severity="high")


@pytest.mark.parametrize(
    ("name", "settings", "text"),
    [
        (
            "contians",
            {},
            "f.yaml:3: config.unknown_check: found check `contians`, expected a known one\n"
            "hint: did you mean `contains`?",
        ),
        (
            "contains",
            {"value": "x", "serverity": "high"},
            "f.yaml:3: config.unknown_key: found the key `serverity` in the check `contains`, expected one "
            "that it has\nhint: did you mean `severity`?",
        ),
        (
            "contains",
            {},
            "f.yaml:3: config.missing_key: found no `value` in the check `contains`, expected one",
        ),
        (
            "completes",
            {"severity": "sever"},
            "f.yaml:3: config.invalid_value: found a value of `severity` in the check `completes` "
            "that does not fit: input should be 'critical', 'high', 'medium' or 'low'",
        ),
    ],
)
def test_mistakes_are_named_with_their_place(name, settings, text):
    with pytest.raises(ConfigError) as error:
        make(name, settings, where=Location("f.yaml", 3))
    assert error.value.render() == text


def test_find_knows_them_all():
    assert all(find(check.name) is check for check in BUILTIN)


def test_an_invariant_as_it_stands_in_a_contract():
    assert read({"type": "contains", "value": "x"}) == Contains(value="x")
    assert read({"sometimes": "completes"}).label == "sometimes_completes"
    assert (
        read({"sometimes": {"type": "contains", "value": "x", "id": "c"}, "severity": "low"}).severity
        == "low"
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"value": "x"}, "found an invariant without a `type`"),
        ({"type": ["contains"]}, "found an invariant without a `type`"),
        ({"sometimes": "contians"}, "found check `contians`"),
        ({"sometimes": {"type": "contains"}}, "found no `value` in the check `contains`"),
        ({"sometimes": {"sometimes": "completes"}}, "found `sometimes` in `sometimes`"),
    ],
)
def test_what_is_no_invariant_is_an_error(document, words):
    with pytest.raises(ConfigError) as error:
        read(document, where=Location("f.yaml", 3))
    assert words in error.value.message
