"""Convert text to UTF-8; errors name the line and the byte."""

from __future__ import annotations

import codecs

from coterie._data.tables._errors import TableError, quote

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Size of the chunks in which the content is checked.
DECODE_CHUNK_BYTES = 2**24
# Control characters that text does not contain.
CONTROL_BYTES = bytes({*range(32)} - {*b"\t\n\r\f\v\x1a\x1b"})


def to_utf8(content: bytes, encoding: str | None, where: str) -> bytes:
    """The text in UTF-8, without a byte order mark.

    Examples
    --------
    >>> to_utf8("été".encode("latin-1"), "latin-1", "x.csv").decode()
    'été'
    >>> to_utf8("été".encode("latin-1"), None, "x.csv")
    Traceback (most recent call last):
    coterie._data.tables._errors.TableError: x.csv is not in UTF-8 (line 1, byte 1 is 0xe9): \
if it comes from an older program, pass --encoding latin-1.
    """
    for mark, name in BYTE_ORDER_MARKS.items():
        if encoding is None and content.startswith(mark):
            encoding = name
    if encoding is not None:
        content = _decode(content, encoding, where).encode("utf-8", "replace")
    content = content.removeprefix(codecs.BOM_UTF8)
    _check_utf8(content, where)
    if b"\0" in content:
        raise TableError(
            f"{where} has null bytes: it is not text, or it is UTF-16 without a byte order "
            "mark; then pass --encoding utf-16-le."
        )
    return content


def _decode(content: bytes, encoding: str, where: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        raise TableError(
            f"{where} is not in {encoding} (byte {start + 1}): try another --encoding."
        ) from None
    except (LookupError, ValueError):
        raise TableError(
            f"--encoding must be one that Python knows, such as utf-8, latin-1 or cp1252, "
            f"got {quote(encoding)}."
        ) from None


def _check_utf8(content: bytes, where: str) -> None:
    decoder, start = codecs.getincrementaldecoder("utf-8")(), 0
    for start in range(0, len(content), DECODE_CHUNK_BYTES):
        # Bytes left over from the previous chunk come first.
        before = len(decoder.getstate()[0])
        try:
            decoder.decode(
                content[start : start + DECODE_CHUNK_BYTES],
                final=start + DECODE_CHUNK_BYTES >= len(content),
            )
        except UnicodeDecodeError as error:
            raise _not_utf8_error(content, start - before + error.start, where) from None


def _not_utf8_error(content: bytes, position: int, where: str) -> TableError:
    if content[:1000].translate(None, CONTROL_BYTES) != content[:1000]:
        return TableError(
            f"{where} is neither text nor a known format: name a CSV or Parquet file."
        )
    line = content.count(b"\n", 0, position) + 1
    return TableError(
        f"{where} is not in UTF-8 (line {line}, byte {position + 1} is 0x{content[position]:02x}): "
        "if it comes from an older program, pass --encoding latin-1."
    )
