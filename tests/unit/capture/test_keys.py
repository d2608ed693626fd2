from faultwire.capture.keys import PLACEHOLDER, keyless, without_empty


def test_an_agent_without_a_key_gets_one_for_every_provider():
    child = keyless({"PATH": "/bin"})
    assert child.pop("PATH") == "/bin"
    providers = "OPENAI ANTHROPIC GOOGLE GROQ MISTRAL CO DEEPSEEK TOGETHER FIREWORKS CEREBRAS XAI OPENROUTER"
    names = [f"{provider}_API_KEY" for provider in (*providers.split(), "PERPLEXITY")]
    assert child == dict.fromkeys(names, PLACEHOLDER)


def test_a_key_of_the_users_stays_and_one_of_a_group_is_enough():
    theirs = {"OPENAI_API_KEY": "mine", "GEMINI_API_KEY": "mine too"}
    child = keyless(theirs)
    assert theirs.items() <= child.items()
    assert "GOOGLE_API_KEY" not in child, "with both, Google's SDKs print a warning"


def test_an_empty_key_is_none():
    assert keyless({"OPENAI_API_KEY": ""})["OPENAI_API_KEY"] == PLACEHOLDER


def test_what_was_given_is_left_alone():
    given = {"PATH": "/bin"}
    keyless(given)
    assert given == {"PATH": "/bin"}


def test_an_empty_key_of_the_agents_own_does_not_replace_a_placeholder():
    own = {"OPENAI_API_KEY": "", "GEMINI_API_KEY": "mine", "MODE": "", "PATH": "/bin"}
    assert without_empty(own) == {"GEMINI_API_KEY": "mine", "MODE": "", "PATH": "/bin"}
    assert (keyless({}) | without_empty(own))["OPENAI_API_KEY"] == PLACEHOLDER
    assert own["OPENAI_API_KEY"] == ""
