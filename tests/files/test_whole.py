"""A file that is the old one or the new one."""

import pytest

from coterie.files import whole_file, write_whole


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
