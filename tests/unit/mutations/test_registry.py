import pytest

from faultwire.errors import ConfigError, FaultwireError
from faultwire.mutations._registry import BUILTIN, collect, find, registry, weights

FLAKESTORM = {
    "paraphrase": 1.0, "noise": 0.8, "tone_shift": 0.9, "prompt_injection": 1.5, "encoding_attacks": 1.3,
    "context_manipulation": 1.1, "length_extremes": 1.2, "custom": 1.0, "multi_turn_attack": 1.4,
    "advanced_jailbreak": 2.0, "semantic_similarity_attack": 1.3, "format_poisoning": 1.6,
    "language_mixing": 1.2, "token_manipulation": 1.5, "temporal_attack": 1.1, "http_header_injection": 1.7,
    "payload_size_attack": 1.4, "content_type_confusion": 1.5, "query_parameter_poisoning": 1.6,
    "request_method_attack": 1.3, "protocol_level_attack": 1.8, "resource_exhaustion": 1.5,
    "concurrent_request_pattern": 1.4, "timeout_manipulation": 1.3,
}  # fmt: skip


def test_names_and_weights_are_flakestorms():
    assert weights() == FLAKESTORM
    assert len(BUILTIN) == 24


def test_all_state_what_they_do():
    assert all(mutation.summary and mutation.__doc__ for mutation in BUILTIN)


def test_an_unknown_one_gets_a_hint():
    with pytest.raises(ConfigError) as error:
        find("nois")
    assert error.value.hint == "did you mean `noise`?"
    assert find("noise") is registry()["noise"]


class Entry:
    """An entry point of an installed package."""

    value, dist = "package.module:Name", None

    def __init__(self, name, loaded):
        self.name = name
        self.load = lambda: loaded


def test_packages_can_add_one_and_bad_ones_are_errors():
    other = type("Other", (find("noise"),), {"name": "other"})
    assert collect(BUILTIN, [Entry("other", other)])["other"] is other
    for name, loaded in (("noise", other), ("else", other), ("thing", object)):
        with pytest.raises(FaultwireError) as error:
            collect(BUILTIN, [Entry(name, loaded)])
        assert error.value.code == "mutation.plugin"
