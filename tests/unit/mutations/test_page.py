"""docs/reference/mutations.md has a row for every type (faultwire.mutations._registry), with its weight."""

from pathlib import Path

from faultwire.mutations._instructions import INSTRUCTIONS
from faultwire.mutations._registry import BUILTIN, PACKS
from faultwire.mutations.clients import PROVIDERS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "mutations.md").read_text()


def test_every_type_has_its_row():
    for mutation in BUILTIN:
        assert f"| `{mutation.name}` | {mutation.weight:g} | {mutation.summary} |" in PAGE


def test_every_pack_has_its_row():
    for one in PACKS:
        assert f"| `{one.name}` | {one.pack.version} | {one.summary} |" in PAGE


def test_every_provider_has_its_extra():
    for provider, kinds in PROVIDERS.items():
        assert f"| `{provider}`" in PAGE
        assert all(f"pip install 'faultwire[{kind.extra}]'" in PAGE for kind in kinds)
    assert len(INSTRUCTIONS) == 14
    assert "fourteen types that are text" in PAGE
