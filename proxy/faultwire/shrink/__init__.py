"""From a failing run to the smallest one that still fails."""
