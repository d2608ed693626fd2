"""Questions of a law or a standard, answered from a tape's bundle and from nothing else.

A file `frameworks/NAME.toml` has the questions of each, in our own words: the article, which evidence answers
it, what a tape cannot show, and who must. An answer is no better than its evidence and no better than its
question allows (`at_most`); whether an organisation complies, no tape can show.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.tape.export.question_evidence import IN_PART, NOT, SHOWN, evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]
FOLDER = Path(__file__).with_name("frameworks")


def answered(framework: str, made: Mapping[str, Any]) -> Json:
    """The questions of a framework with their answers, from a bundle that has `personal_data`."""
    asked = tomllib.loads((FOLDER / f"{framework}.toml").read_text(encoding="utf-8"))
    known = evidence(made)
    return {
        "framework": framework,
        "title": asked["title"],
        "questions": [_answer(question, known) for question in asked["question"]],
    }


def _answer(question: Json, known: Mapping[str, Json]) -> Json:
    used = [known[name] for name in question["evidence"]]
    states = {one["state"] for one in used}
    answer = IN_PART
    if states <= {NOT}:
        answer = NOT
    elif states == {SHOWN} and question.get("at_most", SHOWN) == SHOWN:
        answer = SHOWN
    return {
        "article": question["article"],
        "question": question["question"],
        "answer": answer,
        "evidence": used,
        "beyond": question["beyond"],
        "who": question["who"],
    }
