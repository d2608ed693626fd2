"""Personal data: sets that others labelled or wrote as the cases of their own recognizers."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.detectors.rows import Row

# Kinds of presidio-research that have a form; names of people, places and companies have none.
NUMBERS = frozenset(
    {
        "PHONE_NUMBER",
        "CREDIT_CARD",
        "EMAIL_ADDRESS",
        "IBAN_CODE",
        "US_SSN",
        "IP_ADDRESS",
        "US_DRIVER_LICENSE",
        "ZIP_CODE",
    }
)
# Labels of PII-synthetic_dataset whose values have a form.
WITH_FORM = frozenset(
    {
        *("AADHAR", "CREDIT_CARD", "DRIVER_LICENSE", "DRIVER_LICENSE_NUM", "EMAIL", "IBAN", "LICENSE"),
        *("PAN", "PASSPORT", "PASSPORT_NUM", "PHONE", "SSN", "TAXID", "TAX_ID"),
    }
)
DATES_AND_URLS = frozenset({"DATE_TIME", "DOMAIN_NAME"})


def presidio_research(file: Path) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """Texts with (kind, start, end) of everything that is labelled: `data/synth_dataset_v2.json`."""
    for one in json.loads(file.read_text(encoding="utf-8")):
        spans = [(span["entity_type"], span["start_position"], span["end_position"]) for span in one["spans"]]
        yield one["full_text"], spans


def pii_synthetic(file: Path) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """Texts with their labelled values, each where it first stands; one that is not in it is left out."""
    for one in json.loads(file.read_text(encoding="utf-8")):
        values = [(label.get("entity") or label.get("text"), label.get("label")) for label in one["NER"]]
        places = [(kind, one["text"].find(value), value) for value, kind in values if value and kind]
        spans = [(kind, start, start + len(value)) for kind, start, value in places if start >= 0]
        yield one["text"], spans


def presidio_tests(folder: Path) -> Iterator[Row]:
    """The parameters of the tests of Presidio's recognizers: a text, the number of values, and their places.

    A row without values is negative: there is something like a value that is none.
    """
    for path in sorted(folder.glob("presidio-analyzer/tests/test_*_recognizer.py")):
        kind = path.stem.removeprefix("test_").removesuffix("_recognizer")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Tuple) and len(node.elts) >= 2:
                row = _row(kind, node)
                if row is not None:
                    yield row


def _row(kind: str, node: ast.Tuple) -> Row | None:
    try:
        value: tuple[Any, ...] = ast.literal_eval(node)
    except ValueError:
        return None  # an expression of the test's own
    text, count = value[0], value[1]
    if not isinstance(text, str) or not isinstance(count, int) or isinstance(count, bool) or not text.strip():
        return None
    places = value[2] if len(value) > 2 else ()
    if isinstance(places, tuple) and len(places) == 2 and all(isinstance(one, int) for one in places):
        places = (places,)
    pairs = places if isinstance(places, tuple | list) else ()
    spans = tuple(tuple(one) for one in pairs if isinstance(one, tuple) and len(one) == 2)
    return Row(kind, text, count > 0, spans if len(spans) == count else ())
