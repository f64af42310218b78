"""Check that every link inside the built site leads to a page, a file or a heading that exists.

Run with ``python docs/check_links.py build/site``. Links to the address of the site count as
inside; links to other sites are counted and not followed, so no network is needed.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).parent))

from addresses import SITE

# A link to the top of the same page.
IGNORED = {"#"}


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places.update(value for key in ("id", "name") if (value := given.get(key)))
        self.links.update(value for key in ("href", "src") if (value := given.get(key)))


def broken_links(root):
    """Pairs of a page and a link in it that leads nowhere; and how many links were checked."""
    pages = {
        path: Page(path) for path in sorted(root.rglob("*.html")) if "_static" not in path.parts
    }
    broken, n_checked, n_outside = [], 0, 0
    for path, page in pages.items():
        here = urljoin(SITE, path.relative_to(root).as_posix())
        for link in sorted(page.links - IGNORED):
            address = urljoin(here, link)
            if not address.startswith(SITE):
                n_outside += urlsplit(address).scheme in {"http", "https"}
                continue
            n_checked += 1
            file, _, place = address.removeprefix(SITE).partition("#")
            target = root / (unquote(urlsplit(file).path) or "index.html")
            is_missing = not target.is_file()
            if is_missing or (
                target in pages and place and unquote(place) not in pages[target].places
            ):
                broken.append((path.relative_to(root), link))
    return broken, n_checked, n_outside


if __name__ == "__main__":
    found, n_checked, n_outside = broken_links(Path(sys.argv[1]))
    for page, link in found:
        print(f"{page}: {link} leads nowhere")
    print(f"{n_checked:,} links inside the site, {len(found)} broken; {n_outside:,} lead outside.")
    sys.exit(bool(found))
