"""Why a batch, or a request, is not taken."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """An answer with a status of 4xx or 5xx. `code` is a word of the interface, `details` go with it."""

    def __init__(self, status: int, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details

    def document(self) -> dict[str, Any]:
        """The JSON of the answer, as the SDK prints it to its user."""
        status = "rejected" if self.status < 500 else "error"
        found = {"status": status, "code": self.code, "message": self.message, "details": self.details}
        return {"detail": found}
