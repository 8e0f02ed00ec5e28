"""Clients in a process of their own: as many requests as they can, or so many a second.

Arguments are JSON, and so is what is printed: requests a second, and quantiles of the time until the answer.
"""

import asyncio
import itertools
import json
import math
import random
import sys
import time
from collections.abc import Iterator
from typing import Any


def request(port: int, path: str, body: Any) -> bytes:
    """Return a request as it is sent."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return head.encode() + f"Content-Length: {len(content)}\r\n\r\n".encode() + content


class Connection:
    """A connection that is kept."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def open(self) -> None:
        """Open it."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def call(self, content: bytes) -> bytes:
        """Send a request, and return the body of the answer."""
        self.writer.write(content)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        body = await self.reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(body.decode())
        return body


def row(number: int) -> dict[str, Any]:
    """Return features and target by their number: a steady stream, in which nothing is new but the noise."""
    draw = random.Random(number)
    features = {f"f{i}": draw.gauss(0.0, 1.0) for i in range(6)}
    target = features["f0"] * features["f1"] + math.sin(features["f2"]) + 0.1 * draw.gauss(0.0, 1.0)
    return {"features": features, "target": target}


def bodies(kind: str) -> Iterator[tuple[str, Any]]:
    """Yield calls without end: what is echoed, predicted, or predicted and learnt in turn."""
    known = [row(time.time_ns() % 10**12 + number) for number in range(3000)]
    for number in itertools.count():
        own = known[number % len(known)]
        if kind == "mixed" and number % 2:
            yield "/v1/models/bench/learn", own
        else:
            path = "/echo" if kind == "echo" else "/v1/models/bench/predict"
            yield path, {"features": own["features"]}


async def at_full_speed(port: int, kind: str, connections: int, seconds: float) -> list[float]:
    """Return the times of requests of connections that send one after the other."""
    calls, times, end = bodies(kind), list[float](), time.perf_counter() + seconds

    async def work() -> None:
        connection = Connection(port)
        await connection.open()
        while time.perf_counter() < end:
            content = request(port, *next(calls))
            start = time.perf_counter()
            await connection.call(content)
            times.append(time.perf_counter() - start)

    await asyncio.gather(*(work() for _ in range(connections)))
    return times


async def at_a_rate(port: int, kind: str, rate: float, seconds: float) -> list[float]:
    """Return the times of requests that come at moments fixed before: waiting in line counts."""
    calls, times, idle = bodies(kind), list[float](), list[Connection]()
    contents = [request(port, *next(calls)) for _ in range(int(rate * seconds))]
    begin = time.perf_counter() + 0.2

    async def one(due: float, content: bytes) -> None:
        await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        if idle:
            connection = idle.pop()
        else:
            connection = Connection(port)
            await connection.open()
        await connection.call(content)
        times.append(time.perf_counter() - due)
        idle.append(connection)

    await asyncio.gather(*(one(begin + i / rate, content) for i, content in enumerate(contents)))
    return times


def main() -> None:
    """Do what the argument says."""
    given = json.loads(sys.argv[1])
    seconds = given["seconds"]
    if "rate" in given:
        times = asyncio.run(at_a_rate(given["port"], given["kind"], given["rate"], seconds))
    else:
        times = asyncio.run(at_full_speed(given["port"], given["kind"], given["connections"], seconds))
    times.sort()
    quantiles = {f"p{level}_ms": 1000 * times[int(len(times) * level / 100)] for level in (50, 90, 99)}
    print(json.dumps({"requests_per_second": len(times) / seconds, **quantiles}))


if __name__ == "__main__":
    main()
