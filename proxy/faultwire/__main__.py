"""`python -m faultwire`, the same as the `faultwire` command."""

from faultwire.cli import main

if __name__ == "__main__":
    main(prog_name="faultwire")
