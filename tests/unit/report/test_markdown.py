import pytest
from markdown_it import MarkdownIt
from tests.unit.report.hostile import EVERY, STEERING, everywhere

from faultwire.report.markdown import code, render, table

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
BLOCKS = {
    "heading",
    "paragraph",
    "bullet_list",
    "ordered_list",
    "list_item",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "inline",
}
INLINES = {"text", "code_inline", "strong_open", "strong_close", "em_open", "em_close", "softbreak"}


def built(text):
    """What a page would be built of: kinds of blocks and of what is in them, and all text outside of code."""
    tokens = PARSER.parse(text)
    blocks = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    inside = [child for token in tokens for child in token.children or ()]
    said = " ".join(child.content for child in inside if child.type == "text")
    return blocks, {child.type for child in inside}, said


def test_it_states_what_happened(make_document):
    text = render(make_document())
    for wanted in (
        "## ❌ faultwire `demo`: failed",
        "**25.00** of 100 (resilience score, 6 of 6 cells judged) · 5 cells passed, 1 failed, 0 unknown · ",
        " · 1 of 2 invocations without a failure (95% interval 6 to 94 %)",
        " · worst scenario `stream_chaos` 0.00",
        "Rule: `every cell must pass`\n\n- `1 cell failed`",
        "| `says_391` | high | ✅ 1 | ❌ 1 |",
        "- ❌ `says_391` (high) in `stream_chaos`: `'391' is not in the answer '17 times'`",
        "### Recommended fixes\n\n1. Treat a stream without its closing event as a failure",
        "| `stream_chaos` | 0 of 1 | 0 to 85 % | not significant: -100 points",
        f"seed 42 · ledger `{'ab' * 32}` · tape `run.tape`",
    ):
        assert wanted in text


def test_cells_whose_repeats_disagree_and_those_that_always_fail_are_named(make_document):
    document = make_document()
    one = {"invariant": "says_391", "scenario": "calm", "prompt": "p1"}
    document["statistics"] |= {
        "flaky": [one | {"passed": 2, "failed": 1}],
        "flaky_count": 1,
        "broken": [one | {"passed": 0, "failed": 3}] * 41,
        "broken_count": 41,
    }
    text = render(document)
    assert "\n\n- flaky: `says_391` in `calm` on `p1`: 1 of 3 failed\n\n- broken: " in text
    assert "- broken: `says_391` in `calm` on `p1`: 3 of 3 failed\n- … 1 more broken" in text
    document["statistics"] |= {"flaky": [], "flaky_count": 0}
    del document["statistics"]["broken"], document["statistics"]["broken_count"]
    assert "broken:" not in render(document)
    assert "flaky:" not in render(document)


def test_what_is_unknown_void_partial_or_warned_of_is_reported(make_document):
    document = make_document(about={"planned": 9, "warnings": ("`x` means nothing",)})
    document["cells"][0] |= {"verdict": "unknown", "explanation": "no fault fired"}
    document["invocations"][0]["voids"] = ["the engine ended"]
    text = render(document)
    assert "### Unknown\n\n- ❔ `completes` (critical) in `calm`: `no fault fired`" in text
    assert "- **partial**: 2 of 9 invocations were run" in text
    assert "- `'x' means nothing`" in text
    assert "- **inconclusive**: 1 invocation: `the engine ended`" in text


def test_faults_that_never_fired_are_listed_with_the_reason(make_document):
    document = make_document()
    assert "Never fired" not in render(document)
    outcome = {"fired": 0, "invocations": 0, "unfired": ["rolled 0.2 or more", "it changed nothing"]}
    document["scenarios"][1]["entries"][0]["outcome"] = outcome
    said = "### Never fired\n\n- `cut_stream` in `stream_chaos`: `rolled 0.2 or more; it changed nothing`\n"
    assert said in render(document)


def test_an_earlier_run_is_held_beside_it(make_document):
    text = render(make_document(before=make_document(answer_cut="391!")))
    assert "Compared with run `20261121T220000Z-00aa`, the difference is not significant (-50 points" in text
    assert "| `stream_chaos` | 0 of 1 | 1 of 1 | -100 points" in text


@pytest.mark.parametrize("hostile", EVERY)
def test_hostile_text_is_inert(make_document, hostile):
    text = render(everywhere(make_document(about={"planned": 9}), hostile))
    blocks, inlines, said = built(text)
    assert blocks <= BLOCKS
    assert inlines <= INLINES
    for telling in ("@", "http", "www.", "<", "#1", "$"):
        assert telling not in said
    assert not STEERING & set(text)
    columns = {line.count("|") for line in text.splitlines() if line.startswith("| ") and "critical" in line}
    assert columns <= {5}


def test_a_word_in_code_ends_nowhere_but_at_its_end():
    assert code("a`b``c|d\ne") == "`a'b''c¦d e`"
    assert code("") == code(" \n") == "–"


def test_a_matrix_that_is_too_wide_states_how_much_is_missing(make_document):
    document = make_document()
    document["scenarios"] += [{**document["scenarios"][0], "name": f"s{n}"} for n in range(20)]
    assert "… 10 more scenarios in the report" in render(document)


def test_many_kinds_of_findings_are_cut(make_document):
    document = make_document()
    document["cells"] += [{**document["cells"][4], "invariant": f"i{n}"} for n in range(80)]
    text = render(document)
    assert "- … 41 more" in text
    assert "… 23 more invariants in the report" in text


def test_a_table_has_a_line_below_its_head():
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_what_repeating_decided_is_counted(make_document):
    assert "Repeated until decided: 1 bad, 1 good." in render(
        make_document(decisions=((("calm", "p1"), "good"), (("chaos", "p1"), "bad")))
    )
