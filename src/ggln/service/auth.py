"""Who may do what: bearer tokens from a file, compared in constant time."""

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from ggln.service.errors import RefusedError

ROLES = ("read", "learn", "admin")
"""Each may do what those before it may: look and predict; decide and learn; make and replace models."""
SHORTEST = 16
"""Characters of a token: shorter ones can be guessed."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def read_tokens(path: Path) -> list[tuple[bytes, int]]:
    """Return the digests of tokens and the ranks of their roles, from lines such as `learn TOKEN`."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or words[0] not in ROLES or len(words[1]) < SHORTEST:
            raise ValueError(
                f"{str(path)!r}, line {number}: expected a role ({', '.join(ROLES)}) and a token of at least "
                f"{SHORTEST} characters"
            )
        found.append((_digest(words[1]), ROLES.index(words[0])))
    if not found:
        raise ValueError(f"{str(path)!r} holds no token")
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _place(url: str) -> SplitResult:
    """Return the parts of a URL; one that is none has no parts."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


class Guard:
    """Lets requests pass, or refuses them."""

    def __init__(self, tokens: list[tuple[bytes, int]] | None, hosts: tuple[str, ...] = ()) -> None:
        self.tokens = tokens
        self.hosts = {*LOOPBACK, *hosts}
        self.known: set[str] = set()  # the last one, with its port

    def check(self, headers: Mapping[bytes, bytes], role: str) -> None:
        """Refuse who may not do what a role may; headers are as they came, their names in small letters."""
        host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        if origin and _place(origin).netloc != host:
            raise RefusedError(403, "other_origin", "a page of another origin may not call this service")
        if self.tokens is None:
            # a name that an attacker lets point to this machine would make his page one of ours
            if host not in self.known:
                if _place(f"//{host}").hostname not in self.hosts:
                    raise RefusedError(403, "other_host", f"this service is not known as {host!r}")
                self.known = {host}
            return
        scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        given, rank = _digest(token.strip()), -1
        for digest, own in self.tokens:  # all of them, whichever fits
            if hmac.compare_digest(given, digest):
                rank = max(rank, own)
        if scheme.lower() != "bearer" or rank < 0:
            raise RefusedError(401, "unauthorized", "send a token: Authorization: Bearer TOKEN")
        if rank < ROLES.index(role):
            raise RefusedError(403, "forbidden", f"this token may not do what needs the role {role}")
