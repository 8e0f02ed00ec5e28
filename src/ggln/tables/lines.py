"""Bytes of a file or of a pipe as they come, unpacked if need be, and lines of text."""

import codecs
import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO

BLOCK = 1 << 16
"""Bytes that are asked for at a time: what a pipe holds."""
UNPACKED = 1 << 20
"""Bytes that are unpacked at a time: a thousandfold of zeros comes in pieces as well."""
LONGEST_LINE = 1 << 24
"""Characters of a line, at most. A row of 100,000 numbers has 2 million; what is longer is no row."""
GZIP = b"\x1f\x8b"
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""What a text in another encoding than UTF-8 begins with, if it says so itself."""

Wait = Callable[[int], bool]


class Source:
    """Bytes of a file or of a pipe, handed over as they come; those of gzip are unpacked.

    wait: called with the file's descriptor before each reading, to wait for bytes in its own way; once it
    says no, the input has ended.
    """

    def __init__(self, stream: IO[bytes], wait: Wait | None = None) -> None:
        self.stream, self.wait = stream, wait
        self.ahead = b""
        self.stopped = False
        self.packed = b""  # bytes that are not unpacked yet
        self.unpacker: zlib._Decompress | None = None
        begin = self._read()
        while begin == GZIP[:1] and (more := self._read()):  # half of the mark may come alone
            begin += more
        if begin[:2] == GZIP:
            self.packed, self.unpacker = begin, _unpacker()
        else:
            self.ahead = begin

    def read(self) -> bytes:
        """Return the next bytes, waiting for at least one; none at the end."""
        if self.ahead:
            data, self.ahead = self.ahead, b""
            return data
        return self._read() if self.unpacker is None else self._unpack()

    def _read(self) -> bytes:
        """Return bytes as they are."""
        if self.wait is None:
            return self.stream.read1(BLOCK)  # type: ignore[attr-defined, no-any-return]
        descriptor = self.stream.fileno()
        self.stopped = not self.wait(descriptor)
        return b"" if self.stopped else os.read(descriptor, BLOCK)

    def _unpack(self) -> bytes:
        """Return unpacked bytes."""
        assert self.unpacker is not None
        while True:
            if self.unpacker.eof:  # archives may stand one behind the other
                self.packed = self.unpacker.unused_data.lstrip(b"\0") or self._read()
                if not self.packed:
                    return b""
                self.unpacker = _unpacker()
            self.packed = self.packed or self._read()
            ended = not self.packed
            try:
                data = self.unpacker.decompress(self.packed, UNPACKED)
            except zlib.error as error:
                raise ValueError(f"the input is a damaged gzip archive ({error})") from error
            self.packed = self.unpacker.unconsumed_tail
            if data or self.stopped:
                return data
            if ended and not self.unpacker.eof:
                raise ValueError("the input ends in the middle of a gzip archive: is it complete?")

    def peek(self) -> bytes:
        """Return at least the bytes up to the end of the first line, without taking them."""
        while b"\n" not in self.ahead and len(self.ahead) < 16 * BLOCK:
            ahead, self.ahead = self.ahead, b""
            more = self.read()
            self.ahead = ahead + more
            if not more:
                break
        return self.ahead


def _unpacker() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=31)


class Lines(Iterator[str]):
    """Lines of text, and how many are there without waiting.

    encoding: of the text; UTF-8 if it is None, or what the first bytes say.
    """

    def __init__(self, source: Source, encoding: str | None = None) -> None:
        self.source = source
        start = source.peek()
        self.end = "\r" if b"\r" in start and b"\n" not in start else "\n"  # as on very old machines
        self.encoding = encoding = encoding or MARKS.get(start[:2], "utf-8-sig")
        # bytes that are not UTF-8 pass through unchanged
        errors = "replace" if encoding.lower().startswith(("utf-16", "utf-32")) else "surrogateescape"
        self.decoder = codecs.getincrementaldecoder(encoding)(errors)
        self.ready: list[str] = []  # in reverse, so that the next one is cheap to take
        self.rest: list[str] = []  # the beginning of a line, in parts
        self.length = 0  # of it
        self.ended = False

    def __next__(self) -> str:
        while not self.ready:
            if self.ended:
                raise StopIteration
            data = self.source.read()
            self.ended = not data
            try:
                text = self.decoder.decode(data, final=self.ended)
            except UnicodeError as error:
                raise ValueError(
                    f"the text is not in {self.encoding} ({error}): say another --encoding"
                ) from error
            self._split(text)
        return self.ready.pop()

    def _split(self, text: str) -> None:
        """Take in more text."""
        first, *others = text.split(self.end)
        self.rest.append(first)
        self.length += len(first)
        if self.length > LONGEST_LINE:
            raise ValueError(
                f"a line is longer than {LONGEST_LINE:,} characters: this is no table with a row on each line"
            )
        lines = []
        if others:
            lines = ["".join(self.rest), *others[:-1]]
            self.rest, self.length = [others[-1]], len(others[-1])
        if self.ended and self.length and not self.source.stopped:  # a line cut by a signal is no row
            lines.append("".join(self.rest))
        self.ready = [line + "\n" for line in reversed(lines)]

    def back(self, line: str) -> None:
        """Put back a line that was taken."""
        self.ready.append(line)
