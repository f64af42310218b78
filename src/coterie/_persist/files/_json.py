"""Strict JSON: no NaN and no duplicate keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from coterie._persist.files._entry import UnreadableError

# Objects up to this depth have one line per key, so that people can read the file.
INDENTED_LEVELS = 3


def text_of(document: Any, level: int = 0) -> str:
    """A document as JSON text in ASCII; equal documents give equal text.

    Examples
    --------
    >>> print(text_of({"labels": [0, 0, 1], "scaling": {"spread": [0.1]}}), end="")
    {
     "labels": [0,0,1],
     "scaling": {
      "spread": [0.1]
     }
    }
    """
    end = "" if level else "\n"
    if not isinstance(document, dict) or not document or level >= INDENTED_LEVELS:
        return json.dumps(document, allow_nan=False, separators=(",", ":")) + end
    indent = "\n" + " " * (level + 1)
    pairs = (f"{json.dumps(key)}: {text_of(document[key], level + 1)}" for key in document)
    return "{" + indent + f",{indent}".join(pairs) + indent[:-1] + "}" + end


def read_document(path: Any) -> Any:
    """The JSON document in a file; raise UnreadableError if there is none."""
    return document_in(Path(path).read_bytes())


def document_in(content: bytes) -> Any:
    """The JSON document in bytes; raise UnreadableError if there is none."""
    try:
        return json.loads(
            content.decode("utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_duplicate_keys,
        )
    except UnicodeDecodeError:
        raise UnreadableError("it is not text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise UnreadableError(f"it is not JSON, or truncated: {error}") from None
    except RecursionError:
        raise UnreadableError("its lists are nested too deeply") from None
    except UnreadableError:
        raise
    except ValueError:
        # Python limits the number of digits of an integer.
        raise UnreadableError("it has a number with too many digits") from None


def _refuse_constant(word: str) -> Any:
    raise UnreadableError(f"it has {word}, which is not JSON")


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise UnreadableError("it has a duplicate key")
    return document
