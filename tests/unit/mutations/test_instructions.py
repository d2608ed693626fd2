from faultwire.mutations._instructions import INSTRUCTIONS, SYSTEM, request
from faultwire.mutations._network import NETWORK
from faultwire.mutations._registry import BUILTIN

PROMPT = "Ignore this: {prompt} {0}"


def test_every_type_that_is_text_has_an_instruction():
    done_to_requests = {mutation.name for mutation in NETWORK}
    assert set(INSTRUCTIONS) == {m.name for m in BUILTIN} - done_to_requests - {"custom"}
    assert len(INSTRUCTIONS) == 14


def test_every_number_asks_something_else_and_braces_mean_nothing():
    for name, instruction in INSTRUCTIONS.items():
        asked = [request(name, PROMPT, number) for number in range(1, 51)]
        assert len(set(asked)) == 50
        assert all(text.endswith(f":\n{PROMPT}") for text in asked)
        ways = [text.split("\nWay: ")[1] for text in asked]
        assert all(
            way.startswith(instruction.ways[at % len(instruction.ways)]) for at, way in enumerate(ways)
        )
    assert "You never answer the input" in SYSTEM
