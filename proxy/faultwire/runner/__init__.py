"""The runner: starts what a run needs, plays its invocations, and keeps its folder."""
