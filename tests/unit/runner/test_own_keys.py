import pytest

from faultwire.agents.settings import CommandSettings, HttpSettings, Start
from faultwire.runner.own_keys import own_keys

OWN = {"OPENAI_API_KEY": "", "GEMINI_API_KEY": "mine", "MODE": ""}
LEFT = {"GEMINI_API_KEY": "mine", "MODE": ""}


def command():
    return CommandSettings(command=("./agent", "{prompt}"), env=OWN)


def served(**changes):
    return HttpSettings(endpoint="http://localhost:1/", **changes)


def test_an_empty_key_of_a_provider_is_left_out_where_none_is_needed():
    agent = command()
    assert own_keys(agent, keyless=True).env == LEFT
    assert agent.env == OWN, "what was read stays"
    start = Start(command=("./server",), ready_url="http://localhost:1/", env=OWN)
    assert own_keys(served(start=start), keyless=True).start.env == LEFT


@pytest.mark.parametrize("agent", [command(), served()], ids=["a command", "a server that others start"])
def test_elsewhere_nothing_changes(agent):
    assert own_keys(agent, keyless=False) is agent
    assert own_keys(served(), keyless=True) == served()
