"""`faultwire.config.load`: a whole file at once."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.config.load import KEYS, load
from faultwire.errors import ConfigError


def test_the_scenarios_of_an_invariant_are_columns_of_the_contract(config, refused):
    text = "contract: {invariants: [{type: completes, scenarios: [NAME]}], chaos_matrix: [{name: calm}]}"
    contract = config(text.replace("NAME", "calm")).contract
    assert contract is not None
    assert contract.invariants[0].scenarios == ("calm",)
    assert refused(text.replace("NAME", "clam")) == [
        "faultwire.yaml:3:55: config.unknown_scenario: found the scenario `clam`, expected one of "
        "`chaos_matrix`"
    ]


def test_the_least_that_a_file_needs(config, tmp_path):
    found = config("")
    assert isinstance(found.agent, CommandSettings)
    assert found.agent.command == ("agent", "{prompt}")
    assert [(p.id, p.text, p.invariants) for p in found.prompts] == [("p1", "hello", ())]
    assert (found.contract, found.chaos, found.model, found.replays) == (None, None, None, None)
    assert (found.seed, found.advanced.concurrency, found.mutations.count) == (42, 10, 10)
    assert (found.folder, found.warnings) == (tmp_path, ())
    assert found.digest == sha256((tmp_path / "faultwire.yaml").read_bytes()).hexdigest()


def test_all_problems_are_reported_at_once_in_order(refused):
    said = refused(
        """
