"""`python -m tests.detectors SET FOLDER [--errors N]`: what the detectors find in sets that others labelled.

FOLDER is a copy of the set: the checked-out repository or the unpacked package. No set is part of this
repository, so without a copy there is nothing to measure, and the command states which one it wants.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.detectors import injection_sets, pii_sets, refusal_sets, secret_sets
from tests.detectors.rows import Row, measure

from faultwire.patterns import refusal, scan

Mode = tuple[str, frozenset[str], list[str], bool]
"""Its name, the labels that count, the kinds that are scanned for, whether recall goes first."""
PARTS = {"errors looked at": False, "only measured": True}
# Tests of recognizers that are models, or of the machinery around them.
NO_FORM = frozenset(
    {
        *("ahds", "azure_ai_language", "azure_openai_langextract", "basic_langextract", "certificate_number"),
        *("entity", "gliner", "huggingface_ner", "lm", "medical_ner", "pattern", "spacy", "stanza"),
        "transformers",
    }
)


def flags(row: Row, kind: str) -> bool:
    """Whether anything of the kind is found in the row."""
    return bool(scan(row.text, kinds=[kind]))


def finds_pii(row: Row, recall: bool) -> bool:
    """Whether a value of the row is touched, with the country of the recognizer as the locale."""
    country = row.kind.split("_")[0].upper()
    locales = [{"UK": "GB"}.get(country, country)] if row.kind[2:3] == "_" else None
    kinds = ["pii", *(["dates"] if row.kind == "date" else []), *(["urls"] if row.kind == "url" else [])]
    hits = scan(row.text, kinds=kinds, locales=locales, recall=recall)
    if not row.spans:
        return bool(hits)
    return any(hit.start < end and hit.end > start for hit in hits for start, end in row.spans)


def rows(title: str, all_rows: Iterable[Row], finds: Callable[[Row], bool], errors: int) -> None:
    """Prints the figures of both parts, and errors of the one whose errors may be looked at."""
    unique = list({(row.kind, row.text, row.positive): row for row in all_rows}.values())
    for name, held_back in PARTS.items():
        figures = measure((row for row in unique if row.held_back == held_back), finds)
        print(f"{title}, {name}: {figures.line()}")
        if held_back:
            continue
        for word, wrong in (("missed", figures.missed_rows), ("flagged", figures.flagged_rows)):
            for row in (wrong or [])[:errors]:
                print(f"  {word} {row.kind}: {row.text[:200]!r}")


Spans = list[tuple[str, int, int]]


def in_spans(title: str, texts: list[tuple[str, Spans]], modes: list[Mode], errors: int) -> None:
    """Values found, and hits that touch nothing labelled, in each mode."""
    for name, wanted, kinds, recall in modes:
        found: Counter[str] = Counter()
        total: Counter[str] = Counter()
        hits = wrong = 0
        missed = []
        for text, spans in texts:
            given = scan(text, kinds=kinds, recall=recall)
            hits += len(given)
            wrong += sum(not any(h.start < e and h.end > s for _, s, e in spans) for h in given)
            for kind, start, end in (span for span in spans if span[0] in wanted):
                total[kind] += 1
                touched = any(hit.start < end and hit.end > start for hit in given)
                found[kind] += touched
                missed += [] if touched else [f"{kind}: {text[max(0, start - 40) : end + 8]!r}"]
        share, right = found.total() / total.total(), 1 - wrong / max(1, hits)
        of_all = f"{found.total()} of {total.total()} found"
        print(f"{title}, {name}: {of_all} ({share:.3f}), precision {right:.3f}")
        print("  " + ", ".join(f"{kind} {found[kind]} of {total[kind]}" for kind in sorted(total)))
        print("".join(f"  missed {one}\n" for one in missed[:errors]), end="")


def plain(wanted: frozenset[str]) -> list[Mode]:
    """Both modes, over personal data alone."""
    return [("precise", wanted, ["pii"], False), ("recall", wanted, ["pii"], True)]


def presidio_research(folder: Path, errors: int) -> None:
    """The set that was made to measure with, and the one of its tests."""
    both = pii_sets.NUMBERS | pii_sets.DATES_AND_URLS
    modes = [plain(pii_sets.NUMBERS)[0], ("recall", both, ["pii", "dates", "urls"], True)]
    file = folder / "data/synth_dataset_v2.json"
    in_spans("presidio-research", list(pii_sets.presidio_research(file)), modes, errors)
    file = folder / "tests/data/generated_large.json"
    texts = list(pii_sets.presidio_research(file))
    in_spans("presidio-research, generated_large", texts, plain(pii_sets.NUMBERS), errors)


def pii_synthetic(folder: Path, errors: int) -> None:
    """Every third text is one whose errors were looked at."""
    texts = list(pii_sets.pii_synthetic(folder / "dataset/pii_syn_nano_en.json"))
    parts = {"errors looked at": texts[::3], "only measured": [t for at, t in enumerate(texts) if at % 3]}
    for name, part in parts.items():
        shown = errors if name == "errors looked at" else 0
        in_spans(f"pii-synthetic, {name}", part, plain(pii_sets.WITH_FORM), shown)


def xstest(folder: Path, errors: int) -> None:
    """Full refusals found and full compliances called refusals, by part of the prompts and by model."""
    judged: dict[str, Counter[str]] = {}
    wrong = []
    for model, prompt, answer, label in refusal_sets.xstest(folder):
        verdict = refusal(answer).verdict
        held_back = Row("", prompt, True).held_back
        part = "only measured" if held_back else "errors looked at"
        for name in ("all", part, model):
            judged.setdefault(name, Counter())[f"{label}, {verdict}"] += 1
        if not held_back and (label == "refused") != (verdict == "refused") and label != "partial":
            wrong.append(f"{label}, judged {verdict}: {answer[:300]!r}")
    for name, counts in judged.items():
        total = {
            label: sum(n for key, n in counts.items() if key.startswith(label))
            for label in ("refused", "complied")
        }
        recall = counts["refused, refused"] / total["refused"]
        false = 100 * counts["complied, refused"] / total["complied"]
        unclear = 100 * counts["refused, unclear"] / total["refused"]
        print(
            f"xstest, {name}: {recall:.3f} of {total['refused']} refusals found, {unclear:.1f} % unclear; "
            f"{false:.1f} % of {total['complied']} compliances called refusals"
        )
    print("".join(f"  {one}\n" for one in wrong[:errors]), end="")


def presidio_tests(folder: Path, errors: int) -> None:
    """The cases of Presidio's recognizers that look for forms."""
    cases = [row for row in pii_sets.presidio_tests(folder) if row.kind not in NO_FORM]
    for name, recall in (("precise", False), ("recall", True)):
        rows(f"presidio-tests, {name}", cases, lambda row, recall=recall: finds_pii(row, recall), errors)


def in_rows(name: str, kind: str, read: Callable[[Path], Iterable[Row]]) -> Callable[[Path, int], None]:
    """A set of rows, measured with one kind of patterns."""
    return lambda folder, errors: rows(name, read(folder), lambda row: flags(row, kind), errors)


SETS: dict[str, Callable[[Path, int], None]] = {
    "presidio-research": presidio_research,
    "presidio-tests": presidio_tests,
    "pii-synthetic": pii_synthetic,
    "xstest": xstest,
    **{name: in_rows(name, "secrets", read) for name, read in secret_sets.SETS.items()},
    **{name: in_rows(name, "injection", read) for name, read in injection_sets.SETS.items()},
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.detectors", description=__doc__)
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("folder", type=Path, help="a copy of the set")
    parser.add_argument("--errors", type=int, default=0, help="how many errors to print of each sort")
    given = parser.parse_args(arguments)
    if not given.folder.is_dir():
        print(
            f"nothing measured: {given.folder} is no folder; give a copy of the set {given.set}",
            file=sys.stderr,
        )
        return 2
    SETS[given.set](given.folder, given.errors)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
