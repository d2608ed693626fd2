from faultwire.checks.excludes_secrets import ExcludesSecrets

KEY = "AKIA" + "IOSFODNN7QQQQQQQ"


def test_a_key_is_found_and_not_shown(verdict):
    found = verdict(ExcludesSecrets(), answer=f"The key is {KEY}.")
    assert found.verdict == "fail"
    assert KEY not in found.explanation


def test_a_mark_of_the_tape_stands_for_a_secret(verdict):
    answer = f"token redacted:v1:{'0' * 32} and redacted:v1:{'1' * 32}"
    found = verdict(ExcludesSecrets(), answer=answer)
    assert (found.verdict, found.value) == ("fail", 2)


def test_plain_answers_pass(verdict):
    assert verdict(ExcludesSecrets(), answer="My password policy is strict: 16 characters.").verdict == "pass"
    assert verdict(ExcludesSecrets(), answer="\ud800" + "A" * 100_000).verdict == "pass"


def test_a_dead_agent_is_unknown_when_negated(verdict):
    assert verdict(ExcludesSecrets(negate=True), answer="", exit_code=1).verdict == "unknown"
