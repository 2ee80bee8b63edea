"""Runs one command and turns what it raises into one line, an error document and an exit status."""

import os
import sys
from collections.abc import Sequence

from oc.base.jsonl import dump_line
from oc.base.text import neutral, without_lone_surrogates
from oc.errors import OcError, Usage


def run(arguments: Sequence[str]) -> int:
    """Returns the exit status; every error of the program ends here."""
    as_document = _as_document(arguments)
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError as error:
        return output_failed(error)
    except KeyboardInterrupt:
        return 130
    except OcError as error:
        return _fail(error.status, error.code, error, as_document)
    except OSError as error:
        return _fail(74, "io", _described(error), as_document)
    except Exception:  # noqa: BLE001 - the one place where a bug is caught: it keeps its traceback
        import traceback

        traceback.print_exc()
        return 70
    return status


def _as_document(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options or "--jsonl" in options


def _invoke(arguments: Sequence[str]) -> int:
    from oc.cli.plain import run_plain

    status = run_plain(arguments)
    return _invoke_click(arguments) if status is None else status


def _invoke_click(arguments: Sequence[str]) -> int:
    """Runs click without its own main(), which turns a broken pipe into status 1."""
    import click

    from oc.cli.root import root

    try:
        with root.make_context("oc", list(arguments)) as context:
            result = root.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        if _as_document(arguments):
            raise Usage(
                "a command is expected", hint=f"`{error.ctx.command_path} --help`" if error.ctx else None
            ) from None
        say(error.format_message())
        return 2
    except click.ClickException as error:
        context_path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else None
        message = error.format_message().rstrip(".")
        raise Usage(message[:1].lower() + message[1:], hint=context_path and f"`{context_path} --help`") from None
    except click.Abort:
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else 0


def stand_in() -> bool:
    """Takes the places of standard streams that came closed, else the next file opened would be one of them.

    Returns False, having said so, when stdout is closed: nothing is done whose result could not be told.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if name == "stderr":
                import io

                sys.stderr = io.TextIOWrapper(io.FileIO(descriptor, "w", closefd=False), encoding="utf-8")
    if sys.stdout is None:
        if sys.stderr is not None:
            say("oc: stdout is closed")
        return False
    return True


def output_failed(error: OSError) -> int:
    """Returns the status for a stdout that took nothing more: 141 when its reader left, else 74."""
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return 141
    return _fail(74, "io", _described(error), as_document=False)


def _discard_output() -> None:
    """Lets go of what stdout cannot take, or the interpreter would try again at its end and exit with 120.

    What had to be on disk is there by now.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _described(error: OSError) -> OcError:
    reason = (error.strerror or str(error)).lower()
    return OcError(reason, path=os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None)


def _fail(status: int, code: str, error: OcError, as_document: bool) -> int:
    if as_document:
        body = {"status": status, "code": code, "message": error.message, "path": error.path, "line": error.line}
        text = {
            k: without_lone_surrogates(v) if isinstance(v, str) else v for k, v in (body | {"hint": error.hint}).items()
        }
        try:
            sys.stdout.buffer.write(dump_line({"error": text}))
            sys.stdout.flush()
        except OSError:
            _discard_output()
    say("oc: " + str(error).replace("\n", "\\n"))
    if error.hint:
        say("hint: " + error.hint.replace("\n", "\\n"))
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    return status


def say(text: str) -> None:
    """Writes lines to stderr with control characters of data made visible."""
    line = "\n".join(map(neutral, without_lone_surrogates(text).split("\n"))) + "\n"
    sys.stderr.buffer.write(line.encode("utf-8", "replace"))
    sys.stderr.flush()
