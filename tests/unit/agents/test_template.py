import json

import pytest

from faultwire.agents._template import PLACES, Template
from faultwire.errors import AgentError
from faultwire.mutations._lines import structured

HOSTILE = 'say "hi"\n\t\\ {prompt} {"a": 1} \u2028 é \ud800 \0'


@pytest.mark.parametrize(
    "text", ['{"q": "{prompt}"}', '{"q": {prompt}}', '["\\"{prompt}\\"", 1]', '{"{prompt}": 1}']
)
def test_a_prompt_never_breaks_a_json_template(text):
    filled = Template(text).filled({"prompt": HOSTILE})
    document = json.loads(filled)
    found = json.dumps(document)
    assert json.dumps(HOSTILE)[1:-1] in found
    assert len(document) == len(json.loads(Template(text).filled({"prompt": "x"})))


def test_a_value_may_stand_alone_or_inside_a_text():
    template = Template('{"a": {prompt}, "b": "<{prompt}>", "turns": {turns}}')
    assert template.shape == "json"
    assert template.names == {"prompt", "turns"}
    filled = template.filled({"prompt": 'x"', "turns": ("1", '2"')})
    assert json.loads(filled) == {"a": 'x"', "b": '<x">', "turns": ["1", '2"']}


def test_a_form_is_percent_encoded_and_other_text_is_not():
    assert Template("q={prompt}&n=1", form=True).filled({"prompt": "a&b=c é"}) == "q=a%26b%3Dc+%C3%A9&n=1"
    assert Template("Ask: {prompt}!").filled({"prompt": 'a"b'}) == 'Ask: a"b!'
    assert Template("Ask: {prompt}!").shape == "text"


def test_braces_that_are_no_names_stay():
    assert (
        Template('{"a": {}, "b": "{ prompt }", "c": "{1}"}').filled({})
        == '{"a": {}, "b": "{ prompt }", "c": "{1}"}'
    )


def test_turns_inside_a_text_are_refused():
    for text in ('{"q": "{turns}"}', "all: {turns}"):
        with pytest.raises(ValueError, match="expected it in place of a JSON list"):
            Template(text)


def test_a_missing_key_is_an_error_and_never_sent_as_it_stands():
    assert "audience" not in PLACES
    with pytest.raises(AgentError) as error:
        Template('{"x": "{audience}"}').filled(structured("productName: x"))
    assert error.value.message == "the prompt has no `audience`, which the request's template names"
    assert error.value.code == "agent.template"


def test_what_is_put_in_is_not_looked_at_again():
    filled = Template("{prompt}/{session}").filled({"prompt": "{session}", "session": "s"})
    assert filled == "{session}/s"
