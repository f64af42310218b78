"""The command line: options become calls, and errors become one line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command ``coterie``."""
    try:
        import click  # noqa: F401
        import polars  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        print(
            f"coterie: the command line needs an extra ({error.name} is missing): "
            'pip install "coterie[cli]".',
            file=sys.stderr,
        )
        sys.exit(2)
    from coterie._core.interrupts import raise_interrupts
    from coterie.cli._commands import coterie

    raise_interrupts()
    coterie()
