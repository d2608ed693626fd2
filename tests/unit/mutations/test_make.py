import pytest

from faultwire.config.model import ModelSettings, MutationSettings
from faultwire.errors import ConfigError
from faultwire.mutations.engine import mutate
from faultwire.mutations.make import mutants

PROMPT = "What is the capital of France?"


def test_the_built_in_engine_is_the_default():
    settings = MutationSettings(count=9, types=("noise", "custom"), custom_templates={"a": "A {prompt}"})
    found = mutants(PROMPT, settings, seed=3, model=ModelSettings())
    assert found == mutate(PROMPT, ["noise", "custom"], 9, seed=3, templates={"a": "A {prompt}"})


def test_weights_of_the_settings_count():
    settings = MutationSettings(count=1, types=("noise",), weights={"noise": 0.5})
    assert mutants(PROMPT, settings, seed=3).mutants[0].weight == 0.5


def test_the_model_engine_needs_a_model():
    with pytest.raises(ConfigError, match="expected the model that writes them"):
        mutants(PROMPT, MutationSettings(engine="model"), seed=1)


def test_no_way_back_to_the_built_in_engine():
    with pytest.raises(ConfigError) as caught:
        mutants(PROMPT, MutationSettings(engine="model"), seed=1, model=ModelSettings())
    assert caught.value.code == "mutations.no_sdk"
