"""Tells a pull request what a run found: a comment that is kept up to date, and a check run.

    python3 publish.py FOLDER EXIT_CODE

Reads INPUT_COMMENT and INPUT_CHECK (`true`), GITHUB_TOKEN, and what a runner sets (GITHUB_API_URL,
GITHUB_REPOSITORY, GITHUB_SHA, GITHUB_EVENT_PATH, GITHUB_WORKFLOW, GITHUB_JOB). Standard library only. What
cannot be told is printed, and never changes how the job ends: a pull request from a fork has a token that
only reads.
"""

from __future__ import annotations

import json
import os
import re  # noqa: TID251 - the patterns are fixed
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LARGEST = 60_000
"""Characters of a comment or a summary; the API takes 65,535."""
PAGES = 10
"""Pages of a hundred comments that are looked through for ours."""
JOINER = "\u2060"
"""Behind `@` and `#`, so that what an agent wrote calls nobody and refers to nothing."""
CONCLUSIONS = {"0": "success", "1": "failure"}
"""Any other end has shown nothing, which must not pass as a success: `neutral` would."""
TITLES = {
    "0": "passed",
    "1": "failed",
    "2": "the configuration is wrong",
    "3": "inconclusive: nothing was learned",
}


def quiet(text: str) -> str:
    """Markdown without mentions and references, cut at the end of a line."""
    text = re.sub(r"([@#])(?=\w)", rf"\1{JOINER}", text)
    text = text.replace("<!--", "&lt;!--")
    if len(text) <= LARGEST:
        return text
    return text[: text.rindex("\n", 0, LARGEST)] + "\n\n… the rest is in the job's summary.\n"


def pages(folder: Path) -> str:
    """The reports of a run as Markdown, the whole first."""
    first = folder / "report.md"
    rest = sorted(path for path in folder.glob("*.md") if path != first)
    return "\n".join(path.read_text(encoding="utf-8") for path in (first, *rest) if path.is_file())


def say(text: str) -> None:
    """A line of the job's log."""
    sys.stdout.write(f"{text}\n")


class Api:
    """The API of GitHub, as one token sees it."""

    def __init__(self, base: str, repository: str, token: str) -> None:
        self._base, self._token = f"{base}/repos/{repository}", token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer. Raises OSError, ValueError."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._base}{path}", data, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def comment(self, number: int, mark: str, text: str) -> None:
        """Write our comment, or change the one that is there."""
        for page in range(1, PAGES + 1):
            listed = self.ask("GET", f"/issues/{number}/comments?per_page=100&page={page}")
            for one in listed:
                if str(one.get("body", "")).startswith(mark) and one.get("user", {}).get("type") == "Bot":
                    self.ask("PATCH", f"/issues/comments/{one['id']}", {"body": text})
                    return
            if len(listed) < 100:
                break
        self.ask("POST", f"/issues/{number}/comments", {"body": text})

    def check(self, name: str, commit: str, code: str, text: str) -> None:
        """Add a check run to a commit."""
        output = {"title": TITLES.get(code, f"ended with {code}"), "summary": text}
        conclusion = CONCLUSIONS.get(code, "failure")
        body = {"name": name, "head_sha": commit, "status": "completed", "conclusion": conclusion}
        self.ask("POST", "/check-runs", {**body, "output": output})


def main(folder: Path, code: str) -> None:
    """Tell what is wanted; print what could not be told."""
    env = os.environ
    token = env.get("GITHUB_TOKEN", "")
    if not token:
        say("found no GITHUB_TOKEN: nothing was told to the pull request")
        return
    event = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    pull = event.get("pull_request") or {}
    api = Api(env.get("GITHUB_API_URL", "https://api.github.com"), env["GITHUB_REPOSITORY"], token)
    where = f"{env.get('GITHUB_WORKFLOW', '')} / {env.get('GITHUB_JOB', '')}"
    mark = f"<!-- faultwire: {re.sub(r'[^A-Za-z0-9 /._-]', '', where)} -->"
    text = quiet(pages(folder)) or f"## faultwire: {TITLES.get(code, code)}\n\nThe run left no report.\n"
    if env.get("INPUT_COMMENT") == "true":
        number = pull.get("number")
        if isinstance(number, int):
            tried("the comment", lambda: api.comment(number, mark, f"{mark}\n{text}"))
        else:
            say("found no pull request: there is nothing to comment on")
    if env.get("INPUT_CHECK") == "true":
        commit = (pull.get("head") or {}).get("sha") or env["GITHUB_SHA"]
        tried("the check run", lambda: api.check(f"faultwire: {where}", commit, code, text))


def tried(what: str, act: Any) -> None:
    """Do it; print why it could not be done, without what was asked for."""
    try:
        act()
    except urllib.error.HTTPError as error:
        hint = " (does the job have the permission to write it?)" if error.code in (401, 403, 404) else ""
        say(f"{what} was refused with status {error.code}{hint}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"{what} could not be written: {type(error).__name__}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
