"""The parts of faultwire.mutations.clients that need no SDK; with them: tests/e2e/mutations."""

from types import SimpleNamespace

import pytest

from faultwire.config.model import ModelSettings
from faultwire.errors import ConfigError
from faultwire.mutations.clients import PROVIDERS, Anthropic, Client, OpenAI, client


class BadRequest(Exception):
    status_code = 400


class Picky(Client):
    """A model that takes some settings only."""

    takes: tuple[str, ...] = ()

    def open(self):
        self.errors = (BadRequest,)
        self.sent = []

    def send(self, text, tuned):
        self.sent.append(dict(tuned))
        for name in tuned:
            if name not in self.takes:
                raise BadRequest(f"Unsupported value: '{name}' does not support 0 with this model")
        return "said"


def picky(*takes):
    made = Picky(SimpleNamespace(), SimpleNamespace())
    made.takes = takes
    return made


def test_what_a_model_does_not_take_is_left_out_from_then_on():
    model = picky("seed")
    assert model.ask("a", 0.0, 1) == model.ask("b", 0.0, 2) == "said"
    assert model.sent == [{"temperature": 0.0, "seed": 1}, {"seed": 1}, {"seed": 2}]
    nothing = picky()
    assert nothing.ask("a", 0.5, None) == "said"
    assert nothing.sent == [{"temperature": 0.5}, {}]


def test_other_errors_go_on():
    class Broken(Picky):
        def send(self, text, tuned):
            raise BadRequest("no such model")

    with pytest.raises(BadRequest, match="no such model"):
        Broken(SimpleNamespace(), SimpleNamespace()).ask("a", 0.0, 1)


def test_what_the_provider_filtered_is_declined():
    def create(**asked):
        message = SimpleNamespace(content="text", refusal=asked["model"] if asked["model"] == "no" else None)
        reason = "content_filter" if asked["model"] == "filtered" else "stop"
        return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason=reason)])

    chat = SimpleNamespace(completions=SimpleNamespace(create=create))
    sdk = SimpleNamespace(OpenAIError=BadRequest, OpenAI=lambda **_: SimpleNamespace(chat=chat))
    for name, said in {"m": "text", "no": None, "filtered": None}.items():
        choice = SimpleNamespace(provider="openai", name=name, api_key="k", base_url=None)
        assert OpenAI(sdk, choice).ask("a", 0.0, 1) == said


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:1/v1"])
def test_no_provider_inherits_the_address_of_another(base_url):
    """`base_url` None leaves the SDK its own; one that is given is everybody's."""
    told = {}

    def opened(name):
        return lambda **settings: told.setdefault(name, settings)

    sdk = SimpleNamespace(OpenAIError=BadRequest, AnthropicError=BadRequest)
    sdk.OpenAI, sdk.Anthropic = opened("openai"), opened("anthropic")
    choice = SimpleNamespace(provider="openai", name="m", api_key="k", base_url=base_url)
    OpenAI(sdk, choice)
    Anthropic(sdk, choice)
    assert {name: settings["base_url"] for name, settings in told.items()} == {
        "openai": base_url,
        "anthropic": base_url,
    }
    assert ModelSettings(provider="openai").base_url is None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_without_its_sdk_the_extra_is_named(provider):
    """None of the SDKs is in the environment of the tests: their pins are not mitmproxy's."""
    with pytest.raises(ConfigError) as caught:
        client(SimpleNamespace(provider=provider, name="m", api_key=None, base_url=None, temperature=0.0))
    assert caught.value.code == "mutations.no_sdk"
    assert f"faultwire[{PROVIDERS[provider][0].extra}]" in (caught.value.hint or "")
