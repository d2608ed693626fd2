"""Why this system makes no namespace for us, and which setting says so. Pure: settings in, an error out."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from faultwire.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[str], str | None]
    """The contents of a file below `/proc/sys`; None where there is none."""

LIMITS = ("user/max_user_namespaces", "user/max_net_namespaces", "user/max_mnt_namespaces")
CLONE = "kernel/unprivileged_userns_clone"
APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"
INSTEAD = "or leave out `--capture netns`, which captures by proxy variables and proves nothing of the rest"


def explain(step: str, code: int, read: Read, *, root: bool) -> CaptureError:
    """The error of a step that the kernel refused with `code` (errno)."""
    setting = blame(code, read, root=root)
    if setting is not None:
        name, found, wanted = setting
        return CaptureError(
            f"no namespace can be made for the command: `{name}` is `{found}`, expected {wanted}",
            code="capture.no_namespace",
            hint=f"an administrator sets it with `sysctl -w {name}={_value(wanted)}`, {INSTEAD}",
        )
    reason = errno.errorcode.get(code, str(code))
    if code in (errno.EPERM, errno.EACCES) and step == "unshare":
        hint = (
            "no setting of the kernel forbids it, so a container's seccomp or SELinux policy does: give the "
            f"container a policy that allows `unshare` (Docker: `--security-opt seccomp=FILE`), {INSTEAD}"
        )
    else:
        hint = f"`unshare --user --net --mount true` shows whether it can be done at all, {INSTEAD}"
    return CaptureError(
        f"no namespace can be made for the command: `{step}` failed ({reason})",
        code="capture.no_namespace",
        hint=hint,
    )


def blame(code: int, read: Read, *, root: bool) -> tuple[str, str, str] | None:
    """The setting that explains an errno: its name as sysctl has it, its value, and what is expected."""
    if code in (errno.ENOSPC, errno.EUSERS):
        for path in LIMITS:
            found = (read(path) or "").strip()
            if found == "0":
                return _dotted(path), found, "`1` or more"
        return None
    if code in (errno.EPERM, errno.EACCES) and not root:
        for path, bad, good in ((CLONE, "0", "`1`"), (APPARMOR, "1", "`0`")):
            if (read(path) or "").strip() == bad:
                return _dotted(path), bad, good
    return None


def _dotted(path: str) -> str:
    return path.replace("/", ".")


def _value(wanted: str) -> str:
    number = wanted.split("`")[1]
    return "15000" if "more" in wanted else number
