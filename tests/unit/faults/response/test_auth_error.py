from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from faultwire.faults.response.auth_error import AuthError


@pytest.mark.parametrize("code", [401, 403])
def test_each_provider_says_it_in_its_way(chat, anthropic, web, dice, code):
    for exchange in (chat(), anthropic, web):
        mutator = AuthError(code=code).start(exchange, dice())
        answer = mutator.answer()
        assert answer.status == code
        assert json.loads(answer.body)["error"]
        assert mutator.effect == f"answered {code}"


def test_no_other_status():
    with pytest.raises(ValidationError):
        AuthError(code=404)
