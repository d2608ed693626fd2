"""`faultwire.report.compiled`: templates are compiled once, and nobody else's code is run."""

from __future__ import annotations

from pathlib import Path

from jinja2 import DictLoader, Environment

from faultwire.report.compiled import kept


def page(place: Path, text: str = "{{ x }}!") -> str:
    environment = Environment(loader=DictLoader({"a": text}), autoescape=True, bytecode_cache=cache(place))
    return environment.get_template("a").render(x="<1>")


def cache(place: Path):  # type: ignore[no-untyped-def]
    return kept({"XDG_CACHE_HOME": str(place)})


def files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.cache"))


def test_a_template_is_compiled_once_and_anew_when_it_changed(tmp_path: Path) -> None:
    assert page(tmp_path) == "&lt;1&gt;!"
    (first,) = files(tmp_path)
    made = first.stat().st_mtime_ns
    assert page(tmp_path) == "&lt;1&gt;!"
    assert [one.stat().st_mtime_ns for one in files(tmp_path)] == [made]
    assert page(tmp_path, "{{ x }}?") == "&lt;1&gt;?"
    first.write_bytes(first.read_bytes()[:40])
    assert page(tmp_path) == "&lt;1&gt;!", "a broken one is made anew"


def test_damaged_code_is_not_run(tmp_path: Path) -> None:
    """A constant of the template, changed in the file, would be shown by who took it."""
    page(tmp_path, "right")
    (kept_file,) = files(tmp_path)
    code = kept_file.read_bytes()
    assert code.count(b"right") == 1
    kept_file.write_bytes(code.replace(b"right", b"wrong"))
    assert page(tmp_path, "right") == "right"
    assert b"wrong" not in kept_file.read_bytes(), "it is made anew"
    for at in range(0, len(code), 7):
        kept_file.write_bytes(code[:at] + bytes([code[at] ^ 0x55]) + code[at + 1 :])
        assert page(tmp_path, "right") == "right"
    assert [one for one in kept_file.parent.iterdir() if one != kept_file] == []


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    assert cache(tmp_path) is not None
    for place in (tmp_path / "faultwire", tmp_path / "faultwire" / "templates"):
        place.chmod(0o720)
        assert cache(tmp_path) is None
        place.chmod(0o700)


def test_without_a_place_every_process_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cache(tmp_path / "file") is None
    assert kept({}) is None
    assert kept({"XDG_CACHE_HOME": "relative", "HOME": str(tmp_path)}) is not None
    assert (tmp_path / ".cache" / "faultwire" / "templates").is_dir()


def test_a_page_renders_without_a_cache(tmp_path: Path) -> None:
    found = cache(tmp_path)
    found.directory = str(tmp_path / "gone")
    environment = Environment(loader=DictLoader({"a": "x"}), autoescape=True, bytecode_cache=found)
    assert environment.get_template("a").render() == "x"
    assert files(tmp_path) == []
