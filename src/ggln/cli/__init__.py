"""The `ggln` command.

Heavy modules are imported inside the commands, so that `--help` and completion answer at once.
"""

import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

from ggln import __version__
from ggln.cli import (
    bench,
    datasets,
    demo,
    explain,
    fit,
    info,
    plot,
    predict,
    report,
    reproduce,
    score,
    serve,
    show,
    signals,
    stream,
)
from ggln.cli.app import App
from ggln.extras import MissingExtraError

INTERRUPTED = 128 + signal.SIGINT
app = App(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Gaussian Gated Linear Networks: online regression with error bars.",
)
for command in (demo, fit, predict, score, info, stream, explain, plot, report, serve, bench):
    app.add_typer(command.app)  # without a name: its command joins the others
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(datasets.app, name="datasets")


def run() -> None:
    """Run the command; an error is one sentence and exit code 2."""
    ending = signals.Ending()
    try:
        with signals.handled(ending):
            code = app(prog_name="ggln", standalone_mode=False)
        sys.stdout.flush()
    except signals.StoppedError as end:
        end_by_signal(end.number)
    except BrokenPipeError:
        end_by_pipe()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # which typer takes for exit code 1
            end_by_pipe()
        raise
    except Exception as error:
        if os.environ.get("GGLN_TRACEBACK"):
            raise
        if ending.asked is not None:
            end_by_signal(ending.asked)
        print(f"ggln: {show.line(sentence(error))}", file=sys.stderr)
        sys.exit(2)
    if code == INTERRUPTED:  # which typer makes of it, without a word
        print("ggln: interrupted", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def end_by_signal(number: signal.Signals) -> NoReturn:
    """End with the name of the signal, and the code that shells give to it."""
    print(f"ggln: ended by a signal ({number.name})", file=sys.stderr)
    sys.exit(128 + number)


def end_by_pipe() -> NoReturn:
    """End as other tools do in a pipe whose reader has enough: by the signal, without a word."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(128 + signal.SIGPIPE)  # where the signal is blocked


def sentence(error: Exception) -> str:
    """Return what went wrong in one line."""
    if isinstance(error, typer.Abort):
        return "interrupted"
    if hasattr(error, "format_message"):  # of click, which typer brings along under changing names
        context = getattr(error, "ctx", None)
        place = context.command_path if context else "ggln"
        text = " ".join(error.format_message().split()).removesuffix(".").replace("Value error, ", "")
        more = f"`{place} --help` says more"
        if not text:
            return f"name a command after `{place}`"
        return f"{text} {more}" if text.endswith("?") else f"{text}; {more}"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, ValueError | OSError | MemoryError | MissingExtraError):
        return text or "there is not enough memory"
    return (
        f"this should not happen, please report it ({type(error).__name__}: {text}); "
        "with GGLN_TRACEBACK=1 the same command shows where"
    )


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Gaussian Gated Linear Networks: online regression with error bars."""
