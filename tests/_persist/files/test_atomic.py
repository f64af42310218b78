"""Files that are the old ones or the new ones."""

import os
from pathlib import Path

import pytest

from coterie._persist.files import PartlyWrittenError, whole_file, whole_files, write_whole


def test_a_block_that_ends_well_gives_the_file(tmp_path):
    path = tmp_path / "file"
    with whole_file(path) as file:
        file.write(b"\x00new")
        assert not path.exists()
    assert path.read_bytes() == b"\x00new"
    assert [*tmp_path.iterdir()] == [path]


def _fail_while_writing(path, error):
    with whole_file(path) as file:
        file.write(b"new")
        raise error


@pytest.mark.parametrize("error", [OSError(28, "full"), KeyboardInterrupt()])
def test_a_block_that_fails_leaves_the_old_file(error, tmp_path):
    path = tmp_path / "file"
    write_whole(path, "old")
    with pytest.raises(type(error)):
        _fail_while_writing(path, error)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_text_is_ascii_with_plain_ends_of_lines(tmp_path):
    write_whole(tmp_path / "file", "a\nb\n")
    assert (tmp_path / "file").read_bytes() == b"a\nb\n"
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "other", "é")
    assert len([*tmp_path.iterdir()]) == 1


# Sets of files.

NAMES = ["a", "b", "c"]


@pytest.fixture
def old(tmp_path):
    """Three old files."""
    for name in NAMES:
        (tmp_path / name).write_text(f"old {name}")
    return tmp_path


def contents(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


OLD, NEW = ({name: f"{age} {name}" for name in NAMES} for age in ("old", "new"))


def write_set(folder):
    with whole_files() as opener:
        for name in NAMES:
            write_whole(folder / name, f"new {name}", opener)
        there = contents(folder)
        assert not any(there.get(name) == NEW[name] for name in NAMES)


def failing(monkeypatch, owner, name, at, error):
    """The call of some number fails, counted from 0."""
    calls, real = [], getattr(owner, name)

    def called(*args, **options):
        calls.append(args)
        if len(calls) == at + 1:
            raise error
        return real(*args, **options)

    monkeypatch.setattr(owner, name, called)


def test_files_of_a_set_get_their_names_together(old):
    write_set(old)
    assert contents(old) == NEW


def test_files_of_a_set_may_lie_anywhere_and_be_links(old, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "real").write_text("old")
    (elsewhere / "real").chmod(0o640)
    (old / "b").unlink()
    (old / "b").symlink_to(elsewhere / "real")
    write_set(old)
    assert contents(old) == NEW
    assert (old / "b").is_symlink()
    assert contents(elsewhere) == {"real": "new b"}
    assert (elsewhere / "real").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_what_fails_before_all_are_written_leaves_all_old_files(old, monkeypatch, at, kind):
    failing(monkeypatch, os, "fsync", at, kind())
    with pytest.raises(kind):
        write_set(old)
    assert contents(old) == OLD


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_full_disk_leaves_all_old_files_and_names_the_one_without_room(old, monkeypatch, at):
    failing(monkeypatch, os, "fsync", at, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space left") as caught:
        write_set(old)
    assert contents(old) == OLD
    assert caught.value.filename == str(old / NAMES[at])


def test_what_fails_after_all_are_written_leaves_all_old_files(old):
    def interrupted():
        with whole_files() as opener:
            write_whole(old / "a", "new", opener)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert contents(old) == OLD


def test_files_that_were_not_there_are_not_there_after_a_failure(tmp_path, monkeypatch):
    failing(monkeypatch, os, "fsync", 2, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space left"):
        write_set(tmp_path)
    assert contents(tmp_path) == {}


def test_a_target_that_is_no_plain_file_leaves_the_others_old(old):
    (old / "c").unlink()
    (old / "c").mkdir()
    with pytest.raises(ValueError, match="c is not a regular file"):
        write_set(old)
    (old / "c").rmdir()
    assert contents(old) == {"a": "old a", "b": "old b"}


def test_a_file_that_failed_is_left_out_where_somebody_goes_on(old):
    def half(opener):
        with opener(old / "a") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with whole_files() as opener:
        with pytest.raises(ZeroDivisionError):
            half(opener)
        write_whole(old / "b", "new b", opener)
    assert contents(old) == OLD | {"b": "new b"}


def test_a_first_name_that_cannot_be_given_leaves_all_old_files(old, monkeypatch):
    failing(monkeypatch, Path, "replace", 0, PermissionError(13, "Permission denied"))
    with pytest.raises(PermissionError) as caught:
        write_set(old)
    assert not isinstance(caught.value, PartlyWrittenError)
    assert contents(old) == OLD


@pytest.mark.parametrize(
    ("at", "says"),
    [
        (1, "{0}/a is new, {0}/b and {0}/c are as before: {0}/b could not be renamed"),
        (2, "{0}/a and {0}/b are new, {0}/c is as before: {0}/c could not be renamed"),
    ],
)
def test_a_later_name_that_cannot_be_given_says_which_files_are_new(old, monkeypatch, at, says):
    failing(monkeypatch, Path, "replace", at, PermissionError(13, "Permission denied"))
    with pytest.raises(PartlyWrittenError) as caught:
        write_set(old)
    assert str(caught.value) == f"{says.format(old)} (permission denied)."
    assert contents(old) == OLD | {name: NEW[name] for name in NAMES[:at]}


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("is_done", [False, True])
def test_ctrl_c_between_two_names_waits_for_all(old, monkeypatch, at, is_done):
    real, calls = Path.replace, []

    def replace(self, target):
        calls.append(target)
        if len(calls) == at + 1:
            if is_done:
                real(self, target)
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        write_set(old)
    assert contents(old) == NEW


def test_a_folder_that_cannot_be_synced_is_no_failure_to_write(old, monkeypatch):
    """The files are new by then, and an error would say that they are not."""
    failing(monkeypatch, os, "open", 0, PermissionError(13, "Permission denied"))
    write_whole(old / "a", "new a")
    failing(monkeypatch, os, "fsync", 1, OSError(22, "Invalid argument"))
    write_whole(old / "b", "new b")
    assert contents(old) == OLD | {"a": "new a", "b": "new b"}


def test_errors_name_the_file_that_was_asked_for(old, monkeypatch):
    real = Path.open

    def unwritable(self, *args, **options):
        if self.suffix == ".part":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *args, **options)

    monkeypatch.setattr(Path, "open", unwritable)
    with pytest.raises(PermissionError) as caught:
        write_whole(old / "a", "new")
    assert caught.value.filename == str(old / "a")
