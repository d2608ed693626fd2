"""`docs/reference/configuration.md`: every example in it loads, and every section has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faultwire.config.load import KEYS, parse
from faultwire.profile.yaml import read

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "configuration.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
REST = {
    "agent": "agent: {command: [agent, '{prompt}']}\n",
    "golden_prompts": "golden_prompts: [hello]\n",
}


def whole(example: str) -> bytes:
    given = read(example, "example").plain()
    return (example + "".join(text for key, text in REST.items() if key not in given)).encode()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.partition(":")[0])
def test_examples_load(example, tmp_path):
    (tmp_path / "agent.pem").touch()  # the client certificate that an example names
    found = parse(whole(example), tmp_path / "faultwire.yaml", environ={})
    assert found.prompts
    unexpected = [warning for warning in found.warnings if "`model` is not used" not in warning]
    assert unexpected == []


def test_every_section_is_shown_or_named():
    shown = {key for example in EXAMPLES for key in read(example, "example").plain()}
    assert shown >= set(KEYS) - {"patterns", "redact", "chaos_matrix"}
    assert all(f"`{key}`" in PAGE for key in KEYS)
