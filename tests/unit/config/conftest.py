from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from faultwire.config.load import load
from faultwire.config.model import Config
from faultwire.errors import ConfigError

AGENT = "agent: {type: command, command: [agent, '{prompt}']}\n"
BASE = AGENT + "golden_prompts: [hello]\n"

Load = Callable[..., Config]
Refused = Callable[..., list[str]]


@pytest.fixture
def config(tmp_path: Path) -> Load:
    """Load a text as a file, after `BASE` unless it has all of its own."""

    def made(text: str, *, base: str = BASE, environ: Mapping[str, str] | None = None) -> Config:
        path = tmp_path / "faultwire.yaml"
        path.write_text(base + text)
        return load(path, environ=environ or {})

    return made


@pytest.fixture
def refused(config: Load, tmp_path: Path) -> Refused:
    """The same for a text that must be refused: what is said, a line for each problem, places relative."""

    def made(text: str, *, base: str = BASE, environ: Mapping[str, str] | None = None) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            config(text, base=base, environ=environ)
        return [str(one).replace(f"{tmp_path}/", "") for one in (caught.value, *caught.value.also)]

    return made


@pytest.fixture
def warned(config: Load, tmp_path: Path) -> Refused:
    """The warnings of a text, places relative."""

    def made(text: str, *, base: str = BASE, environ: Mapping[str, str] | None = None) -> list[str]:
        found = config(text, base=base, environ=environ).warnings
        return [one.replace(f"{tmp_path}/", "") for one in found]

    return made
