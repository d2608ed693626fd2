"""Each module of the inventory that states something of a run, and is no check, belongs to a suite here."""

from __future__ import annotations

import foreign_logs
import foreign_tapes
import noticed_truth
import summary_lines
import terminal_truth
import test_findings_tape
from tests.meta.sentences import all_sentences


def test_no_sentence_is_left_out() -> None:
    suites = (foreign_logs, foreign_tapes, noticed_truth, summary_lines, test_findings_tape)
    covered = {key for suite in suites for key in suite.PATTERNS.templates}
    # `test_verdicts`, `tests/e2e/control`, `tests/e2e/breakpoints`, `test_unanswered` and `test_terminal`
    # hold these.
    # What searches, ramps, campaigns and explanations print has true and false cases with the units that
    # print it, and agents of its own:
    # `tests/e2e/{adaptive,fuzz,load,evolution,agents}`, `play/test_{on,explain}`.
    of_searches = (
        "attacker/report.py", "evolution/report.py", "fuzz/report.py", "load/report.py",
            "report/explained.py",
        "report/explored.py",
    )  # fmt: skip
    # `tests/unit/cli/test_pushed.py` and `tests/e2e/store/test_drill.py` have stores that lack something.
    of_runs = ("campaign/notes.py", "cli/_pushed.py", "cli/_topology.py")
    # `tests/e2e/agents/test_driven_agent.py` has agents that answer as recorded, and otherwise.
    of_agents = ("cli/_driven.py", "report/broken_arguments.py", "report/passed.py", "report/unanswered.py")
    elsewhere = ("checks/", "cli/_controlled.py", "mitm/breakpoints/", *of_agents, *of_searches, *of_runs)
    # `tests/unit/ingestion/test_compare_claims.py` has honest logs and lies for what `tape claims` prints.
    elsewhere += ("ingestion/compare_claims.py",)
    # `tests/unit/tape/export/test_questions.py` has a tape for each answer to a question of a law.
    elsewhere += (*terminal_truth.MODULES, "tape/export/question_evidence.py")
    assert {one.key for one in all_sentences() if not one.path.startswith(elsewhere)} <= covered
