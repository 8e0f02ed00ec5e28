import csv
import datetime as dt

import numpy as np
import pytest

from ggln.tables.read import open_table

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 2, "epochs": 1, "base_model": "feature"}
SMALL |= {"folds": 0}


@pytest.fixture
def small():
    """Settings of networks that learn thousands of rows in no time."""
    return dict(SMALL)


@pytest.fixture
def write_csv(tmp_path):
    """Write lines of cells to a CSV file; return its name."""

    def write(rows, name="table.csv"):
        path = tmp_path / name
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return str(path)

    return write


@pytest.fixture
def houses(write_csv):
    """A table with a column of each kind, some values missing: its file, given the number of rows."""

    def make(rows=200, name="houses.csv"):
        random = np.random.default_rng(0)
        table = [["sold", "city", "area", "garden", "rooms", "price"]]
        for i in range(rows):
            day = dt.date(2024, 1, 1) + dt.timedelta(days=i % 700)
            city = random.choice(["Oslo", "Rome", "Paris"])
            area, garden = random.uniform(20, 200), bool(random.integers(2))
            price = area * (5 + len(city)) + 100 * garden + random.normal()
            rooms = "" if i % 7 == 3 else str(random.integers(1, 6))
            table.append([day, city, f"{area:.2f}", "yes" if garden else "no", rooms, f"{price:.2f}"])
        return write_csv(table, name)

    return make


@pytest.fixture
def read_all():
    """All rows of a table, and the columns."""

    def read(path, form=None, longest=7, wait=True):
        table = open_table(path, form)
        chunks = list(table.chunks(longest, wait))
        return (
            table.columns,
            [row for chunk in chunks for row in chunk.rows],
            [bad for chunk in chunks for bad in chunk.bad],
        )

    return read
