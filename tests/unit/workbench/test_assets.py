import gzip
import re

from faultwire.workbench.assets import HEADERS, POLICY, assets

LARGEST = 400_000
"""Bytes of all files together, each packed."""


def test_the_page_names_only_files_that_are_there() -> None:
    found = assets()
    page = found["/"].body.decode()
    named = set(re.findall(r'(?:src|href)="(/[^"]+)"', page))
    scripts = {name: one.body.decode() for name, one in found.items() if name.endswith(".js")}
    named |= {name for text in scripts.values() for name in re.findall(r'(?:from |later\()"(/[^"]+)"', text)}
    assert named
    assert named <= set(found)
    assert set(found) - named == {"/"}


def test_nothing_leads_elsewhere_and_nothing_is_inline() -> None:
    for name, one in assets().items():
        text = one.body.decode()
        assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == [], name
        assert "sourceMappingURL" not in text
        assert "innerHTML" not in text
    page = assets()["/"].body.decode()
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on\w+=", page) == []


def test_the_policy_lets_nothing_inline_or_foreign_in() -> None:
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY
    assert "require-trusted-types-for 'script'" in POLICY
    assert "*" not in POLICY
    assert HEADERS["content-security-policy"] == POLICY


def test_it_is_small() -> None:
    assert sum(len(gzip.compress(one.body)) for one in assets().values()) < LARGEST
