from __future__ import annotations

from faultwire.faults.model.garbage import MOST, Garbage, nonsense


def test_as_many_words_and_none_of_them_right(model, answer, text_stream):
    for told, count in ((answer, 7), (text_stream, 5)):
        view, effect, _ = model(Garbage(), told)
        assert len(view.text.split()) == count
        assert "one" not in view.text.split()
        assert view.finish_reason == "stop"
        assert effect == "text replaced with nonsense"


def test_tool_calls_stay_or_go(model, calling):
    assert model(Garbage(), calling)[0].tool_calls
    assert not model(Garbage(tool_calls=False), calling)[0].tool_calls


def test_by_the_dice_and_bounded(dice):
    assert nonsense("a b c", dice()) == nonsense("a b c", dice())
    assert nonsense("a b c", dice(seed=1)) != nonsense("a b c", dice(seed=2))
    assert len(nonsense("a " * 5000, dice()).split()) <= MOST
    assert nonsense("", dice()) == ""
