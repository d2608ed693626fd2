from __future__ import annotations

import runpy

from faultwire.faults._markdown import markdown


def test_prints_the_page(capsys):
    runpy.run_module("faultwire.faults.__main__")
    assert capsys.readouterr().out == markdown()
