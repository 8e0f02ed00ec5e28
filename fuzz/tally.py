"""What became of many attempts."""

from collections import Counter
from collections.abc import Collection


class Tally:
    """Counts how attempts of one kind ended, and speaks of those that ended badly."""

    def __init__(self, what: str, fine: Collection[str]) -> None:
        self.what, self.fine = what, fine
        self.counts: Counter[str] = Counter()

    def add(self, ended: str, about: str) -> None:
        """Count an attempt; about: how to repeat it, and what was done."""
        self.counts[ended] += 1
        if ended not in self.fine:
            print(f"{self.what}: {ended}: {about}", flush=True)

    @property
    def wrong(self) -> int:
        """Attempts that ended badly."""
        return sum(count for ended, count in self.counts.items() if ended not in self.fine)

    def __str__(self) -> str:
        total = f"{self.counts.total():,} {self.what}, {self.wrong} went wrong"
        return f"{total}: {', '.join(f'{ended} {count:,}' for ended, count in self.counts.most_common())}"
