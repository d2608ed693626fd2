import pytest

from faultwire.errors import FaultwireError
from faultwire.mutations._kept import Kept

ASKED = {"provider": "ollama", "model": "m", "type": "noise", "prompt": "p", "seed": 1, "number": 1}


def test_what_was_kept_is_found_by_what_was_asked(tmp_path):
    kept = Kept(tmp_path / "cache" / "mutations")
    assert kept.get(ASKED) is None
    kept.put(ASKED, "né\n\x00")
    assert kept.get(ASKED) == "né\n\x00"
    for key, other in {
        "provider": "x",
        "model": "x",
        "type": "x",
        "prompt": "x",
        "seed": 2,
        "number": 2,
    }.items():
        assert kept.get({**ASKED, key: other}) is None


def test_for_its_owner_alone_and_without_drafts(tmp_path):
    folder = tmp_path / "cache" / "mutations"
    Kept(folder).put(ASKED, "text")
    (file,) = folder.iterdir()
    assert [oct(p.stat().st_mode & 0o777) for p in (folder.parent, folder, file)] == [
        "0o700",
        "0o700",
        "0o600",
    ]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"answer": 3}', b"\xff", b"[" * 100_000])
def test_what_cannot_be_read_is_absent_and_written_anew(tmp_path, data):
    kept = Kept(tmp_path)
    kept.put(ASKED, "text")
    (file,) = tmp_path.iterdir()
    file.write_bytes(data)
    assert kept.get(ASKED) is None
    kept.put(ASKED, "new")
    assert kept.get(ASKED) == "new"


def test_nothing_is_kept_without_a_folder_and_a_folder_that_is_a_file_is_an_error(tmp_path):
    Kept(None).put(ASKED, "text")
    assert Kept(None).get(ASKED) is None
    (tmp_path / "file").write_text("")
    with pytest.raises(FaultwireError, match="cannot keep a model's answer below"):
        Kept(tmp_path / "file" / "cache").put(ASKED, "text")
