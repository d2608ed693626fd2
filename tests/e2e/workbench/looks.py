"""Screenshots as kept references: what a view looks like at three widths, in light and in dark.

A reference is one small PNG for each view: its six screenshots, of which each cell of 12 by 12 pixels is one
pixel, the mean of its colours. Single glyphs vanish in it; what has moved, is cut or has another colour is
left. `FAULTWIRE_SNAPSHOTS=write` writes references anew; then look at the screenshots themselves, which
`FAULTWIRE_SHOTS=FOLDER` keeps.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

from tests.e2e.workbench.conftest import WIDTHS

KEPT = Path(__file__).parent / "looks"
HEIGHT = 900
CELL = 12
SCHEMES = ("light", "dark")
FAR = 40
"""How much a channel of a cell (0 to 255) may be off."""
MOST = 0.005
"""The share of cells that may be further off than that: texts that time made longer or shorter."""
SHRINK = """async ([shots, cell, kept]) => {
  const image = async (data) => {
    const made = new Image();
    made.src = `data:image/png;base64,${data}`;
    await made.decode();
    return made;
  };
  const pixels = (made) => {
    const canvas = new OffscreenCanvas(made.width, made.height);
    const context = canvas.getContext('2d', {willReadFrequently: true});
    context.drawImage(made, 0, 0);
    return context.getImageData(0, 0, made.width, made.height);
  };
  const mean = (shot) => {
    const across = Math.floor(shot.width / cell), down = Math.floor(shot.height / cell);
    const found = new ImageData(across, down);
    for (let y = 0; y < down; y++) for (let x = 0; x < across; x++) {
      const sum = [0, 0, 0];
      for (let j = 0; j < cell; j++) for (let i = 0; i < cell; i++) {
        const at = 4 * ((y * cell + j) * shot.width + x * cell + i);
        for (let k = 0; k < 3; k++) sum[k] += shot.data[at + k];
      }
      const to = 4 * (y * across + x);
      for (let k = 0; k < 3; k++) found.data[to + k] = Math.round(sum[k] / cell / cell / 16) * 16;
      found.data[to + 3] = 255;
    }
    return found;
  };
  const small = [];
  for (const one of shots) small.push(mean(pixels(await image(one))));
  const sheet = new OffscreenCanvas(small.reduce((sum, one) => sum + one.width, 0), small[0].height);
  const context = sheet.getContext('2d', {willReadFrequently: true});
  let left = 0;
  const places = [];
  for (const one of small) {
    context.putImageData(one, left, 0);
    places.push([left, one.width]);
    left += one.width;
  }
  const blob = new Uint8Array(await (await sheet.convertToBlob({type: 'image/png'})).arrayBuffer());
  const png = btoa(Array.from(blob, (one) => String.fromCharCode(one)).join(''));
  if (kept === null) return {png, off: null};
  const old = pixels(await image(kept[0]));
  if (old.width !== sheet.width || old.height !== sheet.height) return {png, off: places.map(() => 1)};
  const now = context.getImageData(0, 0, sheet.width, sheet.height);
  const off = places.map(([from, width]) => {
    let far = 0;
    for (let y = 0; y < sheet.height; y++) for (let x = from; x < from + width; x++) {
      const at = 4 * (y * sheet.width + x);
      if ([0, 1, 2].some((k) => Math.abs(now.data[at + k] - old.data[at + k]) > kept[1])) far++;
    }
    return far / (width * sheet.height);
  });
  return {png, off};
}"""


def shots(page: Any) -> list[bytes]:
    """The view as it is, at each width and in each scheme."""
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            found.append(page.screenshot(animations="disabled", caret="hide"))
    return found


def names(view: str) -> list[str]:
    """What each of the shots is called."""
    return [f"{view}-{width}-{scheme}" for scheme in SCHEMES for width in WIDTHS]


def differences(blank: Any, view: str, taken: list[bytes], kept: Path = KEPT) -> dict[str, float]:
    """The share of cells by which each shot is off its reference, for those that are off by too much. `blank`
    is a page without a policy, which does the arithmetic. Raises AssertionError without a reference."""
    path = kept / f"{view}.png"
    keep(view, taken)
    encoded = [base64.b64encode(one).decode() for one in taken]
    writes = os.environ.get("FAULTWIRE_SNAPSHOTS") == "write"
    assert writes or path.exists(), f"no reference {path}: FAULTWIRE_SNAPSHOTS=write writes it"
    old = None if writes else [base64.b64encode(path.read_bytes()).decode(), FAR]
    found = blank.evaluate(SHRINK, [encoded, CELL, old])
    if writes:
        path.write_bytes(base64.b64decode(found["png"]))
        return {}
    print({name: round(off, 4) for name, off in zip(names(view), found["off"], strict=True)})
    pairs = zip(names(view), found["off"], strict=True)
    return {name: round(off, 4) for name, off in pairs if off > MOST}


def keep(view: str, taken: list[bytes]) -> None:
    """Leave the screenshots for somebody who looks at them, where a folder was named."""
    folder = os.environ.get("FAULTWIRE_SHOTS")
    if folder is not None:
        for name, one in zip(names(view), taken, strict=True):
            (Path(folder) / f"{name}.png").write_bytes(one)
