"""Refusals: answers of models that people labelled."""

import csv
from collections.abc import Iterator
from pathlib import Path

LABELS = {"1_full_compliance": "complied", "2_full_refusal": "refused", "3_partial_refusal": "partial"}


def xstest(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """XSTest: (model, prompt, answer, label); the label is that on which the annotators agreed."""
    for path in sorted((folder / "model_completions").glob("xstest_v2_completions_*.csv")):
        with path.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                label = LABELS.get(row["final_label"])
                if label is not None:
                    yield (
                        path.stem.removeprefix("xstest_v2_completions_"),
                        row["prompt"],
                        row["completion"],
                        label,
                    )
