import io

import pytest
from rich.console import Console

from faultwire.report.terminal import render


def printed(document, **options):
    console = Console(file=io.StringIO(), width=110, **options)
    console.print(render(document))
    return console.file.getvalue()


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
        "score  83.33  of 100 (5 passed, 1 failed)",
        "       1 of 2 invocations came through clean: 95% interval 6 to 94 %",
    ]


@pytest.mark.parametrize(
    "hostile", ["\x1b[2J", "[bold red]x[/]", "[link=http://x]y[/link]", "a\u202eb\x9b", "\r\n\x07"]
)
def test_hostile_text_is_inert(make_document, hostile):
    document = make_document()
    for cell in document["cells"]:
        cell["explanation"] = f"start {hostile} end"
    for row in document["invocations"][1]["exchanges"]:
        for fault in row["faults"]:
            fault["effect"] = hostile
    text = printed(document)
    assert not set(text) & set("\x00\x07\x1b\u202e\x9b\r")
    if hostile.startswith("["):
        assert hostile in text  # said as it stands, not read as markup


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
    assert "traffic that became no exchange\n" + said in text
    assert "  … 13 more in the report\n" in text
