"""Which case comes next: each once, what showed something new more often, and never more than fits a case."""

from __future__ import annotations

from collections import Counter

from tests.unit.fuzz.simulated import ORDER, SOURCE

from faultwire.fuzz.case import Case, Target
from faultwire.fuzz.corpus import MOST_STEPS, Corpus
from faultwire.fuzz.grammar import Source, child

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


def test_a_change_comes_to_every_place_before_it_comes_to_one_again():
    corpus = Corpus((SOURCE,), 1)
    hows = Counter()
    for number in range(160):
        case, parent = corpus.next(number)
        steps = case.parts[0].steps
        if parent is corpus.kept[0] and len(steps) == 1 and steps[0].change == "null":
            hows[steps[0].how] += 1
    assert len(hows) >= 10, hows
    assert max(hows.values()) == 1, hows


def test_what_undoes_a_kept_change_or_crashed_alone_is_mostly_left_out():
    def further(told):
        corpus = Corpus((SOURCE,), 1)
        kept = child(Case(), SOURCE, "seen", "null", 0, 1)
        place = kept.parts[0].steps[0].how.rpartition(" at ")[2]
        corpus.learn(kept, corpus.kept[0], 5)
        alone = [child(Case(), SOURCE, "seen", "wrong_type", throw, 1) for throw in range(18)]
        for case in alone if told else ():
            corpus.crash(case)
        crashing = {case.parts[0].steps[0].how for case in alone}
        steps = [case.parts[0].steps[1:] for case in taken(corpus, 200) if len(case.parts[0].steps) == 2]
        hows = [one.how for (one,) in steps if one.change != "null"]
        return (
            sum(how.rpartition(" at ")[2] in (place, "the text") for how in hows),
            sum(how in crashing for how in hows),
        )

    (undoing, crashing), (_, control) = further(told=True), further(told=False)
    assert undoing <= 4
    assert crashing <= 2 < control


def test_a_case_with_one_change_that_crashed_is_the_only_one_that_is_remembered():
    corpus = Corpus((SOURCE,), 1)
    one = child(Case(), SOURCE, "seen", "null", 0, 1)
    corpus.crash(child(one, SOURCE, "seen", "missing", 0, 1))
    assert not corpus._crashed
    corpus.crash(one)
    assert corpus._crashed == {(SOURCE.target.text, one.parts[0].steps[0].how)}
