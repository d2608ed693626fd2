"""The registry of faults: what is in it, and what must not get in."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from faultwire.errors import FaultError, UsageError
from faultwire.faults._api import SITES, Fault
from faultwire.faults._describe import SECTIONS, describe
from faultwire.faults._registry import BUILTIN, GROUP, collect, find, registry
from faultwire.profile.entry_model import Trigger

FAMILIES = Path(__file__).parents[3] / "proxy" / "faultwire" / "faults"
HERE = Path(__file__).parent


def plugin(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


def test_every_fault_file_is_registered_and_named_like_its_fault():
    files = {path.stem for path in FAMILIES.glob("[a-z]*/[a-z]*.py")}
    assert {fault.name for fault in BUILTIN} == files
    assert all(fault.__module__.endswith(f".{fault.name}") for fault in BUILTIN)


def test_every_fault_has_its_test_file():
    shared = {path.stem.removeprefix("_") for path in FAMILIES.glob("[a-z]*/_[a-z]*.py")}
    tested = {path.stem.removeprefix("test_") for path in HERE.glob("*/test_*.py")}
    names = {fault.name for fault in BUILTIN}
    assert tested - (shared - names) == names


@pytest.mark.parametrize("fault", BUILTIN, ids=lambda fault: fault.name)
def test_every_fault_documents_itself(fault):
    told = describe(fault)
    assert told.summary.endswith(".")
    assert tuple(told.sections) == SECTIONS
    assert all(told.sections.values())
    assert told.site in SITES
    assert all(setting.description for setting in told.settings)


@pytest.mark.parametrize("fault", BUILTIN, ids=lambda fault: fault.name)
def test_no_setting_is_named_like_a_triggers(fault):
    assert not set(fault.model_fields) & {*Trigger.model_fields, "on", "trigger", "id"}


def test_registry_holds_the_built_in_ones_first():
    assert tuple(registry())[: len(BUILTIN)] == tuple(fault.name for fault in BUILTIN)
    assert find("latency").name == "latency"


def test_an_unknown_name_is_reported_with_the_nearest():
    with pytest.raises(UsageError) as caught:
        find("latensy")
    assert caught.value.render() == (
        "fault.unknown: found fault `latensy`, expected a known one\nhint: did you mean `latency`?"
    )


def test_a_plugins_fault_is_found():
    value = "faultwire.faults.connection.latency:Latency"
    assert list(collect((), [plugin("latency", value)])) == ["latency"]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        (
            "latency",
            "faultwire.faults.connection.latency:Latency",
            "adds fault `latency`, which there is already",
        ),
        (
            "absent",
            "no_such_module:X",
            "failed to load: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("absent", "faultwire.events:Nothing", "failed to load: AttributeError: module"),
        ("chunk", "faultwire.events:Chunk", "is no subclass of `Fault`"),
        ("other", "faultwire.faults.connection.reset:Reset", "is called `reset`"),
    ],
)
def test_a_bad_plugin_is_an_error(name, value, why):
    with pytest.raises(FaultError) as caught:
        collect(BUILTIN[:1], [plugin(name, value)])
    assert caught.value.code == "fault.plugin"
    assert caught.value.exit_code == 3
    assert f"fault `{name}` of `a package` ({value}) {why}" in caught.value.message
    assert caught.value.hint == "fix or uninstall `a package`"


class Undocumented(Fault):
    """Says nothing."""

    name = "undocumented"
    site = "response"


class Misplaced(Undocumented):
    name = "misplaced"
    site = "nowhere"  # type: ignore[assignment]


class Mistimed(Undocumented):
    name = "mistimed"
    site = "response"
    moments = ("later",)  # type: ignore[assignment]


def test_a_plugin_without_documentation_or_site_is_an_error():
    class Found(EntryPoint):
        def load(self):
            found = {"undocumented": Undocumented, "misplaced": Misplaced, "mistimed": Mistimed}
            return found[self.name]

    with pytest.raises(FaultError, match="has no section `What it does` in its docstring"):
        collect((), [Found("undocumented", "x:Y", GROUP)])
    with pytest.raises(FaultError, match="has site `nowhere`, expected one of connection, request"):
        collect((), [Found("misplaced", "x:Y", GROUP)])
    with pytest.raises(
        FaultError, match=r"has moments `\('later',\)`, expected some of connection, exchange"
    ):
        collect((), [Found("mistimed", "x:Y", GROUP)])
