"""What the proxy trusts, and where it may connect to."""
