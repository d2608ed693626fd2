import re
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


def text_of(document):
    return " ".join(" ".join(Page(render(document)).texts).split())


def test_what_is_void_is_said_first_and_where_it_is(make_document):
    document = make_document()
    assert "proves nothing: " not in text_of(document)
    for part in document["invocations"]:
        part["voids"] = ["the engine ended with code `-9`"]
    text = text_of(document)
    assert "2 of 2 invocations are void: what they showed proves nothing." in text
    assert text.index("are void") < text.index("Verdicts")
    assert "the engine ended with code -9 : calm/p1/r1, stream_chaos/p1/r1" in text


def test_traffic_that_became_no_exchange_is_told(make_document):
    document = make_document()
    assert "traffic that became no exchange" not in text_of(document)
    document["run"]["notes"] = ["3 calls to `h` were turned away (407)"]
    document["invocations"][0]["notes"] = ["2 connections named no known proxy user (407) <b>"]
    text = text_of(document)
    assert "Traffic that became no exchange 3 calls to h were turned away (407)" in text
    assert "traffic that became no exchange 2 connections named no known proxy user (407) <b>" in text


def test_an_exchange_says_in_words_what_was_asked_and_answered(make_document):
    text = text_of(make_document())
    assert "user 17 * 23?" in text
    assert "Each mark is one cell: " in text
    assert "`391`" not in text  # words in backticks are code, also in the list of verdicts
    assert "1 fault that did not act here and why" in text  # what did not fire stands apart


def test_events_are_numbered_so_that_the_cut_can_be_found(make_document):
    built = Page(render(make_document()))
    texts = [text.strip() for text in built.texts if text.strip()]
    cut = texts.index("✂ the stream was cut after event 2")
    assert texts[cut - 3] == "2"  # number, instant, words
    assert texts[cut + 1 : cut + 3] == ["3", "never came"]


def test_everything_that_opens_can_be_reached_with_the_keyboard(make_document):
    built = Page(render(make_document()))
    assert built.tags.count("summary") == built.tags.count("details") > 6
    assert not [a for a in built.attributes if a[1] in ("tabindex", "onclick")]
    page = render(make_document())
    assert "a:focus-visible,summary:focus-visible{outline:" in page
    assert page.count("prefers-color-scheme:dark") == 1


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_stand_out_from_what_is_behind_them_in_light_and_in_dark(make_document):
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    schemes = re.findall(r":root\{(--bg:[^}]*)\}", render(make_document()))
    assert len(schemes) == 2
    for scheme in schemes:
        colour = dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", scheme))
        colour = {n: v if len(v) == 7 else "#" + "".join(c * 2 for c in v[1:]) for n, v in colour.items()}
        pairs = [(word, behind) for word in ("ink", "dim") for behind in ("bg", "card", "code")]
        pairs += [(state, f"{state}bg") for state in ("pass", "fail", "unk", "fault")]
        for word, behind in pairs:
            light, dark = sorted((luminance(colour[word]), luminance(colour[behind])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (word, behind, colour[word], colour[behind])