agent: {type: comand}
golden_prompts: []
proxy: {moc: true}
invariants: [{type: contain}, {type: contains}, {type: regex, pattern: '('}]
contract: {invariants: [{type: completes}], chaos_matrix: [{name: a}, {name: a}, {name: b, profile: none}]}
mutations: {count: 99, types: [noize]}
advanced: {concurrency: 0}
output: {format: pdf}
""",
        base="version: '9'",
    )
    assert said == [
        'faultwire.yaml:1:10: config.version: found `9` for `version`, expected `"2.0"` or `"1.0"`',
        "faultwire.yaml:2:15: config.bad_value: found `comand` for `agent.type`, expected `command`, `http`, "
        "`openai`, `python`, `langchain`",
        "faultwire.yaml:3:17: config.empty: found no `golden_prompts`, expected at least one prompt",
        "faultwire.yaml:4:9: config.unknown_key: found key `moc`, expected a key of `proxy`",
        "faultwire.yaml:5:21: config.unknown_check: found check `contain`, expected a known one",
        "faultwire.yaml:5:31: config.bad_value: found no `value` in `contains`, expected text",
        "faultwire.yaml:5:72: config.bad_value: in `regex`: invalid pattern `(`: unclosed group",
        "faultwire.yaml:6:78: config.duplicate_id: found the scenario `a` again, expected it once (first on "
        "line 6)",
        "faultwire.yaml:6:101: config.not_found: found no profile `none`, expected a name or a path",
        "faultwire.yaml:7:20: config.bad_value: found `99` for `mutations.count`, expected an integer from 1 "
        "to 50",
        "faultwire.yaml:7:32: config.unknown_mutation: found mutation `noize`, expected a known one",
        "faultwire.yaml:8:25: config.bad_value: found `0` for `advanced.concurrency`, expected an integer "
        "from 1 to 100",
        "faultwire.yaml:9:18: config.bad_value: found `pdf` for `output.format`, expected `html`, `json`, "
        "`terminal`, `junit` or `md`",
    ]


def test_a_hint_names_the_nearest_valid_name(config):
    with pytest.raises(ConfigError) as caught:
        config("proxy: {moc: true}\nmutations: {types: [noize]}")
    assert [one.hint for one in (caught.value, *caught.value.also)] == [
        "did you mean `mock`?",
        "did you mean `noise`?",
    ]


def test_beside_errors_a_misspelt_key_is_reported_for_it_may_be_what_is_missing(config):
    with pytest.raises(ConfigError) as caught:
        config("", base="agent: {comand: [a, '{prompt}'], xyzzy: 1}\ngolden_promts: [hi]\n")
    assert [
        (one.where.line, one.where.column, one.message, one.hint)
        for one in (caught.value, *caught.value.also)
    ] == [
        (1, 1, "found no `golden_prompts`, expected at least one prompt", None),
        (1, 8, "found no `endpoint` in `agent`, expected text", None),
        (1, 9, "found key `comand`, expected a key of `agent`", "did you mean `command`?"),
        (
            2,
            1,
            "found key `golden_promts`, expected a key of a configuration",
            "did you mean `golden_prompts`?",
        ),
    ]


def test_a_word_of_a_list_has_the_nearest_one_as_its_hint(config):
    with pytest.raises(ConfigError) as caught:
        config("invariants: [{type: completes, when: llm_faults_activ}, {type: completes, severity: fatal}]")
    assert [one.hint for one in (caught.value, *caught.value.also)] == [
        "did you mean `llm_faults_active`?",
        None,
    ]


def test_an_unknown_section_is_a_warning_with_the_nearest_one(warned):
    assert warned("mutation: {}\nxyzzy: 1") == [
        "faultwire.yaml:3:1: `mutation` is not a key of a configuration and is ignored; "
        "did you mean `mutations`?",
        "faultwire.yaml:4:1: `xyzzy` is not a key of a configuration and is ignored; known: "
        + ", ".join(sorted(KEYS)),
    ]


@pytest.mark.parametrize("text", ["", "null", "# nothing\n"])
def test_an_empty_file_lacks_an_agent_and_prompts(refused, text):
    said = refused(text, base="")
    assert [line.split(": ")[1] for line in said] == ["config.bad_value", "config.empty"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a", "f:1:1: config.bad_value: found a list for a configuration, expected a mapping"),
        ("a: &b 1\nc: *b", "f:1:4: config.yaml: found an anchor, expected every value written out"),
        ("a: !!python/object:os.system 1", "f:1:4: config.yaml: found tag"),
        ("a: 1\na: 2", "f:2:1: config.yaml: found key `a` again, expected it once (first on line 1)"),
        ("a: [", "f:2:1: config.yaml: not YAML"),
        ("a: " + "[" * 30 + "]" * 30, "f:1:23: config.yaml: found more than 20 levels, expected fewer"),
        (
            "a: b\n" * 10 + "#" * 1_000_000,
            "f:11:999951: config.yaml: found more than 1000000 bytes, expected fewer",
        ),
        ("a: \x00", "f:1:4: config.yaml: found character U+0000, expected text"),
        ("---\na: 1\n---\nb: 1", "f:3:1: config.yaml: found a second document, expected one"),
    ],
)
def test_hostile_yaml(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    Path("f").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load("f", environ={})
    assert str(caught.value).startswith(said)
    assert caught.value.exit_code == 2


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"agent: \xff")
    with pytest.raises(ConfigError, match="found byte 0xff, expected UTF-8"):
        load(path, environ={})


@pytest.mark.parametrize("name", ["absent.yaml", "", "x" * 300, "a\0b"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / name, environ={})
    assert caught.value.code == "config.not_found"
    assert caught.value.hint == "`faultwire init` writes one"


@pytest.mark.parametrize("version", ["'2.0'", "2.0", "'1.0'", "1.0", "2", "~"])
def test_versions(config, version):
    assert config(f"version: {version}").prompts


@pytest.mark.parametrize("version", ["3", "'2.1'", "true", "[]", "latest"])
def test_unknown_versions(refused, version):
    assert "for `version`" in refused(f"version: {version}")[0]


def test_the_seed_is_that_of_the_run_else_of_the_proxy(config):
    assert config("advanced: {seed: 1}\nproxy: {seed: 2}").seed == 1
    assert config("proxy: {seed: 2}").seed == 2
    assert config("proxy: {seed: 0}").seed == 0


def test_a_contract_needs_invariants_and_a_scenario(refused):
    assert refused("contract: {}") == [
        "faultwire.yaml:3:11: config.empty: found no invariant in the contract, expected at least one",
        "faultwire.yaml:3:11: config.empty: found no scenario in the contract, expected at least one",
    ]


def test_scenarios_may_stand_at_the_top_level(config, refused, warned):
    found = config("contract: {invariants: [completes]}\nchaos_matrix: [{name: calm}]").contract
    assert found is not None
    assert [scenario.name for scenario in found.scenarios] == ["calm"]
    both = "contract: {invariants: [completes], chaos_matrix: [{name: a}]}\nchaos_matrix: [{name: b}]"
    assert refused(both) == [
        "faultwire.yaml:4:1: config.bad_value: found `chaos_matrix` beside `contract.chaos_matrix`, "
        "expected one of them"
    ]
    assert warned("chaos_matrix: [{name: b}]") == [
        "faultwire.yaml:3:1: `chaos_matrix` is ignored without a `contract`"
    ]


def test_the_name_of_a_contract(config):
    text = "contract: {%s invariants: [completes], chaos_matrix: [{name: a}], description: why}"
    assert config(text % "").contract.name == "default"
    found = config(text % "name: rules,").contract
    assert (found.name, found.description) == ("rules", "why")


def test_user_patterns_are_looked_at(config, refused):
    assert config("patterns: [{id: a, regex: x}]").prompts
    assert refused("patterns: [{id: a}]") == [
        "faultwire.yaml:3:11: config.invalid: `patterns[0]` needs a text `regex`"
    ]
