"""Many invocations of an agent at once, with chaos on: how much it does, where it bends, and what differs."""
