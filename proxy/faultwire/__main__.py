"""The `faultwire` command, and `python -m faultwire`."""

import atexit
import os
import sys

from faultwire import child_main

INSTALLED = ("site-packages", "dist-packages")


def own_imports(path: list[str], pythonpath: str, working: str) -> list[str]:
    """The search path without the folders of the caller's project: those in `PYTHONPATH`, and the working
    directory where `python -m` put it first. The folders of this installation stay.

    An `email.py` in one of them would run in our place, since they are searched before the standard library.
    """
    first = [] if sys.flags.safe_path else [working]
    foreign = {os.path.abspath(part) for part in pythonpath.split(os.pathsep) if part}
    return [
        part
        for at, part in enumerate(path)
        if _is_ours(part) or not (os.path.abspath(part) in foreign or (at == 0 and part in ("", *first)))
    ]


def _is_ours(part: str) -> bool:
    """Is it the folder that holds this package, or one of the interpreter's own?"""
    place = os.path.abspath(part) if part else os.getcwd()
    library = os.path.dirname(os.__file__)
    below = (sys.prefix + os.sep, sys.base_prefix + os.sep)
    return (
        place in (child_main.folder(), library)
        or place.startswith(library + os.sep)
        or (place.startswith(below) and os.path.basename(place) in INSTALLED)
    )


class Leaving:
    """Ends the process with its exit code once all else that is to be done at its end has been.

    To take an interpreter apart that has imported all this needs 0.12 s of CPU: four fifths of what a command
    does once its engine has died, while its user waits.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        """None where the interpreter is to say how it ended: it prints what is no number."""
        atexit.register(self)  # the first of all, so the last that is called; threads have ended by then

    def __call__(self) -> None:
        """End it, if its code is known."""
        if self.code is not None:
            child_main.leave(self.code)  # where output cannot be written, it raises: the interpreter ends it


def main() -> None:
    """Run the command; imports nothing else before the search path is ours."""
    leaving = Leaving()
    sys.path[:] = own_imports(sys.path, os.environ.get("PYTHONPATH", ""), os.getcwd())
    from faultwire.cli import main as command

    try:
        command(prog_name="faultwire")
    except SystemExit as end:
        leaving.code = end.code if isinstance(end.code, int) else None
        raise


if __name__ == "__main__":
    main()
