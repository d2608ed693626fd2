"""How far a case came, and what of a crashed run is kept."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.checks.conftest import line, talk, used

from faultwire.events import AgentResult, History
from faultwire.fuzz.case import Case, Part, Target
from faultwire.fuzz.crash import Crash
from faultwire.fuzz.live import kept_of, reaches
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


def test_a_models_answer_is_read_by_the_agent():
    case = Case((Part(Target("answer", "model"), "seen", "{}"),))
    assert reaches(case, History("s", (fired(talk(1), "fuzz-1"),))) == ["agent"]
    assert reaches(case, History("s", (fired(talk(1), "fuzz-1", "no_effect"),))) == ["not"]


def test_what_was_printed_is_kept_of_a_crash_alone_and_without_secrets():
    agent = AgentResult("said sk-1", 1, 1.0, "Traceback sk-1", False)
    history = History("search-0007", (), agent)
    crashed = Seen(("agent",), crash=Crash("exit", "k", "exited 1"))
    kept = kept_of(CASE, history, crashed, lambda text: text.replace("sk-1", "[key]"), "run.tape")
    assert kept.output == "said [key]\nTraceback [key]"
    assert (kept.session, kept.tape, kept.case) == ("search-0007", "run.tape", CASE.id)
    assert kept_of(CASE, history, Seen(("agent",)), str, "run.tape").output == ""
