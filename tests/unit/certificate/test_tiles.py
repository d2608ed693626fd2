"""The files of a log are those of C2SP tlog-tiles."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.unit.certificate.witnessed import entry

from faultwire import _core
from faultwire.certificate import tiles
from faultwire.tape.evidence.signed_note import NoteError


@pytest.mark.parametrize(
    ("number", "width", "expected"),
    [
        (0, 1, "tile/0/000.p/1"),
        (0, 255, "tile/0/000.p/255"),
        (999, 256, "tile/0/999"),
        (1000, 3, "tile/0/x001/000.p/3"),
        (1234067, 256, "tile/0/x001/x234/067"),
    ],
)
def test_a_tile_has_the_path_of_the_specification(number: int, width: int, expected: str) -> None:
    assert tiles.path(0, number, width) == expected


def grown(entries: Sequence[bytes]) -> dict[str, bytes]:
    """All files of a log that grew entry by entry."""
    files: dict[str, bytes] = {}
    for size in range(1, len(entries) + 1):
        files.update(tiles.changed(entries[:size]))
    return files


def test_the_files_of_every_size_hold_its_entries_and_hashes() -> None:
    entries = [entry(number) for number in range(515)]
    files = grown(entries)
    leaves = [_core.leaf_hash(one) for one in entries]
    for size in (1, 2, 255, 256, 257, 511, 512, 513, 515):
        found: list[bytes] = []
        for name, full, width in tiles.bundles(size):
            found += tiles.entries_of(files[name], width)
            assert full in (name, name.partition(".p/")[0])
        assert found == entries[:size]
        width = (size - 1) % 256 + 1
        tile = files[tiles.path(0, (size - 1) // 256, width)]
        assert tile == b"".join(leaves[size - width : size])
    assert files["tile/1/000.p/2"] == _core.merkle_root(leaves[:256]) + _core.merkle_root(leaves[256:512])
    assert not any(name.startswith("tile/2/") for name in files)
    assert "tile/0/002.p/3" in files


def test_the_third_level_begins_with_65536_entries() -> None:
    entries = [entry(number) for number in range(65536)]
    files = dict(tiles.changed(entries))
    leaves = [_core.leaf_hash(one) for one in entries]
    assert files["tile/2/000.p/1"] == _core.merkle_root(leaves)
    assert len(files["tile/1/000"]) == 256 * 32
    assert len(files["tile/entries/255"]) == 256 * 34


def test_a_bundle_that_is_short_or_has_other_entries_is_refused() -> None:
    bundle = dict(tiles.changed([entry(0), entry(1)]))["tile/entries/000.p/2"]
    assert tiles.entries_of(bundle, 1) == [entry(0)]
    for bad in (bundle[:-1], b"", bundle.replace(b"\x00\x20", b"\x00\x21", 1)):
        with pytest.raises(NoteError):
            tiles.entries_of(bad, 2)
