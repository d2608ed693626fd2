from html.parser import HTMLParser

import pytest

from faultwire.report.html import injected, render

HOSTILE = (
    "<script>alert(1)</script>", "</pre><img src=x onerror=alert(1)>", "\"'><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}", "\x1b[2J\x1b]0;owned\x07", "\u202etxt.exe",
    "`a`</code><b>`b`", "]]><!--", "javascript:alert(1)",
)  # fmt: skip


class Page(HTMLParser):
    """What a browser would build: tags, attributes and text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def page(make_document):
    return lambda **changes: Page(render(make_document(**changes)))


def test_it_says_what_happened(page):
    text = " ".join(" ".join(page().texts).split())
    for wanted in ("83.33", "5 passed · 1 failed · 0 unknown", "says_391", "ab" * 32, "cut after event 2"):
        assert wanted in text
    assert "95 % interval 6–94 %" in text
    assert "the stream was cut after event 2" in text
    assert "the server had said 6 events when it ended, the agent got 2" in text


def test_it_runs_and_loads_nothing(page):
    built = page()
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & set(built.tags)
    policy = next(
        v for tag, k, v in built.attributes if tag == "meta" and k == "content" and "default-src" in v
    )
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    for tag, name, value in built.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "srcset", "action"), (tag, name)
        if name == "href":
            assert value.startswith("#")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_output_is_inert(page, hostile):
    plain, built = (
        page(),
        page(answer_cut=hostile, answer_calm=f"391 {hostile}", stderr=hostile, prompt=hostile),
    )
    assert sorted(set(built.tags)) == sorted({*plain.tags})
    assert built.tags.count("b") == plain.tags.count("b")
    assert not any(name.startswith("on") for _, name, _ in built.attributes)
    everything = "".join(built.texts) + "".join(str(a) for a in built.attributes)
    assert not set(everything) & set("\x00\x07\x1b\u202e")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_explanation_is_inert(make_document, hostile):
    document = make_document()
    for cell in document["cells"]:
        cell["explanation"] = cell["invariant"] = hostile
    document["run"]["command"] = document["run"]["agent"] = hostile
    built = Page(render(document))
    assert not {"script", "img"} & set(built.tags)
    assert built.tags.count("svg") == 1  # the ring
    assert not any(name.startswith("on") for _, name, _ in built.attributes)


def test_values_in_backticks_become_code(page):
    built = page()
    assert "391" in built.texts[built.texts.index("391")]
    assert "code" in built.tags


def test_links_lead_somewhere(page):
    built = page()
    ids = {value for _, name, value in built.attributes if name == "id"}
    links = {value[1:] for _, name, value in built.attributes if name == "href"}
    assert links
    assert links <= ids


def test_what_fired_is_counted_per_entry(make_document):
    assert injected(make_document()) == [
        {
            "scenario": "stream_chaos", "id": "cut_stream", "settings": {},
            "fired": 1, "invocations": 1, "of": 1, "effect": "cut after event 2",
        }
    ]  # fmt: skip


def test_a_fault_that_never_fired_says_so(make_document):
    document = make_document()
    for part in document["invocations"]:
        for exchange in part["exchanges"]:
            exchange["faults"] = []
    assert "it never fired" in render(document)


def test_fifty_megabytes_of_output_make_a_small_page(make_document):
    text = render(make_document(answer_cut="<" * 50_000_000))
    assert len(text) < 300_000


def test_a_run_without_verdicts_still_has_a_page(make_document):
    document = make_document()
    document["cells"] = []
    document["score"]["value"] = document["score"]["clean_invocations"]["rate"] = None
    document["score"]["gate"] = "unknown"
    assert "–" in Page(render(document)).texts
