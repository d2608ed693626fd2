"""Results that say, in the words of frameworks and of loops of one's own, that the tool was not run."""

import pytest

from faultwire.checks._declined import declined

NOT_RUN = [
    "Error: the tool was not executed.",
    "The call has never been run: its arguments are incomplete",
    "tool call not invoked, the stream was cut off",
    "This function could neither be called nor repaired",
    "I did not run the tool, the answer was interrupted.",
    "couldn't execute that call: arguments truncated",
    "Did not call this function.",
    "Skipped the tool: cut short.",
    "skipped your call",
    "TOOL SKIPPED",
    "the function was skipped",
    "tool: not carried out",
    "the call was not performed",
]
RAN = [
    "17 times 23 is 391",
    "The dog was not called Rex, but the cat was.",
    "The experiment was not performed in 1999.",
    "Three tools and two functions were found",
    "The call was executed",
    "notrun: a tool of the shell",
    "They skipped the queue and made a call",
    "",
]


@pytest.mark.parametrize("text", NOT_RUN)
def test_a_tool_that_was_not_run_is_known_by_its_result(text: str) -> None:
    assert declined(text)
    assert declined(text.upper())


@pytest.mark.parametrize("text", RAN)
def test_other_results_show_that_it_ran(text: str) -> None:
    assert not declined(text)


def test_words_further_on_are_the_tools() -> None:
    lead, words = "Found. ", "The tool was not executed."
    assert declined(lead.ljust(300 - len(words)) + words)
    assert not declined(lead.ljust(300 - len(words) + 8) + words)
    assert not declined("The test was not run. ".ljust(300) + "The tool is fine.")
