"""What cells do not tell is asked, where somebody is there to answer."""

import os
import pty
import select
import time

import pytest

import ggln as package

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs terminals")


@pytest.fixture
def codes(tmp_path):
    """A table with an id and a zip code."""
    lines = [f"{i + 1},{2000 + 7 * i % 400:05d},{i % 7},{i % 7}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["id,zip,x,y", *lines, ""]))


def talk(process, terminal, questions, patience=240.0):
    """Answer questions, each when it is asked; return all that was said."""
    said, deadline = "", time.monotonic() + patience
    waiting = list(questions)
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                said += os.read(terminal, 65536).decode()
            except OSError:  # the other end is closed
                break
            if waiting and waiting[0][0] in said:
                os.write(terminal, f"{waiting.pop(0)[1]}\n".encode())
        elif process.poll() is not None:
            break
    assert not waiting, said
    assert process.wait(10) == 0, said
    return said


def test_ids_and_codes_are_asked_about_at_a_terminal(start, codes, quick, tmp_path):
    terminal, other = pty.openpty()
    process = start("fit", "t.csv", "--target", "y", *quick, stdin=other, stderr=other)
    os.close(other)
    asked = [("column 'id' counts the rows: are they numbers?", "drop")]
    asked += [
        ("column 'zip' has numbers that begin with 0", "what?"),
        ("Answer one of keep, category, drop", "c"),
    ]
    said = talk(process, terminal, asked)
    os.close(terminal)
    assert "drop: no, leave them out (--drop id)" in said
    columns = {column.name: column.kind for column in package.load(tmp_path / "model.ggln").schema_.columns}
    assert columns == {"zip": "category", "x": "number"}


def test_answers_are_what_options_would_have_said(ggln, codes, quick, tmp_path, monkeypatch):
    from ggln.cli import progress

    answers = {"id": "drop", "zip": "category"}
    with monkeypatch.context() as patch:
        patch.setattr(progress.Terminal, "ask", lambda _, question: answers[question.column])
        assert ggln("fit", "t.csv", "--target", "y", *quick)[0] == 0
    asked = (tmp_path / "model.ggln").read_bytes()
    assert ggln("fit", "t.csv", "--target", "y", "--drop", "id", "--category", "zip", *quick)[0] == 0
    assert (tmp_path / "model.ggln").read_bytes() == asked


def test_nobody_is_asked_where_an_option_has_answered(start, codes, quick):
    terminal, other = pty.openpty()
    process = start(
        "fit", "t.csv", "-t", "y", "--drop", "id", "--keep", "zip", *quick, stdin=other, stderr=other
    )
    os.close(other)
    assert "are they numbers?" not in talk(process, terminal, [])
    os.close(terminal)
