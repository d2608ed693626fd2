"""Whatever the prompt and the seed: exact counts, no duplicates, the same again for the same seed."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from faultwire.mutations._registry import BUILTIN
from faultwire.mutations.engine import mutate

NAMES = [mutation.name for mutation in BUILTIN if mutation.name != "custom"]


@settings(max_examples=40, deadline=None)
@given(
    prompt=st.text(min_size=1, max_size=60),
    types=st.lists(st.sampled_from(NAMES), min_size=1, max_size=5),
    count=st.integers(1, 12),
    seed=st.integers(0, 2**63),
)
def test_counts_are_exact_or_explained(prompt: str, types: list[str], count: int, seed: int) -> None:
    found = mutate(prompt, types, count, seed=seed)
    assert len(found.mutants) == count or found.notes
    assert len({m.text for m in found.mutants}) == len(found.mutants)
    assert all(m.text != prompt and m.type in types for m in found.mutants)
    assert mutate(prompt, types, count, seed=seed) == found


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_another_seed_gives_others(seed: int) -> None:
    one, other = (
        mutate("What is the capital of France?", NAMES, 46, seed=s).mutants for s in (seed, seed + 1)
    )
    assert [m.text for m in one] != [m.text for m in other]
