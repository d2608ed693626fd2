"""Secrets: the cases that other scanners test themselves with, read from a copy of their repository."""

import ast
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from tests.detectors.go_source import UNKNOWN, Functions, Reader, assignments, tokens
from tests.detectors.rows import Row
from tests.detectors.samples import sample

SIZES = {
    "Numeric": "[0-9]",
    "Hex": "[a-f0-9]",
    "AlphaNumeric": "[a-z0-9]",
    "AlphaNumericExtendedShort": "[a-z0-9_-]",
    "AlphaNumericExtended": r"[a-z0-9=_\-]",
    "AlphaNumericExtendedLong": r"[a-z0-9\/=_\+\-]",
}


def gitleaks(folder: Path) -> Iterator[Row]:
    """gitleaks: the true and the false positives of `cmd/generate/config/rules`, with the forms of assignment
    that its generator fills in. Values that are expressions there are random here, from a fixed seed."""
    dice = random.Random(1)
    forms = _forms(folder / "cmd/generate/config/utils/generate.go")
    functions: Functions = {
        f"utils.{name}": lambda size, of=of: f"{of}{{{size}}}" for name, of in SIZES.items()
    }
    functions["utils.Hex8_4_4_4_12"] = lambda: "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    functions["secrets.NewSecret"] = lambda expression: sample(expression, dice)
    functions["utils.GenerateSampleSecret"] = lambda name, value: f'{name}_api_token = "{value}"'
    functions["utils.GenerateSampleSecrets"] = lambda name, value: [
        form.replace("{i}", name).replace("{I}", name.upper()).replace("{s}", value) for form in forms
    ]
    for path in sorted((folder / "cmd/generate/config/rules").glob("*.go")):
        if path.name.endswith("_test.go"):
            continue
        for body in re.split(r"(?m)^func ", path.read_text(encoding="utf-8"))[1:]:
            values = assignments(tokens(body), functions)
            name = re.search(r'RuleID:\s*"([^"]+)"', body)
            for bound, positive in (("tps", True), ("fps", False)):
                for text in values.get(bound, []):
                    if isinstance(text, str):
                        yield Row(name[1] if name else path.stem, text, positive)


def _forms(path: Path) -> list[str]:
    """The forms of assignment with a place for the name and one for the value."""
    body = path.read_text(encoding="utf-8").split("samples := map[string]string{")[1].split("\n\t}\n")[0]
    source = tokens(body)
    pairs = zip(source, source[1:], source[2:], strict=False)
    return [
        Reader([after], {}, {}).expression() for key, colon, after in pairs if colon == ":" and key[0] == '"'
    ]


def trufflehog(folder: Path) -> Iterator[Row]:
    """trufflehog: the rows of the pattern tests in `pkg/detectors`; those that want nothing are negative."""
    for path in sorted((folder / "pkg/detectors").rglob("*_test.go")):
        if "integration" in path.name:
            continue
        source = tokens(path.read_text(encoding="utf-8", errors="replace"))
        values = assignments(source, {})
        detector = path.parent.parent.name if re.fullmatch(r"v\d+", path.parent.name) else path.parent.name
        for text, want in _cases(source, values):
            yield Row(detector, text, bool(want))


def _cases(source: list[str], values: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """`input:` with the `want:` after it."""
    text: Any = UNKNOWN
    for at, token in enumerate(source[:-2]):
        if source[at + 1] != ":" or token not in ("input", "want"):
            continue
        reader = Reader(source, values, {})
        reader.at = at + 2
        value = reader.expression()
        if token == "input":
            text = value
        elif isinstance(text, str) and isinstance(value, list):
            yield text, value
            text = UNKNOWN


def kingfisher(folder: Path) -> Iterator[Row]:
    """Kingfisher: the examples of `data/rules`, and the few that must not match."""
    for path in sorted((folder / "data/rules").glob("*.y*ml")):
        rules = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["rules"]
        for rule in rules:
            yield from (Row(rule["id"], str(one), True) for one in rule.get("examples") or [])
            yield from (Row(rule["id"], str(one), False) for one in rule.get("negative_examples") or [])


def detect_secrets(folder: Path) -> Iterator[Row]:
    """detect-secrets: the parameters of `tests/plugins` that are a text and whether it is flagged."""
    for path in sorted((folder / "tests/plugins").glob("*_test.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Tuple) or len(node.elts) < 2:
                continue
            text, flag = node.elts[0], node.elts[-1]
            if isinstance(flag, ast.Constant) and isinstance(flag.value, bool):
                try:
                    value = ast.literal_eval(text)
                except ValueError:
                    continue  # an expression of the test's own
                if isinstance(value, str):
                    yield Row(path.stem.removesuffix("_test"), value, flag.value)


SETS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "gitleaks": gitleaks,
    "trufflehog": trufflehog,
    "kingfisher": kingfisher,
    "detect-secrets": detect_secrets,
}
