import pytest

from faultwire.checks._api import Check, ending, quoted
from faultwire.checks.contains import Contains
from faultwire.events import AgentResult, History, Verdict


class Always(Check):
    name = "always"
    said: str = "pass"

    def judge(self, history, answer):
        return Verdict(self.said, f"said {self.said}", exchanges=(1,))


class Crashes(Check):
    name = "crashes"

    def judge(self, history, answer):
        return Verdict("pass", answer[99])


@pytest.mark.parametrize(("said", "wanted"), [("pass", "fail"), ("fail", "pass"), ("unknown", "unknown")])
def test_negate_turns_what_was_judged_and_nothing_else(history, said, wanted):
    plain = Always(said=said).verdict(history())
    turned = Always(said=said, negate=True).verdict(history())
    assert (plain.verdict, turned.verdict) == (said, wanted)
    assert turned.exchanges == (1,)


@pytest.mark.parametrize("negate", [False, True])
def test_a_check_that_crashes_is_unknown_and_states_how(history, negate):
    verdict = Crashes(negate=negate).verdict(history("short"))
    assert verdict == Verdict("unknown", "the check crashed: IndexError: string index out of range")


def test_without_an_agent_nothing_is_known():
    assert Always().verdict(History("s", ())).verdict == "unknown"


@pytest.mark.parametrize("negate", [False, True])
def test_an_agent_that_could_not_be_asked_is_not_to_blame(negate):
    said = "a line\nfaultwire: the prompt has no `tone`, which the request's template names\n"
    for stderr, why in (
        (said, "the prompt has no `tone`, which the request's template names"),
        ("", "no reason given"),
    ):
        never = History("s", (), agent=AgentResult("", None, 0.0, stderr))
        assert Always(negate=negate).verdict(never) == Verdict("unknown", f"the agent was not called: {why}")
    stopped = History("s", (), agent=AgentResult("", None, 30.0, timed_out=True))  # the control
    assert Always(negate=negate).verdict(stopped).verdict != "unknown"


@pytest.mark.parametrize(("negate", "wanted"), [(False, "fail"), (True, "unknown")])
def test_an_agent_that_died_without_a_word_does_not_pass_by_silence(history, negate, wanted):
    check = Contains(value="sorry", negate=negate)
    assert check.verdict(history("  ", exit_code=1)).verdict == wanted
    said_something = check.verdict(history("I give up", exit_code=1)).verdict
    assert said_something == ("pass" if negate else "fail")


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (AgentResult("", 0, 1), "exited with 0"),
        (AgentResult("", 3, 1), "exited with 3"),
        (AgentResult("", -9, 1), "was killed by signal 9"),
        (AgentResult("", -9, 30.04, timed_out=True), "was stopped after 30.0 s"),
        (AgentResult("", None, 1), "ended with an unknown status"),
    ],
)
def test_endings(agent, words):
    assert ending(agent) == words


def test_settings_are_frozen_and_closed():
    with pytest.raises(ValueError, match="frozen"):
        Contains(value="x").value = "y"
    with pytest.raises(ValueError, match="Extra inputs"):
        Contains(value="x", vlaue="y")


def test_label_is_the_id_or_the_name():
    assert Contains(value="x").label == "contains"
    assert Contains(value="x", id="says_x").label == "says_x"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "``"),
        ("a\n b\t`c`", "`a b 'c'`"),
        ("x" * 80, f"`{'x' * 80}`"),
        ("the key is sk-" + "k" * 80, "`the key is…`"),  # a word is shown whole or not at all
        ("x" * 1_000_000, "`…`"),
        ("ab " * 100_000, "`" + " ".join(["ab"] * 27) + "…`"),
    ],
)
def test_a_quotation_is_one_short_line_of_whole_words(text, shown):
    assert quoted(text) == shown
