from faultwire.checks.behavior_unchanged import BehaviorUnchanged


def test_without_a_calm_run_nothing_is_known(verdict):
    found = verdict(BehaviorUnchanged(), answer="It is 391.")
    assert found.verdict == "unknown"
    assert "no run of the same prompt without faults" in found.explanation


def test_the_calm_answer_is_the_measure(verdict):
    assert verdict(BehaviorUnchanged(), answer="It is 391.", baseline="It is 391").verdict == "pass"
    assert verdict(BehaviorUnchanged(), answer="It is 392.", baseline="It is 391").verdict == "fail"
    assert (
        verdict(BehaviorUnchanged(negate=True), answer="It is 392.", baseline="It is 391").verdict == "pass"
    )


def test_a_text_of_your_own(verdict):
    check = BehaviorUnchanged(baseline="Paris", similarity_threshold=1.0)
    assert verdict(check, answer="Paris", baseline="Rome").verdict == "pass"
    assert verdict(check, answer="Rome", baseline="Rome").verdict == "fail"


def test_it_is_about_broken_worlds_unless_stated_otherwise():
    assert BehaviorUnchanged().when == "any_chaos_active"


def test_hostile_answers_are_compared_as_text(verdict):
    found = verdict(BehaviorUnchanged(), answer="\x1b[2J\ud800 {{7*7}}", baseline="It is 391")
    assert found.verdict == "fail"
