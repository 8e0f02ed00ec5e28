"""Tables of other countries and of spreadsheets: read as they are meant, asked about, or refused."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

import ggln as package

COMMAND = [sys.executable, "-c", "from ggln.cli import run; run()"]


def rows_of(count=60):
    random = np.random.default_rng(0)
    area = random.uniform(100, 3000, count)
    return area, 3 * area + random.normal(size=count)


def us_export(count=60):
    """Numbers as a spreadsheet of the US writes them: with commas between thousands where there are any."""
    lines = [f'"{a:,.1f}","{p:,.1f}"' for a, p in zip(*rows_of(count), strict=True)]
    return "\n".join(["area,price", '353.2,"1,059.0"', *lines, ""])


def plain(text):
    """The same without these commas."""
    lines = [line.strip('"').split('","') for line in text.splitlines()[2:]]
    return "\n".join(
        ["area,price", "353.2,1059.0", *(",".join(x.replace(",", "") for x in n) for n in lines), ""]
    )


def test_an_export_of_the_us_is_read_whole(ggln, quick):
    code, output, said = ggln("stream", "--target", "price", *quick, stdin=us_export())
    assert code == 0
    assert said == "Predicted 61 rows and learnt 61\n"
    _, same, _ = ggln("stream", "--target", "price", *quick, stdin=plain(us_export()))
    mean = [line.rsplit(",", 2)[1] for line in output.splitlines()]
    assert mean == [line.rsplit(",", 2)[1] for line in same.splitlines()]


def test_a_stream_that_loses_too_many_rows_ends_and_keeps_what_it_learnt(ggln, quick, tmp_path):
    lines = [f"{i},{2 * i}" if i % 3 else f"{i} miles,{2 * i}" for i in range(1, 200)]
    given = "\n".join(["x,y", *lines, ""])
    options = ["stream", "--target", "y", "--model", "m.ggln", *quick]
    code, output, said = ggln(*options, stdin=given)
    assert code == 2
    last = said.splitlines()[-1]
    assert last.startswith(
        "ggln: standard input: 21 of 63 rows cannot be read, more than --max-rejected 5% allows"
    )
    assert "row 63: 'x' is '63 miles', which is not a number" in last
    assert "learnt 42, left out 21 that cannot be read; the model is in m.ggln" in said
    assert package.load(tmp_path / "m.ggln").regressor_.learner_.rows == 42
    assert output.count("\n") == 43
    # few rows, of which the share is known at the end only
    few = "\n".join(["x,y", *lines[:6], ""])
    assert ggln("stream", "--target", "y", *quick, stdin=few)[0] == 2
    assert ggln("stream", "--target", "y", "--max-rejected", "0.5", *quick, stdin=few)[0] == 0
    code, _, said = ggln("stream", "--target", "y", "--max-rejected", "many", stdin=few)
    assert (code, said) == (2, "ggln: --max-rejected needs a share such as 5% or 0.05, got 'many'\n")


EUROPEAN = "people;rent;price\n15.526;353,223;1,5\n542;12,5;2,5\n12.001;7,25;3,5\n"


@pytest.mark.parametrize("command", ["fit", "stream"])
def test_points_beside_decimal_commas_are_asked_about(command, ggln, quick, tmp_path):
    (tmp_path / "t.csv").write_text(EUROPEAN)
    table = ["t.csv"] if command == "fit" else []
    code, _, said = ggln(command, *table, "--target", "price", *quick, stdin=EUROPEAN)
    assert code == 2
    assert "'15.526' may be 15.526 or 15526, since 'rent' has '" in said
    assert said.rstrip().endswith("say --decimal comma or --decimal point")


def test_a_column_that_turns_out_to_be_in_doubt_ends_a_stream(ggln, quick):
    late = "people;rent;price\n15.526;12;1\n542;12;2\n12.001;7,25;3\n"
    code, _, said = ggln("stream", "--target", "price", *quick, stdin=late)
    assert code == 2
    assert "column 'people' cannot be read: '15.526' may be 15.526 or 15526, since 'rent' has decimal" in said


def test_what_is_said_is_believed(ggln, quick, tmp_path):
    (tmp_path / "t.csv").write_text(EUROPEAN)
    assert ggln("fit", "t.csv", "--target", "price", "--decimal", "comma", *quick)[0] == 0
    people = package.load(tmp_path / "model.ggln").schema_.columns[0]
    assert people.range == (542.0, 15526.0)
    assert ggln("fit", "t.csv", "--target", "price", "--thousands", "point", *quick)[0] == 0
    assert package.load(tmp_path / "model.ggln").schema_.columns[0].range == (542.0, 15526.0)
    code, _, said = ggln("fit", "t.csv", "-t", "price", "--thousands", "point", "--decimal", "point")
    assert (code, said) == (2, "ggln: --decimal and --thousands cannot both be point\n")
    assert ggln("stream", "--target", "price", "--decimal", "comma", *quick, stdin=EUROPEAN)[0] == 0
    # without other columns that use commas, a point is what it is everywhere
    (tmp_path / "u.csv").write_text("people,price\n15.526,1\n542,2\n")
    assert ggln("fit", "u.csv", "--target", "price", *quick)[0] == 0
    assert package.load(tmp_path / "model.ggln").schema_.columns[0].range == (15.526, 542.0)


def test_days_and_months(ggln, quick, tmp_path):
    (tmp_path / "t.csv").write_text("d,x,y\n03/04/2024,1,1\n05/06/2024,2,2\n")
    for option, day in (("--day-first", "2024-04-03"), ("--month-first", "2024-03-04")):
        assert ggln("fit", "t.csv", "--target", "y", option, *quick)[0] == 0
        assert package.load(tmp_path / "model.ggln").schema_.columns[0].shown_range().startswith(day)
    code, _, said = ggln("stream", "-t", "y", *quick, stdin=(tmp_path / "t.csv").read_text())
    assert code == 2
    assert "say --day-first or --month-first" in said


def test_lines_that_spreadsheets_put_above_the_names(ggln, quick, tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\nx;y, in km\n1;2\n2;3\n")
    assert ggln("fit", "t.csv", "--target", "x", *quick)[0] == 0
    assert list(package.load(tmp_path / "model.ggln").feature_names_in_) == ["y, in km"]
    (tmp_path / "t.csv").write_text("Report of May\n\nx,y\n1,2\n2,3\n")
    assert ggln("fit", "t.csv", "--target", "x", "--skip-lines", "2", *quick)[0] == 0
    code, _, said = ggln("fit", "t.csv", "--target", "x", *quick)
    assert (code, "further down, say --skip-lines" in said) == (2, True)


def test_other_encodings_are_understood_or_named(ggln, quick, tmp_path):
    table = "größe;preis\n1;2\n2;3\n"
    (tmp_path / "t.csv").write_bytes(table.encode("latin-1"))
    code, _, said = ggln("fit", "t.csv", "--target", "größe", *quick)
    assert code == 2
    assert "its names are not in UTF-8: say --encoding latin-1, or whichever it is" in said
    (tmp_path / "own.csv").write_bytes("größe;y\n1;2\n2;3\n".encode("latin-1"))
    code, _, said = ggln("fit", "own.csv", "--target", "y", *quick)  # the bytes are learnt as they are
    assert (code, "own.csv: its names are not in UTF-8: say --encoding" in said) == (0, True)
    bad = "größe;y\n1;2;3\n".encode("latin-1")  # nothing is answered: no test could read the bytes of it
    code, _, said = ggln("stream", "-t", "y", "--on-error", "stop", *quick, stdin=bad)
    assert (code, "standard input: its names are not in UTF-8" in said) == (2, True)
    assert ggln("fit", "t.csv", "--target", "größe", "--encoding", "latin-1", *quick)[0] == 0
    (tmp_path / "new.csv").write_bytes("größe;preis\n1;2\n".encode("latin-1"))
    assert ggln("predict", "model.ggln", "new.csv", "--encoding", "latin-1", "-o", "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_bytes().startswith("größe;preis;größe_mean".encode("latin-1"))
    (tmp_path / "t.csv").write_bytes(table.encode("utf-16"))
    assert ggln("fit", "t.csv", "--target", "größe", *quick)[0] == 0
    (tmp_path / "t.csv").write_text(table)
    code, _, said = ggln("fit", "t.csv", "--target", "preis", "--encoding", "utf-16")
    assert (code, "the text is not in utf-16" in said) == (2, True)
    code, _, said = ggln("fit", "t.csv", "--target", "preis", "--encoding", "klingon")
    assert (code, "there is no encoding 'klingon'" in said) == (2, True)


@pytest.mark.nightly
def test_gzip_is_unpacked_wherever_it_comes_from(sales, quick, tmp_path):
    packed = gzip.compress((tmp_path / sales(30)).read_bytes())
    half = len(packed) // 2
    for data, code, words in (
        (packed + packed[:0], 0, b"Predicted 30 rows and learnt 30"),
        (packed[:half], 2, b"ends in the middle of a gzip archive"),
    ):
        command = [*COMMAND, "stream", "--target", "price", *quick]
        done = subprocess.run(
            command, input=data, capture_output=True, check=False, cwd=tmp_path, env=os.environ
        )
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr


def test_percentages_are_numbers(ggln, quick, tmp_path):
    lines = [f"{i}.5 %,{i}%" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["share,growth", *lines, ""]))
    assert ggln("fit", "t.csv", "--target", "growth", *quick)[0] == 0
    model = package.load(tmp_path / "model.ggln")
    assert (model.schema_.columns[0].kind, model.schema_.columns[0].range) == ("number", (0.5, 39.5))
    code, output, _ = ggln("stream", "-t", "growth", *quick, stdin=(tmp_path / "t.csv").read_text())
    assert code == 0
    assert abs(float(output.splitlines()[-1].split(",")[2]) - 38) < 10
    code, _, said = ggln("stream", "-t", "growth", *quick, stdin="share,growth\n1%,1%\n2%,2%\n3,3%\n")
    assert "row 3: 'share' is '3', but the column's numbers before it are percentages" in said


def test_ids_and_codes_are_asked_about(ggln, quick, tmp_path):
    lines = [f"{i + 1},{2000 + 7 * i % 400:05d},{i % 7},{i % 7}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["id,zip,x,y", *lines, ""]))
    _, _, said = ggln("fit", "t.csv", "--target", "y", *quick)
    assert (
        "column 'id' counts the rows: if they are names, say --drop id; --keep id takes them as numbers"
        in said
    )
    assert "column 'zip' has numbers that begin with 0, such as '02000'" in said
    assert "say --category zip or --drop zip" in said
    _, _, said = ggln("fit", "t.csv", "--target", "y", "--drop", "id", "--keep", "zip", *quick)
    assert "if they are names" not in said
    _, _, said = ggln("stream", "--target", "y", *quick, stdin=(tmp_path / "t.csv").read_text())
    assert "column 'zip' has numbers that begin with 0" in said


@pytest.mark.parametrize("command", ["fit", "stream"])
def test_a_total_at_the_end_is_spoken_of(command, ggln, quick, tmp_path):
    random = np.random.default_rng(0)
    lines = [f"Oslo,{x:.1f},{z:.1f},{300 + x:.1f}" for x, z in random.normal(size=(60, 2))]
    text = "\n".join(["city,x,z,y", *lines, "Total,,,18000", ""])
    (tmp_path / "t.csv").write_text(text)
    table = ["t.csv"] if command == "fit" else []
    _, _, said = ggln(command, *table, "--target", "y", *quick, stdin=text)
    assert "row 61: 'y' is 18000, all others are between 29" in said
    assert "if it is a total, leave it out" in said
    _, _, said = ggln(
        command, *table[:0], *table, "--target", "y", *quick, stdin=text.replace("Total,,,", "Rome,1,2,")
    )
    if command == "stream":
        assert "total" not in said  # a row like others may be far away


def test_a_few_gaps_do_not_ruin_a_stream(ggln, tmp_path):
    random = np.random.default_rng(0)
    rows, errors = random.uniform(0, 1000, (400, 3)), []
    y = 10 * rows[:, 0] + 3 * rows[:, 1] - 5 * rows[:, 2] + 300 * random.normal(size=400)
    gaps = set(random.choice(np.arange(100, 400), 14, replace=False).tolist())
    for some in (set(), gaps):
        lines = [
            ",".join("" if i in some and j == 0 else f"{x:.3f}" for j, x in enumerate(row)) + f",{y[i]:.3f}"
            for i, row in enumerate(rows)
        ]
        given = "\n".join(["a,b,c,y", *lines, ""])
        _, output, _ = ggln("stream", "-t", "y", "--set", "n_estimators=2", stdin=given)
        mean = np.array([line.split(",")[4] for line in output.splitlines()[3:]], float)
        whole = np.array([i not in gaps for i in range(2, 400)])
        errors.append(np.sqrt(np.mean((mean - y[2:])[whole & (np.arange(2, 400) >= 100)] ** 2)))
    assert errors[1] < 1.05 * errors[0]  # 1.007; with the last value in each gap, 1.12


def test_the_output_is_written_as_the_input_is(ggln, quick, tmp_path):
    lines = [f"{a:.2f};{p:.2f}".replace(".", ",") for a, p in zip(*rows_of(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["area;price", *lines, ""]))
    assert ggln("fit", "t.csv", "--target", "price", *quick)[0] == 0
    for command in (["predict", "model.ggln", "t.csv"], ["stream", "--target", "price", *quick]):
        code, output, _ = ggln(*command, stdin=(tmp_path / "t.csv").read_text())
        assert code == 0
        head, *rest = output.splitlines()
        assert head == "area;price;price_mean;price_std"
        assert [line.rsplit(";", 2)[0] for line in rest] == lines
        mean = rest[-1].split(";")[2]
        assert "," in mean
        assert "." not in mean
    assert ggln("predict", "model.ggln", "t.csv", "-o", "out.parquet")[0] == 0
    import pandas as pd

    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert frame["area"][0] == float(lines[0].split(";")[0].replace(",", "."))


def test_cells_that_a_spreadsheet_would_run_are_escaped_on_request(ggln, quick):
    given = "name,x,y\n=1+1,-1,2\n@SUM(A1),2,3\nOslo,3,4\n"
    options = ["stream", "--target", "y", *quick]
    assert "=1+1,-1,2" in ggln(*options, stdin=given)[1]
    output = ggln(*options, "--escape-formulas", stdin=given)[1]
    assert "'=1+1,-1,2" in output
    assert "'@SUM(A1),2,3" in output
    assert "\nOslo,3,4" in output


def test_names_of_columns_are_shown_and_not_obeyed(ggln, quick, tmp_path):
    (tmp_path / "t.csv").write_text('"red\x1b[31m",[bold]x[/],"Price\n(EUR)",y\n1,2,3,4\n2,3,4,5\n5,1,2,3\n')
    code, output, said = ggln("fit", "t.csv", "--target", "y,[bold]x[/]", "--validate", "0.4", *quick)
    assert code == 0, said
    assert "\x1b" not in output + said
    assert "[bold]x[/]" in output
    assert "Numbers: red[31m, Price (EUR)" in said
    code, output, said = ggln("info", "model.ggln")
    assert code == 0
    assert "[bold]x[/]" in output
    code, _, said = ggln("fit", "t.csv", "--target", "no\x1b[31m")
    assert code == 2
    assert "\x1b" not in said


@pytest.mark.nightly
@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end_is_refused(packed, start, tmp_path):
    line = b"x,y\n1," + b"9" * (1 << 25)
    (tmp_path / "long.csv").write_bytes(gzip.compress(line) if packed else line)
    with (tmp_path / "long.csv").open("rb") as file:
        process = start("stream", "--target", "y", stdin=file)
        said = process.communicate(timeout=120)[1]
    assert process.returncode == 2
    assert (
        said
        == "ggln: a line is longer than 16,777,216 characters: this is no table with a row on each line\n"
    )


def test_a_hundred_thousand_columns_are_refused(ggln, tmp_path):
    names = [f"c{i}" for i in range(100_000)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    code, _, said = ggln("fit", "wide.csv", "--target", "c0")
    assert code == 2
    assert "has 100,000 columns, more than the 20,000 that can be read" in said
