"""Which case comes next: each once, what showed something new more often, and never more than fits a case."""

from __future__ import annotations

from collections import Counter

from tests.unit.fuzz.simulated import ORDER, SOURCE

from faultwire.fuzz.case import Case, Target
from faultwire.fuzz.corpus import MOST_STEPS, Corpus
from faultwire.fuzz.grammar import Source

LIST = Source(
    Target("message", "tools/list"), {"seen": '{"id": 1}', "error": '{"e": 1}', "block": '{"b": 1}'}
)


def taken(corpus, count):
    return [corpus.next(number)[0] for number in range(count)]


def test_no_case_comes_twice_and_each_differs_from_what_the_agent_saw():
    cases = taken(Corpus((SOURCE,), 1), 100)
    assert len({one.id for one in cases}) == 100
    assert all(one.parts[0].text != SOURCE.bases["seen"] for one in cases)


def test_what_cases_begin_with_comes_first_but_for_what_was_seen():
    cases = taken(Corpus((LIST,), 1), 3)
    assert [one.parts[0].base for one in cases[:2]] == ["error", "block"]
    assert not cases[0].parts[0].steps


def test_a_case_that_showed_something_new_is_changed_further():
    corpus = Corpus((SOURCE,), 1)
    first, parent = corpus.next(0)
    corpus.learn(first, parent, 5)
    following = taken(corpus, 60)
    further = [
        one for one in following if one.parts[0].steps[: len(first.parts[0].steps)] == first.parts[0].steps
    ]
    assert 10 < len(further) < 60
    control = Corpus((SOURCE,), 1)
    plain, parent = control.next(0)
    control.learn(plain, parent, 0)
    assert not [one for one in taken(control, 60) if len(one.parts[0].steps) > 2]


def test_without_guidance_nothing_is_learned():
    corpus = Corpus((SOURCE,), 1, guided=False)
    case, parent = corpus.next(0)
    corpus.learn(case, parent, 5)
    corpus.extend([LIST])
    assert len(corpus.sources) == 1
    assert max(len(one.parts[0].steps) for one in taken(corpus, 60)) <= 3


def test_calls_that_came_up_later_become_targets():
    corpus = Corpus((SOURCE,), 1)
    corpus.extend([LIST, LIST])
    assert [one.target for one in corpus.sources] == [ORDER, LIST.target]
    targets = Counter(part.target for one in taken(corpus, 80) for part in one.parts)
    assert targets[LIST.target] > 10


def test_a_long_lineage_is_not_kept():
    corpus = Corpus((SOURCE,), 1)
    case, parent = corpus.next(0)
    steps = case.parts[0].steps * (MOST_STEPS + 1)
    long = Case((case.parts[0].__class__(ORDER, "seen", "x", steps),))
    corpus.learn(long, parent, 3)
    assert len(corpus.kept) == 1
