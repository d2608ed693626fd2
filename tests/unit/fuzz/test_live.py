"""How far a case came, and what of a crashed run is kept."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.checks.conftest import line, talk, used

from faultwire.cli._fuzzed_again import with_answers
from faultwire.cli.options import Traffic
from faultwire.events import AgentResult, History
from faultwire.fuzz.case import Case, Part, Target
from faultwire.fuzz.crash import Crash
from faultwire.fuzz.live import kept_of, reaches
from faultwire.fuzz.repro import About, Repro
from faultwire.fuzz.search import Seen

CASE = Case(
    (
        Part(Target("prompt", "1"), "given", "x"),
        Part(Target("result", "search"), "seen", "y"),
        Part(Target("result", "inside"), "seen", "z"),
        Part(Target("result", "gone"), "seen", "z"),
    )
)


def fired(exchange, ident, outcome="fired"):
    return replace(exchange, faults=(*exchange.faults, replace(line(outcome=outcome), id=ident)))


def test_a_result_that_only_the_model_reads_did_not_reach_the_agents_code():
    traffic = (fired(used(1), "fuzz-2"), fired(talk(2), "fuzz-3"), fired(used(3), "fuzz-4", "no_effect"))
    assert reaches(CASE, History("s", traffic)) == ["agent", "agent", "model", "not"]
    assert reaches(CASE, History("s", ())) == ["agent", "not", "not", "not"]


def test_what_was_printed_is_kept_of_a_crash_alone_and_without_secrets():
    agent = AgentResult("said sk-1", 1, 1.0, "Traceback sk-1", False)
    history = History("search-0007", (), agent)
    crashed = Seen(("agent",), crash=Crash("exit", "k", "exited 1"))
    kept = kept_of(CASE, history, crashed, lambda text: text.replace("sk-1", "[key]"), "run.tape")
    assert kept.output == "said [key]\nTraceback [key]"
    assert (kept.session, kept.tape, kept.case) == ("search-0007", "run.tape", CASE.id)
    assert kept_of(CASE, history, Seen(("agent",)), str, "run.tape").output == ""


def traffic(**changes):
    given = {
        "record": None, "replay": None, "profile": (), "fault": (), "seed": 1, "mock": False, "script": None,
        "listen": "", "capture": "env", "reverse": (), "allow_host": (), "upstream_ca": None,
    }  # fmt: skip
    return Traffic(**{**given, **changes})


def test_a_case_is_run_again_with_the_answers_of_its_search_where_none_are_given():
    found = Repro(About(1, 5.0, ("a",), (), ("--mock", "--profile", "p.yaml")), CASE, "k", "t")
    again = with_answers(traffic(), found)
    assert (again.mock, again.profile, again.script) == (True, ("p.yaml",), None)
    assert with_answers(traffic(profile=("q.yaml",)), found).profile == ("q.yaml",)
    scripted = Repro(About(1, 5.0, ("a",), (), ("--script", "s.yaml")), CASE, "k", "t")
    assert str(with_answers(traffic(), scripted).script) == "s.yaml"
    assert not with_answers(traffic(), scripted).mock
