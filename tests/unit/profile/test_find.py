from __future__ import annotations

import pytest

from faultwire.errors import ProfileError
from faultwire.profile.find import available, builtin, find


@pytest.fixture
def here(tmp_path):
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text("faults: []")
    (tmp_path / "profiles" / "calm.yaml").write_text("faults: []")
    return tmp_path


def test_a_path_is_taken_as_it_is(here, monkeypatch):
    monkeypatch.chdir(here)
    for name in ("profiles/mine.yaml", "./profiles/mine.yaml", str(here / "profiles" / "mine.yaml")):
        assert find(name).samefile(here / "profiles" / "mine.yaml")


def test_a_name_leads_to_the_folder_here_before_the_built_in_ones(here):
    assert find("mine", here) == here / "profiles" / "mine.yaml"
    assert find("calm", here) == here / "profiles" / "calm.yaml"
    assert find("api_outage", here) == builtin() / "api_outage.yaml"


def test_a_name_works_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find("calm") == builtin() / "calm.yaml"


def test_available_states_whose_each_is(here):
    origins = {place.name: place.origin for place in available(here)}
    assert origins["mine"] == origins["calm"] == "local"
    assert origins["api_outage"] == "built-in"
    assert list(origins) == sorted(origins)


def test_in_a_checkout_the_built_in_ones_are_not_local():
    assert {place.origin for place in available(builtin().parent)} == {"built-in"}


def test_a_misspelled_name_gets_the_nearest(here):
    with pytest.raises(ProfileError) as caught:
        find("api_outag", here)
    assert caught.value.render() == (
        "profile.not_found: found no profile `api_outag`, expected a name or a path\n"
        "hint: did you mean `api_outage`?"
    )


def test_a_missing_file_is_named(here):
    with pytest.raises(ProfileError) as caught:
        find("nowhere/x\x1b.yaml", here)
    assert caught.value.render() == (
        "nowhere/x\\x1b.yaml: profile.not_found: found no file `nowhere/x\\x1b.yaml`, expected a profile\n"
        "hint: `faultwire profiles list` names the built-in ones"
    )


@pytest.mark.parametrize("name", ["..", ".", "", "../calm", "profiles"])
def test_a_name_cannot_climb(here, name):
    with pytest.raises(ProfileError):
        find(name, here)
