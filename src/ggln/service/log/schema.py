"""The tables of a log, for SQLite and for PostgreSQL.

* `models`: what there is, and the names of its features;
* `events`: what was asked, under its id; it waits for its truth (0), has it (1), or its time is over (2);
* `log`: what is learnt, in this order. Numbers have no gaps, and grow in the order of commits;
* `keys`: answers to calls with an Idempotency-Key;
* `snapshots`: up to which number of the log a model has learnt, its figures, and the file that it is in;
* `files`: models, where several machines share a log; otherwise they are in a folder;
* `lease`: who learns, where several machines share a log.
"""

VERSION = 1
WAITS, LEARNT, OVER = range(3)
"""The states of an event."""

TABLES = """
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value {long} NOT NULL);
CREATE TABLE IF NOT EXISTS models (
    id {long} PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, features TEXT,
    since {long} NOT NULL, created {real} NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    model {long} NOT NULL, id TEXT NOT NULL, state INTEGER NOT NULL, time {real} NOT NULL,
    due {real} NOT NULL, features {bytes}, asked TEXT, told TEXT, PRIMARY KEY (model, id)) {packed};
CREATE INDEX IF NOT EXISTS events_waiting ON events (due, model) WHERE state = 0;
CREATE INDEX IF NOT EXISTS events_over ON events (time) WHERE state > 0;
CREATE TABLE IF NOT EXISTS log (
    seq {long} PRIMARY KEY, model {long} NOT NULL, kind TEXT NOT NULL, event TEXT, time {real} NOT NULL,
    features {bytes}, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS log_of_model ON log (model, seq);
CREATE TABLE IF NOT EXISTS keys (
    model {long} NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, answer TEXT NOT NULL,
    time {real} NOT NULL, PRIMARY KEY (model, key));
CREATE INDEX IF NOT EXISTS keys_old ON keys (time);
CREATE TABLE IF NOT EXISTS snapshots (
    model {long} NOT NULL, seq {long} NOT NULL, file TEXT, state TEXT NOT NULL, PRIMARY KEY (model, seq))
"""
SHARED = """
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, content BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS lease (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, epoch BIGINT NOT NULL)
"""


def statements(text: str, **types: str) -> list[str]:
    """Return the statements of a text, with the types of a system."""
    return [one for one in (part.strip() for part in text.format(**types).split(";")) if one]
