"""The documentation leads somewhere: links, paths of this repository, one address, and the plan's words."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GITHUB = ROOT / ".github"
BASE = "https://github.com/faultwire/faultwire"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
OURS = re.compile(r"https://github\.com/[\w.-]+/faultwire")
"""Where this repository is said to be."""
FOLDERS = r"proxy|tests|core_rs|\.ci|\.github|docs|addons|profiles|replays"
PATH = re.compile(rf"(?<![\w./-])((?:{FOLDERS})/[\w./-]*\w)/?(?![\w./*-])")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
UNWANTED = (
    "what to mend", "ended well", "nothing asked for it again", "not shown", "came through clean",
    "void run", "run is void", "seed of all chance", "under a url of ours", "is wanted",
)  # fmt: skip
"""Words that reports and terminal no longer use either; exit code 3 is an inconclusive run."""


def relative(page: Path) -> list[str]:
    return [link for link in LINK.findall(page.read_text()) if "://" not in link and not link.startswith("#")]


def leads_nowhere(page: Path) -> list[str]:
    return [link for link in relative(page) if not (page.parent / link.partition("#")[0]).exists()]


def absent(text: str) -> list[str]:
    """Paths of this repository that are not there."""
    named = {path for code in CODE.findall(text) for path in PATH.findall(code)}
    return sorted(path for path in named if not (ROOT / path).exists())


@pytest.mark.parametrize("page", [*PAGES, *sorted(GITHUB.glob("*.md"))], ids=lambda page: page.stem)
def test_links_and_paths_of_a_page_lead_somewhere(page: Path) -> None:
    assert leads_nowhere(page) == []
    assert absent(page.read_text()) == []


def test_a_link_and_a_path_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[gone](gone.md#x), [here](page.md), `tests/meta/test_gone.py::test_x`, `tests/meta`")
    assert leads_nowhere(page) == ["gone.md#x"]
    assert absent(page.read_text()) == ["tests/meta/test_gone.py"]


def test_the_readme_reads_well_anywhere() -> None:
    """On a package index a relative link leads nowhere."""
    assert relative(ROOT / "README.md") == []
    links = LINK.findall((ROOT / "README.md").read_text())
    own = [link for link in links if link.startswith(BASE)]
    assert len(own) > 10
    for link in own:
        kind, _, path = link.removeprefix(f"{BASE}/").partition("/main/")
        assert kind in ("blob", "raw", "tree"), link
        assert (ROOT / path.partition("#")[0]).exists(), link


def test_the_project_has_one_address() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert all(url == BASE or url.startswith(f"{BASE}/") for url in project["urls"].values())
    texts = [ROOT / "README.md", DOCS / "conf.py", *PAGES, *GITHUB.rglob("*.md"), *GITHUB.rglob("*.yml")]
    found = {address for path in texts for address in OURS.findall(path.read_text())}
    assert found == {BASE}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_uses_the_words_of_the_program(page: Path) -> None:
    text = " ".join(page.read_text().lower().split())
    assert [words for words in UNWANTED if words in text] == []


def test_the_drawing_and_the_page_name_the_same_stages() -> None:
    drawing = ElementTree.parse(DOCS / "explanation" / "pipeline.svg").getroot()
    texts = drawing.iter("{http://www.w3.org/2000/svg}text")
    drawn = ["".join(text.itertext()) for text in texts if "stage" in text.get("class", "").split()]
    page = (DOCS / "explanation" / "pipeline.md").read_text()
    table = page.partition("## The stages")[2].partition("\n## ")[0]
    assert drawn == re.findall(r"^\| (?!stage)([A-Za-z ]+) \|", table, re.MULTILINE)
    assert len(drawn) == 8


def test_workflows_ask_for_no_more_than_they_need() -> None:
    """Each says its permissions, checks out without leaving a token, and runs no text of a stranger's."""
    for path in sorted((GITHUB / "workflows").glob("*.yml")):
        text = path.read_text()
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        assert text.count("actions/checkout@") == text.count("persist-credentials: false"), path.name
        for job in workflow["jobs"].values():
            for step in job.get("steps", ()):
                assert "github.event" not in step.get("run", ""), path.name


def test_continuous_integration_runs_what_a_developer_runs() -> None:
    job = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text())["jobs"]["run"]
    assert [step["run"] for step in job["steps"] if "run" in step] == ["bash .ci/run"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = [name.rpartition(" ")[2] for name in project["classifiers"] if ":: Python :: 3." in name]
    assert job["strategy"]["matrix"]["python"] == versions


def actors() -> list[list[str]]:
    table = (
        (DOCS / "explanation" / "security.md").read_text().partition("## From whom")[2].partition("\n## ")[0]
    )
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [row for row in rows if row[0] != "actor"]


def test_each_promise_of_the_threat_model_names_tests_that_are_there() -> None:
    assert len(actors()) == 8
    for actor, *_, held in actors():
        named = re.findall(r"`(tests/[\w/]+\.py)`", held)
        assert named, actor
        assert [path for path in named if "def test_" not in (ROOT / path).read_text()] == [], actor
