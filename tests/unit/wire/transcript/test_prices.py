"""faultwire.wire.transcript.prices and faultwire.wire.transcript.exchange."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.wire.provider_shapes import RESPONSES
from tests.unit.wire.shapes import pack, post

from faultwire import wire
from faultwire.cli import main
from faultwire.errors import ConfigError
from faultwire.events import Delivery, Recorded, Usage
from faultwire.wire.transcript import prices

ONE = Usage(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("provider", "model", "dollars"),
    [
        ("openai", "gpt-4o", "12.5"),
        ("openai", "gpt-4o-2024-08-06", "12.5"),
        ("openai", "GPT-4o-mini", "0.75"),
        ("openai", "openai/gpt-4o-mini", "0.75"),
        ("openai", "gpt-5-mini-2025-08-07", "2.25"),
        ("anthropic", "claude-3-5-haiku-latest", "4.8"),
        ("mistral", "mistral-small-2506", "0.4"),
        ("openai", "meta/gpt-4o", None),
        ("google", "models/gemini-2.5-flash", "2.8"),
        ("openai", "gpt-4o-nonsense", None),
        ("openai", "gpt-4omega", None),
        ("openai", "claude-3-haiku", None),
        ("nobody", "gpt-4o", None),
        ("openai", "", None),
    ],
)
def test_the_built_in_prices(provider: str, model: str, dollars: str | None) -> None:
    found = prices.builtin().cost(provider, model, ONE)
    assert found == (None if dollars is None else Decimal(dollars))


def test_what_is_unknown_costs_unknown_and_not_nothing() -> None:
    table = prices.builtin()
    assert table.cost(None, "gpt-4o", ONE) is None
    assert table.cost("openai", "gpt-4o", None) is None
    assert table.cost("openai", "gpt-4o", Usage(0, 0)) == 0


def test_each_part_has_its_price() -> None:
    table = prices.builtin()
    cached = Usage(1_000_000, 0, cache_read_tokens=900_000)
    assert table.cost("openai", "gpt-4o", cached) == Decimal("1.375")  # 2.50 without the cache's price
    written = Usage(1_000_000, 0, cache_write_tokens=1_000_000, long_cache_write_tokens=400_000)
    assert table.cost("anthropic", "claude-haiku-4-5", written) == Decimal("1.55")
    assert table.cost("openai", "gpt-4o", Usage(10, 10, reasoning_tokens=9)) == Decimal("0.000125")


def test_a_part_without_a_price_makes_the_cost_unknown() -> None:
    price = prices.Price(Decimal(1), Decimal(1))
    assert price.cost(Usage(9, 9)) == Decimal("0.000018")
    for part in (
        *("cache_read_tokens", "cache_write_tokens", "audio_input_tokens", "audio_output_tokens"),
        "long_cache_write_tokens",
    ):
        assert price.cost(replace(Usage(9, 9), **{part: 1})) is None, part
    known = prices.Price(Decimal(1), Decimal(1), cache_read=Decimal(1), audio_input=Decimal(1))
    assert known.cost(Usage(9, 9, cache_read_tokens=10)) is None  # more was cached than read
    assert known.cost(Usage(9, 9, cache_read_tokens=1, audio_input_tokens=1)) is None


def test_a_price_holds_only_up_to_its_size() -> None:
    table = prices.builtin()
    assert table.cost("google", "gemini-2.5-pro", Usage(200_000, 0)) == Decimal("0.25")
    assert table.cost("google", "gemini-2.5-pro", Usage(200_001, 0)) is None


def test_the_table_has_a_day() -> None:
    assert prices.builtin().as_of[:2] == "20"
    assert sum(len(models) for models in prices.builtin().models.values()) > 30


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    return path


def test_users_override_and_add(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "as_of: 2026-01-01\n"
        "models: {openai: {gpt-4o: {input: 1, output: 1}}, me: {m: {input: '0.1', output: 0}}}",
    )
    made = prices.load(path, over=prices.builtin())
    assert (made.as_of, made.cost("openai", "gpt-4o", ONE)) == ("2026-01-01", 2)
    assert made.cost("me", "m", ONE) == Decimal("0.1")
    assert made.cost("openai", "gpt-4o-mini", ONE) == Decimal("0.75")
    assert prices.load(path).cost("openai", "gpt-4o-mini", ONE) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("models: [", "found no YAML"),
        ("- 1", "found no `models`"),
        ("models: 3", "found no `models`"),
        ("currency: EUR\nmodels: {}", "currency `EUR`"),
        ("models: {a: {b: 3}}", "price of `a.b`"),
        ("models: {a: {b: {input: 1}}}", "price of `a.b`"),
        ("models: {a: {b: {input: 1, output: -1}}}", "found `-1`"),
        ("models: {a: {b: {input: x, output: 1}}}", "found `x`"),
        ("models: {a: {b: {input: .nan, output: 1}}}", "found `.nan`"),
        ("models: {a: {b: {input: 1, output: 1, up_to: 0}}}", "`up_to` of `0`"),
    ],
)
def test_a_table_that_is_none_states_where(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        prices.load(table(tmp_path, text))
    assert caught.value.where is not None
    assert caught.value.code == "config.prices"


def test_a_missing_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no readable file"):
        prices.load(tmp_path / "none.yaml")


# ---------------------------------------------------------------- what was told


def recorded(body: bytes, kind: str = "text/event-stream", status: int = 200) -> Recorded:
    made = Delivery(status, "OK", (("content-type", kind),), body, ((10, 2_500_000), (len(body), 9_000_000)))
    request = post("https://api.openai.com/v1/responses", {**RESPONSES.request, "model": "gpt-4o"})
    return Recorded(
        "s", 1, "llm", "openai_responses", "openai", None, request, made, made, "complete", None, 0, 0, 9.0
    )


def test_a_recorded_exchange_is_reported() -> None:
    whole = pack({**RESPONSES.whole, "model": "gpt-4o-2024-08-06"})
    found = wire.transcript_of(recorded(whole, "application/json"))
    assert found is not None
    assert (found.provider, found.model, found.problem) == ("openai", "gpt-4o-2024-08-06", None)
    assert found.answer
    assert found.answer.text == "Let me look."
    assert found.request
    assert [turn.role for turn in found.new_turns] == ["tool", "tool"]
    assert found.first_event_ms == 2.5
    assert found.cost == (Decimal("2.5") * 9 + 10 * 12) / 1_000_000


def test_a_stream_of_an_unlisted_model_has_no_price() -> None:
    found = wire.transcript_of(recorded(RESPONSES.stream))
    assert found is not None
    assert found.first_event_ms == 2.5
    unasked = wire.transcript_of(replace(recorded(RESPONSES.stream), upstream=None))
    assert unasked is not None
    assert unasked.first_event_ms is None
    assert found.answer
    assert (found.answer.usage, found.cost) == (Usage(9, 12), None)


def test_what_was_cut_is_charged_for_as_the_provider_counted_it() -> None:
    whole = pack({**RESPONSES.whole, "model": "gpt-4o"})
    one = recorded(whole, "application/json")
    assert one.delivered
    cut = replace(one.delivered, body=wire.protocol("openai_responses").truncate(whole, 1))
    found = wire.transcript_of(replace(one, delivered=cut))
    assert found is not None
    assert found.answer
    assert (found.answer.text, found.answer.usage) == ("Let", Usage(9, 1))
    assert found.cost == (Decimal("2.5") * 9 + 10 * 12) / 1_000_000


def test_what_cannot_be_read_gives_the_reason() -> None:
    found = wire.transcript_of(recorded(b"<html>", "text/html", 502))
    assert found is not None
    assert found.answer is None
    assert "answer with status 502" in (found.problem or "")
    broken = replace(
        recorded(b""), request=post("https://h/v1/responses", b"{"), delivered=None, upstream=None
    )
    found = wire.transcript_of(broken)
    assert found is not None
    assert (found.request, found.answer, found.new_turns, found.first_event_ms) == (None, None, (), None)
    assert wire.transcript_of(replace(broken, protocol=None)) is None


def test_prices_of_one_s_own_hold_for_every_command(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("models: {openai: {ours: {input: 1, output: 2}}}")
    runner = CliRunner()
    try:
        assert prices.current() is prices.builtin()
        assert runner.invoke(main, ["--prices", str(path), "profiles", "list"]).exit_code == 0
        assert prices.current().cost("openai", "ours", ONE) == 3
        assert prices.current().cost("openai", "gpt-4o", ONE) == Decimal("12.5"), "the others stay"
        path.write_text("models: [1]")
        broken = runner.invoke(main, ["profiles", "list"], env={"FAULTWIRE_PRICES": str(path)})
        assert broken.exit_code == 2
        assert "found no `models`, expected a table of prices" in broken.stderr
    finally:
        prices.choose(None)
    assert prices.current() is prices.builtin()


@pytest.mark.parametrize(
    ("host", "known"),
    [("api.openai.com", True), ("localhost", True), ("llm.vendor.example", False), ("api.x.ai", False)],
)
def test_a_model_of_the_same_name_elsewhere_has_no_price_of_openai(host: str, *, known: bool) -> None:
    one = recorded(pack({**RESPONSES.whole, "model": "gpt-4o"}), "application/json")
    request = replace(one.request, host=host)
    found = wire.transcript_of(replace(one, request=request, provider=wire.classify(request).provider))
    assert found is not None
    assert (found.cost is not None) is known
