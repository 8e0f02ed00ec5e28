"""The models of a service: those in memory, and how they come there: a snapshot, and the log after it."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ggln.service import checks, constants
from ggln.service.errors import DamagedError, not_found
from ggln.service.log import operations, upkeep
from ggln.service.log.operations import ModelRow
from ggln.service.log.store import Store
from ggln.service.model import Model, load_estimator
from ggln.service.spec import Spec

logger = logging.getLogger("ggln.service")


class Models:
    """All models, of which those in use are in memory.

    follows: whether this process learns what is in the log; otherwise it has what others published.
    """

    def __init__(self, store: Store, most: int, follows: Callable[[], bool]) -> None:
        self.store, self.most, self.follows = store, most, follows
        self.rows: dict[str, ModelRow] = {}
        self.numbered: dict[int, ModelRow] = {}
        self.watching: dict[str, list[int]] = {}  # by the name of whom they watch
        self.memory: OrderedDict[int, Model] = OrderedDict()
        self.lock = threading.Lock()  # of these four
        self.loading: dict[int, threading.Lock] = {}
        self.save: Callable[[Model], None] = lambda _: None  # set by whoever keeps snapshots
        self.refresh()

    # What there is -------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Look which models there are."""
        with self.store.reading() as statements:
            found = operations.models(statements)
        for row in found:
            self._note(row)

    def _note(self, row: ModelRow) -> ModelRow:
        """Keep what is known of a model."""
        with self.lock:
            self.rows[row.name] = self.numbered[row.id] = row
            watched = _watched(row)
            if watched is not None and row.id not in self.watching.setdefault(watched, []):
                self.watching[watched].append(row.id)
            if row.id in self.memory:
                self.memory[row.id].row = row
        return row

    def known(self, name: str) -> ModelRow | None:
        """Return what is known of a model without asking the log, if that is all there is to know."""
        found = self.rows.get(name)
        return None if found is None or (found.features is None and self.store.shared) else found

    def row(self, name: str) -> ModelRow:
        """Return what is known of a model; others may have made it."""
        found = self.known(name)
        if found is None and checks.NAME.fullmatch(name):
            with self.store.reading() as statements:
                found = operations.model(statements, name)
            if found is not None:
                self._note(found)
        if found is None:
            raise not_found("unknown_model", f"there is no model {checks.shown(name)}")
        return found

    def by_number(self, number: int) -> ModelRow:
        """Return a model by its number; others may have made it."""
        if number not in self.numbered:
            self.refresh()
        return self.numbered[number]

    def set_features(self, name: str, features: list[str]) -> ModelRow:
        """Note the features that a model has from now on."""
        return self._note(self.rows[name]._replace(features=features))

    def watchers(self, row: ModelRow) -> list[ModelRow]:
        """Return the models that learn from another one."""
        return [self.numbered[number] for number in self.watching.get(row.name, ())]

    # What is in memory ---------------------------------------------------------------------------------

    def here(self, row: ModelRow) -> Model | None:
        """Return a model if it is in memory, as the one that was used last."""
        with self.lock:
            found = self.memory.get(row.id)
            if found is not None:
                self.memory.move_to_end(row.id)
        return found

    def get(self, row: ModelRow) -> Model:
        """Return a model; it is brought to memory if it is not there."""
        found = self.here(row)
        if found is not None:
            return found
        with self.lock:
            loading = self.loading.setdefault(row.id, threading.Lock())
        with loading:
            found = self.here(row)
            if found is None:
                found = self._load(row)
                if self.follows():
                    self.follow(found)
                with self.lock:
                    self.memory[row.id] = found
        self._make_room(found)
        return found

    def _load(self, row: ModelRow) -> Model:
        """Return a model as its last snapshot has it that can be read."""
        watched = _watched(row)
        model = Model(row, None if watched is None else self.row(watched).id)
        with self.store.reading() as statements:
            found = upkeep.snapshots(statements, row.id)
        for snapshot in found:
            try:
                if snapshot.file is not None:
                    with self.store.files.open(snapshot.file) as path:
                        model.estimator = load_estimator(path)
            except (ValueError, OSError) as error:
                logger.warning("the snapshot of %r at %d is passed over: %s", row.name, snapshot.seq, error)
                continue
            model.figures.restore(snapshot.state)
            model.position = model.saved = snapshot.seq
            return model
        if len(found) >= constants.SNAPSHOTS:
            raise DamagedError(f"no snapshot of {row.name!r} can be read: restore its data from a copy")
        return model

    def _make_room(self, new: Model) -> None:
        """Let models leave memory that have not been used for longest."""
        while True:
            with self.lock:
                if len(self.memory) <= self.most:
                    return
                oldest = next(iter(self.memory.values()))
                if oldest is new:
                    return
            with oldest.lock:
                if oldest.position > oldest.saved and self.follows():
                    self.save(oldest)
                oldest.gone = True
                with self.lock:
                    self.memory.pop(oldest.row.id, None)

    # Learning ------------------------------------------------------------------------------------------

    def follow(self, model: Model) -> int:
        """Let a model learn what is in the log after what it knows; return how many entries that were."""
        learnt = 0
        while True:
            with model.lock:
                if model.gone:
                    return learnt
                with self.store.reading() as statements:
                    found = upkeep.entries(statements, model.numbers, model.position, constants.LEARNT_ROWS)
                if not found:
                    return learnt
                model.learn(found, self.imported)
                learnt += len(found)

    def imported(self, file: str) -> Any:
        """Return an estimator that was sent."""
        with self.store.files.open(file) as path:
            return load_estimator(path)

    def renew(self, model: Model) -> None:
        """Take over what the learner has published since, where others learn."""
        with self.store.reading() as statements:
            newer = upkeep.newest(statements, model.row.id) > model.position
        if newer:
            fresh = self._load(model.row)
            with model.lock:
                if fresh.position > model.position:
                    model.figures = fresh.figures
                    model.replace(fresh.estimator, fresh.position)
                    model.saved = fresh.position

    @contextmanager
    def exported(self, model: Model, folder: Path) -> Iterator[Path]:
        """Give the path of a file with the model as it is now."""
        path = folder / f"{model.row.name}.ggln"
        with model.lock:
            model.save(path)
        yield path


def _watched(row: ModelRow) -> str | None:
    return Spec.from_text(row.spec).watches
