"""A configuration as the runner reads it: frozen, every name in it looked up.

Made by `faultwire.config.load.load`; the sections and their bounds are those of `faultwire.yaml`,
version "2.0", which takes every key of Flakestorm's 1.0 and 2.0 files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, NonNegativeInt

from faultwire.profile.entry_model import Frozen

if TYPE_CHECKING:
    from faultwire.agents.settings import AgentSettings
    from faultwire.checks._api import Check
    from faultwire.contract.cells import Prompt, Scenario
    from faultwire.profile.model import Profile, ToolSite

Weight = Annotated[float, Field(ge=0, le=1)]
MUTATION_TYPES = (
    "paraphrase",
    "noise",
    "tone_shift",
    "prompt_injection",
    "encoding_attacks",
    "context_manipulation",
    "length_extremes",
)
"""What is made where a file names no types."""


class ProxySettings(Frozen):
    """How the agent is made to use us, and what it may call."""

    capture: Literal["env", "base-url"] = "env"
    allow_hosts: tuple[str, ...] = ()
    seed: int | None = None
    upstream_ca: Path | None = None
    client_certs: Mapping[str, Path] = Field(default_factory=dict)
    """Host, or glob of hosts, to the certificate and key that its servers are shown."""
    mock: bool = False
    """Does the mock provider stand in for every model host? Then no other server is called, ..."""
    mock_except: tuple[str, ...] = ()
    """... except for these hosts."""
    script: Path | None = None
    """What the mock answers."""
    reverse: Mapping[str, str] = Field(default_factory=dict)
    """Route name to base URL."""
    redact: Mapping[str, Any] = Field(default_factory=dict)
    encrypt_bodies: bool = False
    """Are bodies encrypted on the tape, under keys that are not on it?"""
    listen: str = "127.0.0.1:0"


class ModelSettings(Frozen):
    """The model that writes mutations. `api_key` is the resolved key: it came as a whole `${NAME}`."""

    provider: Literal["ollama", "openai", "anthropic", "google"] = "ollama"
    name: str = "qwen3:8b"
    api_key: Annotated[str | None, Field(repr=False)] = None
    base_url: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.8


class MutationSettings(Frozen):
    """How many mutants of each golden prompt, of which types, by which engine."""

    count: Annotated[int, Field(ge=1, le=50)] = 10
    types: tuple[str, ...] = MUTATION_TYPES
    weights: Mapping[str, float] = Field(default_factory=dict)
    custom_templates: Mapping[str, str] = Field(default_factory=dict)
    engine: Literal["built-in", "model"] = "built-in"


class ScoringSettings(Frozen):
    """Weights of the phases in the overall score, which sum to 1 ± 0.001 or are all 0, and the least scores
    of single scenarios of the contract."""

    mutation: Weight = 0.20
    chaos: Weight = 0.35
    contract: Weight = 0.35
    replay: Weight = 0.10
    scenarios: Mapping[str, Weight] = Field(default_factory=dict)
    """Floors, 0 to 1, by the name of a scenario."""

    @property
    def weights(self) -> dict[str, float]:
        """The weights alone, by phase."""
        return self.model_dump(exclude={"scenarios"})


class AdvancedSettings(Frozen):
    """How a run is played."""

    concurrency: Annotated[int, Field(ge=1, le=100)] = 10
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    seed: int | None = None


class OutputSettings(Frozen):
    """Where reports go besides the run's folder. `path` None writes no second copy."""

    format: Literal["html", "json", "terminal", "junit", "md"] = "html"
    path: Path | None = None
    filename_template: str | None = None


class SourceFilter(Frozen):
    """Which runs of a source are taken."""

    status: Literal["error", "warning", "all"] = "error"
    date_range: str | None = None
    min_latency_ms: NonNegativeInt | None = None


class Source(Frozen):
    """Where incident sessions come from: a LangSmith project, or one run of it."""

    type: Literal["langsmith", "langsmith_run"]
    project: str | None = None
    run_id: str | None = None
    filter: SourceFilter = SourceFilter()
    auto_import: bool = False


@dataclass(frozen=True, slots=True)
class ContractSettings:
    """A contract with its names looked up."""

    name: str
    invariants: tuple[Check, ...]
    scenarios: tuple[Scenario, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class ReplaysSettings:
    """Incident sessions: each as plain data (or `{"file": PATH}`), with the place where it stands, and the
    sources that more come from. Sessions are read and checked by `faultwire.replay`."""

    sessions: tuple[Mapping[str, Any], ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """A whole `faultwire.yaml`. `chaos` is the global section: only `run --chaos` and `ci`'s chaos phase
    use it, and it never reaches a scenario of the contract. `folder` is what relative paths start from."""

    path: Path
    folder: Path
    digest: str
    """SHA-256 of the file: runs of the same file make a trend."""
    agent: AgentSettings
    prompts: tuple[Prompt, ...]
    invariants: tuple[Check, ...] = ()
    proxy: ProxySettings = field(default_factory=ProxySettings)
    tools: Mapping[str, ToolSite] = field(default_factory=dict)
    model: ModelSettings | None = None
    mutations: MutationSettings = field(default_factory=MutationSettings)
    mutates: bool = False
    """Is there a `mutations` section? `ci` plays no mutations that nobody asked for."""
    chaos: Profile | None = None
    contract: ContractSettings | None = None
    replays: ReplaysSettings | None = None
    scoring: ScoringSettings = field(default_factory=ScoringSettings)
    advanced: AdvancedSettings = field(default_factory=AdvancedSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    warnings: tuple[str, ...] = ()
    """Keys that mean nothing here, each with its place and the nearest valid one."""

    @property
    def seed(self) -> int:
        """The seed of the run: `advanced.seed`, else `proxy.seed`, else 42."""
        given = (self.advanced.seed, self.proxy.seed, 42)
        return next(seed for seed in given if seed is not None)
