"""A printed command meets the answers that the search met, and options that are given anew come first."""

from __future__ import annotations

from pathlib import Path

from faultwire.cli._same_answers import taken, words
from faultwire.cli.options import Traffic


def traffic(**changes):
    given = {
        "record": None, "replay": None, "profile": (), "fault": (), "seed": 1, "mock": False, "script": None,
        "listen": "", "capture": "env", "reverse": (), "allow_host": (), "upstream_ca": None,
    }  # fmt: skip
    return Traffic(**{**given, **changes})


FULL = traffic(
    script=Path("s.yaml"), mock_except=("a.example",), capture="base-url", allow_host=("127.0.0.1",),
    reverse=(("shop", "http://127.0.0.1:8000/x?a=b"), ("bank", "https://bank.example")),
    upstream_ca=Path("ca.pem"), client_cert=(("bank.example", Path("c.pem")),), profile=("p.yaml", "q.yaml"),
)  # fmt: skip


def test_all_that_decides_who_answers_comes_back_from_the_words():
    assert taken(traffic(), words(FULL)) == FULL
    assert words(traffic()) == ()
    assert taken(traffic(), ()) == traffic()


def test_base_urls_are_among_the_words():
    found = words(FULL)
    assert found[found.index("--reverse") + 1] == "shop=http://127.0.0.1:8000/x?a=b"
    assert found.count("--reverse") == 2
    assert found[found.index("--capture") + 1] == "base-url"


def test_what_is_given_anew_comes_before_what_the_search_had():
    again = taken(traffic(reverse=(("shop", "http://other"),), profile=("r.yaml",), mock=True), words(FULL))
    assert (again.reverse, again.profile) == ((("shop", "http://other"),), ("r.yaml",))
    assert (again.mock, again.script) == (True, None)
    assert taken(traffic(), words(traffic(mock=True))).mock


def test_no_password_of_an_address_is_printed():
    found = words(traffic(reverse=(("shop", "https://me:hunter2@shop.example:8443/x"),)))
    assert found == ("--reverse", "shop=https://shop.example:8443/x")
