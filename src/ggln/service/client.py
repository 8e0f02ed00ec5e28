"""A client of the service in plain Python: it needs nothing but the standard library."""

import http.client
import json
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

Features = Mapping[str, float | None] | Sequence[float | None]
RETRIED = (502, 503, 504)
FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5
"""Seconds between tries, doubled each time."""


class ServiceError(Exception):
    """The service refused a call; `code` is for programs, the message for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Client:
    """Calls a service. Any number of threads may share one.

    Parameters
    ----------
    url : str
        Where the service is, such as "http://127.0.0.1:8080".
    token : str, optional
        Of the role that the calls need.
    timeout : float
        Seconds that one try may take.
    patience : float
        Seconds for which a call is tried again while the service cannot be reached, as while it is restarted.
        Calls that learn are safe to repeat if they name an event or a `key`.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8080")
    >>> client.url
    'http://127.0.0.1:8080'
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 30.0, patience: float = 0.0
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be like http://127.0.0.1:8080, got {url!r}")
        self.url, self.token, self.timeout, self.patience = url.rstrip("/"), token, timeout, patience
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._own = threading.local()
        self._lock, self._all = threading.Lock(), list[http.client.HTTPConnection]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of all threads; the next call opens a new one."""
        with self._lock:
            connections, self._all = self._all, []
        for connection in connections:
            connection.close()
        self._own = threading.local()

    def _drop(self) -> None:
        """Close this thread's connection."""
        connection = self._own.__dict__.pop("connection", None)
        if connection is not None:
            connection.close()
            with self._lock:
                self._all = [one for one in self._all if one is not connection]

    # Models --------------------------------------------------------------------------------------------

    def create(self, name: str, kind: str, **more: Any) -> dict[str, Any]:
        """Make a model of a kind, with `settings`, `arms`, `classes`, `wait_seconds` and so on."""
        return self._json("PUT", f"/v1/models/{_quoted(name)}", {"kind": kind, **more})

    def models(self) -> list[dict[str, Any]]:
        """Return all models."""
        found: list[dict[str, Any]] = self._json("GET", "/v1/models")["models"]
        return found

    def model(self, name: str) -> dict[str, Any]:
        """Return a model: rows, pending events, scores, version."""
        return self._json("GET", f"/v1/models/{_quoted(name)}")

    def export(self, name: str) -> bytes:
        """Return the model's file, for `ggln.load`."""
        return self._call("GET", f"/v1/models/{_quoted(name)}/export")

    def send_file(self, name: str, content: bytes) -> dict[str, Any]:
        """Let a model be what a file holds."""
        found = self._call("PUT", f"/v1/models/{_quoted(name)}/import", content, "application/octet-stream")
        return _parsed(found)

    def evaluate(self, name: str) -> dict[str, Any]:
        """Return what policies would earn, and how watchers compare."""
        return self._json("GET", f"/v1/models/{_quoted(name)}/evaluate")

    # Events --------------------------------------------------------------------------------------------

    def predict(self, name: str, features: Features, event: str | None = None) -> dict[str, Any]:
        """Return a prediction, and the id of its event."""
        return self._act(name, "predict", {"features": features} | _given(event=event))

    def predict_rows(self, name: str, rows: Sequence[Features]) -> list[dict[str, Any]]:
        """Return a prediction for each row."""
        body = {"rows": [{"features": row} for row in rows]}
        found: list[dict[str, Any]] = self._act(name, "predict", body)["predictions"]
        return found

    def learn(
        self,
        name: str,
        target: Any,
        event: str | None = None,
        features: Features | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Learn a target, of an event or of features; when this returns, it is on disk."""
        body = {"target": target} | _given(event=event, features=features)
        return self._act(name, "learn", body, key)

    def learn_rows(
        self, name: str, rows: Sequence[Mapping[str, Any]], key: str | None = None
    ) -> dict[str, Any]:
        """Learn rows, each with a `target` and its `features` or `event`, all of them or none."""
        return self._act(name, "learn", {"rows": list(rows)}, key)

    def decide(self, name: str, context: Features, event: str | None = None, **made: Any) -> dict[str, Any]:
        """Return a decision; or note one that was made elsewhere, as `arm` and `propensity`."""
        return self._act(name, "decide", {"context": context} | _given(event=event) | made)

    def reward(self, name: str, event: str, reward: float) -> dict[str, Any]:
        """Learn what a decision paid; when this returns, it is on disk."""
        return self._act(name, "reward", {"event": event, "reward": reward})

    def figures(self, name: str) -> Iterator[dict[str, Any]]:
        """Give the live figures of a model, one after the other, as long as the service runs."""
        connection = self._kind(self._host, self._port, timeout=self.timeout)
        try:
            connection.request(
                "GET", f"{self._base}/v1/models/{_quoted(name)}/events", headers=self._headers()
            )
            response = connection.getresponse()
            if response.status != 200:
                raise _refusal(response.status, response.read())
            for line in response:
                if line.startswith(b"data: "):
                    yield _parsed(line[len(b"data: ") :])
        finally:
            connection.close()

    # Calls ---------------------------------------------------------------------------------------------

    def _act(self, name: str, call: str, body: Mapping[str, Any], key: str | None = None) -> dict[str, Any]:
        return self._json("POST", f"/v1/models/{_quoted(name)}/{call}", body, key)

    def _json(self, method: str, path: str, body: Any = None, key: str | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body, default=_plain, allow_nan=False).encode()
        return _parsed(self._call(method, path, content, "application/json", key))

    def _headers(self, **more: str | None) -> dict[str, str]:
        token = None if self.token is None else f"Bearer {self.token}"
        known = {"Authorization": token, **{name.replace("_", "-"): value for name, value in more.items()}}
        return {name: value for name, value in known.items() if value is not None}

    def _call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str | None = None,
        key: str | None = None,
    ) -> bytes:
        """Make a call, again and again while the service cannot be reached and patience lasts."""
        headers = self._headers(Content_Type=kind if body is not None else None, Idempotency_Key=key)
        until, pause, fresh = time.monotonic() + self.patience, FIRST_PAUSE, False
        while True:
            try:
                fresh = getattr(self._own, "connection", None) is None
                status, found = self._try(method, path, body, headers)
                if status < 300:
                    return found
                if status not in RETRIED or time.monotonic() > until:
                    raise _refusal(status, found)
            except (OSError, http.client.HTTPException):
                self._drop()
                if not fresh and method == "GET":
                    continue  # the service had closed a connection that was kept
                if time.monotonic() > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _try(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._kind(self._host, self._port, timeout=self.timeout)
            with self._lock:
                self._all.append(connection)
        connection.request(method, self._base + path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays into what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be sent as JSON")


def _parsed(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content)
    return found


def _refusal(status: int, content: bytes) -> ServiceError:
    try:
        error = json.loads(content)["error"]
        return ServiceError(status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return ServiceError(status, "unknown", f"status {status}: {content[:200]!r}")
