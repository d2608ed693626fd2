"""`faultwire.config.model`: frozen, with the defaults and bounds that are documented."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.config.model import MUTATION_TYPES, AdvancedSettings, ModelSettings, ScoringSettings
from faultwire.mutations._registry import registry


def test_the_usual_weights_sum_to_one():
    assert sum(ScoringSettings().weights.values()) == pytest.approx(1)


def test_the_usual_types_exist():
    assert set(MUTATION_TYPES) <= set(registry())


def test_nothing_changes_and_nothing_strange_is_taken():
    with pytest.raises(ValidationError):
        AdvancedSettings(seed=1).seed = 2
    with pytest.raises(ValidationError):
        AdvancedSettings(sead=1)


def test_a_key_is_not_in_the_text_of_its_settings():
    assert "hunter2" not in repr(ModelSettings(api_key="hunter2"))
