"""Where the site and the files will be: the one place that knows."""

SITE = "https://coterie-dev.github.io/coterie/"
REPOSITORY = "https://github.com/coterie-dev/coterie"
FILES = f"{REPOSITORY}/blob/main/"
FOLDERS = f"{REPOSITORY}/tree/main/"
RAW = "https://raw.githubusercontent.com/coterie-dev/coterie/main/"
