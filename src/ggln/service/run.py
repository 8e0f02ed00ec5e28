"""The server: a socket, an application, and an orderly end."""

import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from ggln.service import constants
from ggln.service.app import make_app
from ggln.service.auth import LOOPBACK, Guard
from ggln.service.metrics import Metrics
from ggln.service.service import Service

GRACE_SECONDS = 5
"""How long requests that are under way have when the service is told to end."""
SWITCH_SECONDS = 0.0005
"""How long one thread may keep others waiting: with Python's 5 ms, answers would wait for the learner."""


class Server(uvicorn.Server):
    """A server that ends in peace when it is told to, and does not raise the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let the signals that end a process end the server."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go of those who watch, who would stay for ever, and wait for the others."""
        self.config.app.state.ending.set()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    return host in LOOPBACK or host.startswith("127.")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; what is wrong with it is said in one sentence."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
        # asyncio does so only for sockets that name their protocol; half of each answer would wait 40 ms
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, OverflowError) as error:
        raise ValueError(f"{host}, port {port}, cannot be listened to: {error}") from error


def make_server(service: Service, tokens: list[tuple[bytes, int]] | None, host: str) -> Server:
    """Return a server; to be run with sockets."""
    metrics = Metrics()
    service.watch = metrics
    app = make_app(service, Guard(tokens, (host,)), metrics)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=constants.CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config)


def serve(
    service: Service,
    tokens: list[tuple[bytes, int]] | None,
    listening: socket.socket,
    host: str,
    said: Callable[[Any], None],
) -> None:
    """Serve until a signal comes; said: is told the port when calls are answered."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    server = make_server(service, tokens, host)
    try:
        service.start()
        said(listening.getsockname()[1])
        server.run(sockets=[listening])
    finally:
        service.close()
        listening.close()
        sys.setswitchinterval(before)
