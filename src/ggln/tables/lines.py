"""Bytes of a file or of a pipe as they come, and lines of text."""

import codecs
import os
from collections.abc import Callable, Iterator
from typing import IO

BLOCK = 1 << 16
"""Bytes that are asked for at a time: what a pipe holds."""

Wait = Callable[[int], bool]


class Source:
    """Bytes of a file or of a pipe, handed over as they come.

    wait: called with the file's descriptor before each reading, to wait for bytes in its own way; once it
    says no, the input has ended.
    """

    def __init__(self, stream: IO[bytes], wait: Wait | None = None) -> None:
        self.stream, self.wait = stream, wait
        self.ahead = b""
        self.stopped = False

    def read(self) -> bytes:
        """Return the next bytes, waiting for at least one; none at the end."""
        if self.ahead:
            data, self.ahead = self.ahead, b""
            return data
        if self.wait is None:
            return self.stream.read1(BLOCK)  # type: ignore[attr-defined, no-any-return]
        descriptor = self.stream.fileno()
        self.stopped = not self.wait(descriptor)
        return b"" if self.stopped else os.read(descriptor, BLOCK)

    def peek(self) -> bytes:
        """Return at least the bytes up to the end of the first line, without taking them."""
        while b"\n" not in self.ahead and len(self.ahead) < 16 * BLOCK:
            ahead, self.ahead = self.ahead, b""
            more = self.read()
            self.ahead = ahead + more
            if not more:
                break
        return self.ahead


class Lines(Iterator[str]):
    """Lines of text, and how many are there without waiting."""

    def __init__(self, source: Source) -> None:
        self.source = source
        start = source.peek()
        self.end = "\r" if b"\r" in start and b"\n" not in start else "\n"  # as on very old machines
        # bytes that are not UTF-8 pass through unchanged
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self.ready: list[str] = []  # in reverse, so that the next one is cheap to take
        self.rest = ""
        self.ended = False

    def __next__(self) -> str:
        while not self.ready:
            if self.ended:
                raise StopIteration
            data = self.source.read()
            self.ended = not data
            *lines, self.rest = (self.rest + self.decoder.decode(data, final=self.ended)).split(self.end)
            if self.ended and self.rest and not self.source.stopped:  # a line cut by a signal is no row
                lines.append(self.rest)
            self.ready = [line + "\n" for line in reversed(lines)]
        return self.ready.pop()
