"""Exit codes, and errors as one line."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np

from coterie._core.interrupts import INTERRUPTED
from coterie._persist.files import DISK_FULL_ERRORS, PartlyWrittenError, files_are
from coterie.cli._interrupt import interruptible
from coterie.cli._printable import printable

JSON_KEY = "coterie.as_json"
MAX_MESSAGE_LENGTH = 300
# Parameters whose flag has another name.
FLAG_OF_PARAMETER = {
    "test_share": "--test-share",
    "n_groups": "--groups",
    "max_group_size": "--max-group-size",
    "sample_weight": "--weights",
    "groups must have at least": "--row-groups must have at least",
    "cv must": "--folds must",
}
# Documented in docs/user-guide/command-line.md.
DONE, BUG, USAGE, INPUT, OUTPUT = 0, 1, 2, 3, 4


class CommandGroup(click.Group):
    """Commands whose errors are printed as one line, unless --debug is given."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command and exit with its code; usage errors are one line, too."""
        try:
            code = super().main(*args, **extra | {"standalone_mode": False})
        except click.ClickException as error:
            code = self._report_usage_error(
                error, args[0] if args else extra.get("args") or sys.argv[1:]
            )
        except click.Abort:
            code = _print_error(click.Context(self), *exit_code_and_message(KeyboardInterrupt()))
        sys.exit(code if isinstance(code, int) else DONE)

    def _report_usage_error(self, error: click.ClickException, words: Any) -> int:
        """Print a usage error; the help, if there are no arguments at all."""
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            click.echo(error.format_message())
            return USAGE
        context = click.Context(self)
        context.meta[JSON_KEY] = "--json" in words
        return _print_error(context, USAGE, _usage_message(error))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and exit with the code of its error."""
        try:
            with interruptible(), warnings.catch_warnings():
                warnings.showwarning = _print_warning
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except BrokenPipeError:
            # The reader of the output has closed it: do not flush the rest.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(DONE)
        except (Exception, KeyboardInterrupt) as error:
            if ctx.params.get("debug"):
                raise
            ctx.exit(_print_error(ctx, *exit_code_and_message(error)))


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line on standard error."""
    click.echo(f"coterie: note: {printable(_one_line(message))}", err=True)


def _print_error(ctx: click.Context, code: int, line: str) -> int:
    """Print an error as JSON or as a line; as a line too where JSON cannot be printed."""
    if ctx.meta.get(JSON_KEY):
        with suppress(OSError):
            click.echo(json.dumps({"error": line, "code": code}))
            return code
    # If nothing can be printed, the exit code remains.
    with suppress(OSError):
        click.echo(f"coterie: {printable(line)}", err=True)
    return code


def _usage_message(error: click.ClickException) -> str:
    """A usage error as one line, with a pointer to the help."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "coterie"
    text = " ".join(error.format_message().split())
    return f"{text if text.endswith('?') else text.rstrip('.') + '.'} See {where} --help."


def remember_json(ctx: click.Context, _: click.Parameter, wanted: bool) -> bool:
    """Click callback: store that results and errors are printed as JSON."""
    ctx.meta[JSON_KEY] = wanted
    return wanted


def exit_code_and_message(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of an error."""
    text = _one_line(error)
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "stopped."
    if isinstance(error, NotWrittenError):
        # Not shortened, since it names files.
        return OUTPUT, " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return INPUT, "not enough memory for this table: use fewer columns or rows."
    if isinstance(error, OSError):
        return OUTPUT if error.errno in DISK_FULL_ERRORS else INPUT, _os_error_message(error)
    if isinstance(error, ValueError | TypeError | ImportError):
        return INPUT, _parameters_to_flags(text)
    if isinstance(error, ArithmeticError | np.linalg.LinAlgError):
        return INPUT, f"numbers are too large or too small to compute with ({text}): rescale them."
    return BUG, f"unexpected {type(error).__name__}: {text}. Run it again with coterie --debug."


def _one_line(error: object) -> str:
    """The message of an error on one line, shortened if long."""
    text = " ".join(str(error).split())
    return (
        text
        if len(text) <= MAX_MESSAGE_LENGTH
        else f"{text[:MAX_MESSAGE_LENGTH].rpartition(' ')[0]} ..."
    )


def _parameters_to_flags(text: str) -> str:
    """A message with the names of parameters replaced by command-line flags."""
    text = re.sub(r"\btest_share=([\d.]+)", r"--test-share \1", text)
    return re.sub(
        rf"\b({'|'.join(FLAG_OF_PARAMETER)})\b", lambda found: FLAG_OF_PARAMETER[found[1]], text
    )


class NotWrittenError(Exception):
    """A file cannot be written; the message is one line."""


@contextmanager
def guard_writing() -> Iterator[None]:
    """Turn errors inside the block into NotWrittenError."""
    try:
        yield
    except PartlyWrittenError as error:
        raise NotWrittenError(str(error)) from error
    except OSError as error:
        raise NotWrittenError(_os_error_message(error)) from error
    except ValueError as error:
        raise NotWrittenError(str(error)) from error


@contextmanager
def guard_printing(*files: Path | str) -> Iterator[None]:
    """Turn failed prints inside the block into NotWrittenError, naming the files written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        new_files = f" {files_are(files)} new." if files else ""
        raise NotWrittenError(f"standard output: {_os_error_message(error)}{new_files}") from error


def _os_error_message(error: OSError) -> str:
    """The message of the operating system, with the name of the file."""
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."
