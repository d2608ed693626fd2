"""Secrets: every kind in every carrier, and genuine source lines left alone."""

import tomllib
from pathlib import Path
from random import Random
from time import process_time

import pytest
from pattern_carriers import carriers, instance
from pattern_corpora import clean_messages, source_lines

from faultwire.patterns import catalog, scan, secret_spans

DATA = Path(__file__).parents[3] / "core_rs" / "patterns"
ENTRIES = [
    entry
    for name in ("secrets", "secrets_named", "secrets_services", "secrets_generic")
    for entry in tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))["entry"]
]
WHOLE = ("://", "\n", "Authorization", "Cookie", "curl", "machine", "Server=", "jdbc", '"')


def made(entry: dict, random: Random) -> tuple[str, str]:
    """(name, value) of a fresh instance; shapes that carry their own name keep it."""
    text = instance(random.choice(entry["yes"]), random)
    if "value" in entry:
        name, _, value = text.partition("=")
        return name, value
    return "setting", text


def test_there_are_enough_kinds_and_carriers():
    assert len({entry["id"] for entry in ENTRIES}) >= 220
    assert len(carriers("a", "b")) >= 26
    assert {entry["id"] for entry in ENTRIES} == {entry.id for entry in catalog() if entry.kind == "secrets"}


def test_recall_in_every_carrier():
    random = Random(21)
    total = found = 0
    weak = []
    for entry in ENTRIES:
        hits = count = 0
        for _ in range(2):
            name, value = made(entry, random)
            texts = [value] if any(mark in value for mark in WHOLE) else carriers(name, value).values()
            for text in texts:
                count += 1
                rows = scan(text, kinds=["secrets"], recall=entry.get("wide", False))
                at = text.find(value)
                hits += any(hit.start < at + len(value) and hit.end > at for hit in rows)
        total += count
        found += hits
        if hits < 0.95 * count:
            weak.append((entry["id"], round(hits / count, 2)))
    print(f"secrets recall {found / total:.4f} over {len(ENTRIES)} kinds, {total} texts")
    assert not weak, weak
    assert found / total >= 0.95


def test_clean_source_lines():
    lines = source_lines(20_000)
    flagged = [line for line in lines if scan(line, kinds=["secrets"])]
    print(f"source lines flagged {len(flagged) / len(lines):.5f}")
    assert len(flagged) <= 0.01 * len(lines), flagged[:20]


def test_clean_messages():
    messages = clean_messages(10_000)
    flagged = [text for text in messages if scan(text)]
    print(f"clean messages flagged {len(flagged) / len(messages):.5f}")
    assert len(flagged) <= 0.02 * len(messages), flagged[:20]


@pytest.mark.parametrize(
    "text",
    ["api_key = os.environ['X']", "token: your-token-here", "password = ''", "secret = get_secret(name)"],
)
def test_stand_ins_are_no_secrets(text):
    assert scan(text, kinds=["secrets"]) == []


def test_spans_are_bytes_and_bad_utf8_is_welcome():
    key = instance("ghp_{x 36}", Random(1)).encode()
    data = b"\xff\xfe gr\xc3\xbc " + key + b" \x80"
    start, end, name = secret_spans(data)[0]
    assert data[start:end] == key
    assert name == "github-pat"


@pytest.mark.parametrize("key", ["://", "a://", "://a@", "http://x:"])
def test_a_text_of_nothing_but_the_marks_of_urls_is_read_once(key):
    """Reading on from each mark cost 5 microseconds a byte; once through costs a hundredth of that."""
    text = key * (120_000 // len(key))
    scan(text, kinds=["secrets"])
    took = []
    for _ in range(3):
        began = process_time()
        assert scan(text, kinds=["secrets"]) == []
        took.append(process_time() - began)
    assert min(took) < 1e-6 * len(text)


def test_each_of_many_urls_is_found_behind_marks_without_end():
    url = "https://ann:s3cr3tpw{}@api.firm.com/x"
    many = " ".join(url.format(n) for n in range(100, 150))
    text = "://" * 5000 + " " + many + "://" * 5000 + " " + url.format(7)
    found = [text[hit.start : hit.end] for hit in scan(text, kinds=["secrets"])]
    assert found == [f"s3cr3tpw{n}" for n in (*range(100, 150), 7)]


def test_a_url_right_behind_another_is_found():
    text = "ab://:ccc@x.test://ann:s3cr3tpw@h.test"
    found = [text[hit.start : hit.end] for hit in scan(text, kinds=["secrets"])]
    assert found == ["ccc", "s3cr3tpw"]
