"""What the service refuses: one sentence, with a code that programs can read and a status of HTTP."""


class RefusedError(Exception):
    """A request that is refused and has changed nothing."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message

    def body(self) -> dict[str, dict[str, str]]:
        """Return what is answered."""
        return {"error": {"code": self.code, "message": self.message}}


class DamagedError(RefusedError):
    """A model that cannot be read, which does not pass by itself; others are not concerned."""

    def __init__(self, message: str) -> None:
        super().__init__(503, "damaged", message)


def bad_request(message: str) -> RefusedError:
    """Return the refusal of what cannot be understood."""
    return RefusedError(400, "bad_request", message)


def conflict(code: str, message: str) -> RefusedError:
    """Return the refusal of what contradicts what is there."""
    return RefusedError(409, code, message)


def not_found(code: str, message: str) -> RefusedError:
    """Return the refusal of what is not there."""
    return RefusedError(404, code, message)


def storage_full(message: str) -> RefusedError:
    """Return the refusal of what cannot be kept."""
    return RefusedError(507, "storage", message)


def unavailable(message: str) -> RefusedError:
    """Return the refusal of what may work later."""
    return RefusedError(503, "unavailable", message)
