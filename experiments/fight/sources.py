"""Files of installed or unpacked packages become frames, or one sentence says what is missing."""

from __future__ import annotations

import bz2
import lzma
import os
import warnings
import zlib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.methods import Unavailable

HERE = Path(__file__).parent
UNPACKED = HERE.parents[1] / "build" / "fight" / "debian"
LIBRARIES = ("usr/lib/R/site-library", "usr/lib/R/library")


class NoSource(Unavailable):
    """A package is not there; the message says which, and how to get it."""


def r_package(debian_name: str, folder_name: str, roots: tuple[Path, ...] | None = None) -> Path:
    """The folder of an R package, unpacked by ``make fight`` or installed by Debian.

    Raises
    ------
    NoSource
        If it is in neither place.
    """
    for root in roots or (UNPACKED, Path(os.sep)):
        for library in LIBRARIES:
            if (root / library / folder_name / "DESCRIPTION").is_file():
                return root / library / folder_name
    raise NoSource(f"{debian_name} is not installed: make fight, or apt-get install {debian_name}")


def r_version(package: Path) -> str:
    """What DESCRIPTION says."""
    lines = (package / "DESCRIPTION").read_text("utf-8", "replace").splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("Version:"))


def r_objects(package: Path, name: str) -> dict[str, Any]:
    """The objects of one data file, or one object of a lazy-load database, as Python values.

    Data frames become dictionaries of columns, because their columns may be matrices.
    """
    if find_spec("rdata") is None:
        raise NoSource("rdata is not installed: pip install 'coterie[fight]'")
    for ending in (".rda", ".RData"):
        path = package / "data" / f"{name}{ending}"
        if path.is_file():
            return _converted(_parsed_file(path))
    return {name: _converted(_parsed_bytes(_lazy_bytes(package / "data" / "Rdata", name)))}


def _parsed_file(path: Path) -> Any:
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rdata.parser.parse_file(path)


def _parsed_bytes(content: bytes) -> Any:
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rdata.parser.parse_data(content)


def _converted(parsed: Any) -> Any:
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rdata.conversion.convert(
            parsed, constructor_dict={**rdata.conversion.DEFAULT_CLASS_MAP, "data.frame": _columns}
        )


def _columns(columns: dict[str, Any], _attributes: dict[str, Any]) -> dict[str, Any]:
    return {str(name): column for name, column in columns.items()}


def _lazy_bytes(stem: Path, name: str) -> bytes:
    """One object of a lazy-load database: its place is in the index, its first bytes say how long.

    Four bytes hold the length; then comes zlib, or a letter and the stream of another compressor.
    """
    index = _converted(_parsed_file(stem.with_suffix(".rdx")))["variables"]
    start, length = (int(number) for number in index[name])
    with stem.with_suffix(".rdb").open("rb") as file:
        file.seek(start)
        stored = file.read(length)
    if stored[4:5] == b"Z":
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        return lzma.decompress(stored[5:], format=lzma.FORMAT_RAW, filters=filters)
    return bz2.decompress(stored[5:]) if stored[4:5] == b"2" else zlib.decompress(stored[4:])


def python_file(package: str, ending: str) -> Path:
    """A file of an installed Python package, which is not imported.

    Raises
    ------
    NoSource
        If the package or the file is not there.
    """
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError as error:
        raise NoSource(f"{package} is not installed: make fight") from error
    found = [file for file in files if str(file).endswith(ending)]
    if not found:
        raise NoSource(f"{package} {metadata.version(package)} has no file {ending}")
    return Path(str(found[0].locate()))


def python_version(package: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError as error:
        raise NoSource(f"{package} is not installed: make fight") from error


def time_series(package: str, name: str) -> pd.DataFrame:
    """All cases of a file of equally long series, from both parts; the target is last."""
    rows = []
    for part in ("TRAIN", "TEST"):
        lines = python_file(package, f"{name}/{name}_{part}.ts").read_text("utf-8").splitlines()
        start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data") + 1
        rows += [line.replace(":", ",").split(",") for line in lines[start:] if line.strip()]
    frame = pd.DataFrame(rows)
    frame.columns = [*(f"t{i:03d}" for i in range(frame.shape[1] - 1)), "target"]
    return frame
