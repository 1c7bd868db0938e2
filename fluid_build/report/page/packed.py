"""Long texts as the page carries them: compressed, and unpacked by the browser when they are read.

A contract repeats itself so much that it takes a twentieth of its size. The same text gives the
same bytes: gzip's header holds no time.
"""

import base64
import gzip

_LEVEL = 6
"""zlib's own default: higher levels take three times as long for a few hundredths."""


def packed(text: str) -> str:
    """Return a text as gzip in base64."""
    compressed = gzip.compress(text.encode(), compresslevel=_LEVEL, mtime=0)
    return base64.b64encode(compressed).decode()
