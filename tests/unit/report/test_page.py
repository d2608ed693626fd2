import pytest

from faultwire.report import page


@pytest.fixture
def document(make_document):
    return make_document()


def test_findings_of_one_kind_are_one_group(document):
    failed = document["cells"][4]
    document["cells"] += [{**failed, "invocation": "calm/p1/r1"} for _ in range(9)]
    (group,) = page.findings(document)
    assert (group["invariant"], group["count"], len(group["invocations"])) == ("says_391", 10, 5)


def test_the_gravest_come_first_and_unknown_ones_last(document):
    cells = document["cells"]
    cells[0]["verdict"], cells[2]["verdict"] = "unknown", "fail"
    cells[3]["verdict"] = "fail"
    order = [(group["verdict"], group["severity"]) for group in page.findings(document)]
    assert order == [("fail", "critical"), ("fail", "high"), ("fail", "medium"), ("unknown", "critical")]


def test_some_of_every_kind_of_finding_are_wanted_first(document):
    """One bad invocation of another kind is not buried below hundreds of the first."""
    calm, cut = document["invocations"]
    cells = {}
    document["invocations"] = []
    for at in range(100):
        document["invocations"].append({**cut, "id": f"cut{at}"})
        cells[f"cut{at}"] = [{"verdict": "fail", "invariant": "a"}]
    document["invocations"] += [{**cut, "id": "rare"}, {**calm, "id": "good"}]
    cells |= {
        "rare": [{"verdict": "fail", "invariant": "b"}],
        "good": [{"verdict": "pass", "invariant": "a"}],
    }
    first = [part["id"] for part in page.ranked(document, cells)][:4]
    assert set(first) == {"cut0", "rare", "good", "cut1"}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [(["pass"], "pass"), (["pass", "unknown"], "unknown"), (["unknown", "fail"], "fail"), ([], "unknown")],
)
def test_an_invocation_is_as_bad_as_its_worst_cell(verdicts, expected):
    assert page.worst([{"verdict": verdict} for verdict in verdicts]) == expected


def test_squares_count_and_lead_to_the_first_of_each_verdict(document):
    document["cells"] = [{**document["cells"][4], "invocation": f"i{at}"} for at in range(30)]
    document["cells"][3]["verdict"] = "pass"
    square = page.matrix(document)[0]["squares"][1]
    assert (square["counts"], square["cells"]) == ({"fail": 29, "unknown": 0, "pass": 1}, [])
    assert (square["firsts"]["fail"], square["firsts"]["pass"], square["worst"]) == ("i0", "i3", "fail")
    assert square["share"] == 1 / 30


def test_a_spark_goes_from_left_to_right_and_from_0_up_to_100():
    runs = [{"score": 0.0}, {"score": None}, {"score": 100.0}]
    points = page.spark({"runs": runs}, width=124, height=116)["points"]
    assert [(x, y) for x, y, _ in points] == [(12.0, 108.0), (112.0, 8.0)]


def test_places_are_ordinals_whatever_the_ids_say(document):
    document["invocations"][0]["id"] = '"><script>'
    assert page.anchors(document) == {'"><script>': "i1", "stream_chaos/p1/r1": "i2"}


def test_span_of_an_invocation(document):
    assert page.span_ms(document["invocations"][1]) == 100.0
    assert page.span_ms({"exchanges": []}) == 1.0


def test_voids_are_gathered_by_their_reason(document):
    for part in document["invocations"]:
        part["voids"] = ["a", "b"]
    assert page.voids(document) == {"a; b": ["calm/p1/r1", "stream_chaos/p1/r1"]}
