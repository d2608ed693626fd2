import io

import pytest
from rich.console import Console
from tests.unit.report.hostile import EVERY, STEERING, everywhere

from faultwire.report import html, markdown
from faultwire.report.terminal import phase_findings, render


def printed(document, **options):
    console = Console(file=io.StringIO(), width=110, **options)
    console.print(render(document))
    return console.file.getvalue()


def test_the_findings_of_a_phase_stand_alone(make_document):
    assert phase_findings(make_document(answer_cut="17 times 23 is 391")) is None
    text = str(phase_findings(make_document(), plain=True))
    assert text.startswith("findings\n  fail stream_chaos/p1/r1  says_391")
    assert "score" not in text


def test_it_reads_like_this(make_document):
    assert [text.rstrip() for text in printed(make_document()).splitlines() if text.strip()] == [
        " invariant        severity   calm   stream_chaos",
        " ───────────────────────────────────────────────",
        " completes        critical   ✓ 1        ✓ 1",
        " says_391         high       ✓ 1        ✗ 1",
        " no_retry_storm   medium     ✓ 1        ✓ 1",
        "injected",
        "  stream_chaos  cut_stream ×1   cut after event 2",
        "findings",
        "  ✗ stream_chaos/p1/r1  says_391",
        "    `391` is not in the answer `17 times`",
        "recommended fixes",
        "  1 Treat a stream without its closing event as a failure: retry it, or report it.",
        "    stream_chaos/p1/r1: the answer `17 times` is what came before the cut",
        "statistics",
        " scenario       without a failure   95% interval   against calm",
        " " + "─" * 97,
        " calm           1 of 1              15 to 100 %    -",
        " stream_chaos   0 of 1              0 to 85 %      not significant: -100 points (-100 to +12, p 1)",
        "score  25.00  of 100, 6 of 6 cells judged (5 passed, 1 failed)",
        "       1 of 2 judged invocations without a failure: 95% interval 6 to 94 %",
        "       worst scenario: stream_chaos, 0.00",
        "verdict  failed  (every cell must pass)",
    ]


@pytest.mark.parametrize("hostile", EVERY)
def test_hostile_text_is_inert(make_document, hostile):
    text = printed(everywhere(make_document(), hostile))
    assert not STEERING & set(text)
    if hostile.startswith("["):
        assert hostile.split("\n")[0] in text  # said as it stands, not read as markup


def test_unknown_cells_are_counted_and_explained(make_document):
    document = make_document()
    document["cells"][3] |= {"verdict": "unknown", "explanation": "no fault fired"}
    document["score"]["cells"] |= {"pass": 4, "unknown": 1}
    text = printed(document)
    assert "? 1" in text
    assert "(4 passed, 1 failed, 1 unknown)" in text
    assert "? stream_chaos/p1/r1  completes\n    no fault fired\n" in text


def test_plain_says_verdicts_in_words(make_document):
    console = Console(file=io.StringIO(), width=110)
    console.print(render(make_document(), plain=True))
    text = console.file.getvalue()
    assert "fail 1" in text
    assert "cut_stream x1" in text
    assert not set(text) & set("✓✗×")


def test_traffic_that_became_no_exchange_is_counted(make_document):
    document = make_document()
    assert "became no exchange" not in printed(document)
    for part in document["invocations"]:
        part["notes"] = ["1 request named no known proxy user (407)\x1b[2J"]
    document["invocations"][0]["notes"] += [f"note {n}" for n in range(20)]
    text = printed(document)
    said = "  1 request named no known proxy user (407)\\x1b[2J (2 invocations)\n"
    assert "traffic outside exchanges\n" + said in text
    assert "  … 13 more in the report\n" in text


def test_findings_of_one_kind_are_reported_once(make_document):
    document = make_document()
    document["cells"] += [document["cells"][4]] * 3
    text = printed(document)
    assert "  ✗ stream_chaos/p1/r1  says_391  and 3 more\n" in text
    assert text.count("`391` is not in the answer") == 1


def test_why_invocations_are_inconclusive_is_stated_once_for_each_reason(make_document):
    document = make_document()
    assert "inconclusive" not in printed(document)
    for part in document["invocations"][:2]:
        part["voids"] = ["the tape cannot be written"]
    text = printed(document)
    assert "inconclusive\n  2 invocations: the tape cannot be written\n" in text
    assert text.count("the tape cannot be written") == 1


def without_faults(document):
    for scenario in document["scenarios"]:
        scenario["entries"] = []


def unfired(document):
    outcome = {"fired": 0, "invocations": 0, "unfired": ["rolled 0.2 or more"]}
    document["scenarios"][1]["entries"][0]["outcome"] = outcome


def without_traffic(document):
    document["scenarios"][1]["entries"][0]["outcome"] = None
    for part in document["invocations"]:
        part["exchanges"] = []


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("none: no scenario has faults", without_faults),
        ("never fired", without_traffic),
        ("never fired: rolled 0.2 or more", unfired),
        ("  2 critical", lambda document: document["score"].update(critical_failed=2)),
        (", robustness", lambda document: document["score"].update(measure="robustness")),
        ("worst scenario: stream_chaos, 0.00", lambda document: document["score"].update(scenarios=())),
        ("invocations without a failure", lambda document: document.update(cells=[], invariants=[])),
    ],
)
def test_what_is_true_of_some_runs_is_not_printed_of_others(make_document, words, change):
    document = make_document()
    before = words in printed(document)
    change(document)
    assert (words in printed(document)) is not before


def test_of_a_run_that_was_interrupted_it_is_not_known_that_a_fault_never_fired(make_document):
    document = make_document()
    outcome = document["scenarios"][1]["entries"][0]["outcome"]
    outcome.update(fired=0, invocations=0, unfired=["call 1 is none of 2"])
    for partial, words, others in (
        (False, "never fired: call 1", "not fired in what was finished"),
        (True, "not fired in what was finished: call 1", "never fired"),
    ):
        document["run"]["partial"] = partial
        text, page, summary = printed(document), html.render(document), markdown.render(document)
        assert words in text
        assert words in page
        assert others not in text
        assert f"<td>{others}" not in page
        assert ("### Not fired in what was finished" in summary, "### Never fired" in summary) == (
            partial,
            not partial,
        )
