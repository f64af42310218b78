"""Values as JSON files, written atomically with exact numbers and validated when loaded."""

from coterie._persist.files._arrays import (
    array_in,
    floats_in,
    number_in,
    plain_array,
    plain_numbers,
)
from coterie._persist.files._atomic import (
    DISK_FULL_ERRORS,
    Opener,
    PartlyWrittenError,
    files_are,
    whole_file,
    whole_files,
    write_whole,
)
from coterie._persist.files._dataclasses import plain_record, record_in
from coterie._persist.files._entry import Entry, UnreadableError
from coterie._persist.files._json import document_in, read_document, text_of
from coterie._persist.files._values import NotPlainError, plain_value, value_in

__all__ = [
    "DISK_FULL_ERRORS",
    "Entry",
    "NotPlainError",
    "Opener",
    "PartlyWrittenError",
    "UnreadableError",
    "array_in",
    "document_in",
    "files_are",
    "floats_in",
    "number_in",
    "plain_array",
    "plain_numbers",
    "plain_record",
    "plain_value",
    "read_document",
    "record_in",
    "text_of",
    "value_in",
    "whole_file",
    "whole_files",
    "write_whole",
]
