# Everything here sets up what it needs: a virtual environment in .venv, from Python >= 3.11.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
SCRIPTS := Scripts
else
PYTHON ?= python3
SCRIPTS := bin
endif
BIN := .venv/$(SCRIPTS)
PIP := -m pip install --quiet --disable-pip-version-check
LIGHT := .venv/light
READY := .venv/ready
ENGINES := .venv/engines
SITE := .venv/site
PACKAGE := .venv-package/ready
# Of the hunt: how long, and from which seed on; the seconds of the clock, if nobody says.
MINUTES ?= 10
SEED ?= $(shell date +%s)

MUTANTS ?= --number 200 --minutes 30

# Virtual environments of their own: the oldest versions that are declared, and the newest there are,
# pre-releases too.
OLDEST := .venv-oldest
NEWEST := .venv-newest
# One of so many fast tests is run with the oldest: make test-oldest SHARE=12.
SHARE ?= 1
# More arguments of pytest, as in make test-fast PYTEST="-n 1".
PYTEST ?= -n auto -q

.PHONY: help demo test test-fast test-oldest test-newest check hunt quick mutants coverage package \
	reproduce fight bench asv figures pictures docs clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 20

# What a user installs; enough for the demo, and set up in seconds.
$(LIGHT): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "coterie needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --no-compile -e '.[cli]'
	touch $(LIGHT)

$(READY): $(LIGHT)
	$(BIN)/python $(PIP) -e '.[dev]'
	touch $(READY)

$(ENGINES): $(READY)
	$(BIN)/python $(PIP) -e '.[dev,engines]'
	touch $(ENGINES)

demo: $(LIGHT)  ## group the features of two problems, compare with PCA and Ward, and write a report
	$(BIN)/python examples/demo.py
	@echo
	$(BIN)/coterie demo -o build/demo

test: $(ENGINES)  ## all tests, the paper's tables included
	$(BIN)/python -m pytest -n auto -q

test-fast: $(ENGINES)  ## all fast tests
	$(BIN)/python -m pytest $(PYTEST) -m 'not slow'

check: $(ENGINES)  ## types, lint, all fast tests, a fifth of the slow ones, and shares of test-oldest and quick
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto -q --share 5
	$(MAKE) test-oldest SHARE=12
	$(MAKE) quick

hunt: $(ENGINES)  ## look for wrong answers in random problems, as in make hunt MINUTES=30 SEED=1
	PYTHONPATH=tests $(BIN)/python -m hunt --minutes $(MINUTES) --seed $(SEED)

$(OLDEST)/ready: pyproject.toml requirements/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/$(SCRIPTS)/python $(PIP) --no-compile -c requirements/oldest.txt -e '.[dev,engines]'
	touch $(OLDEST)/ready

$(NEWEST)/ready: pyproject.toml requirements/newest.txt
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/$(SCRIPTS)/python $(PIP) --no-compile --pre --upgrade -c requirements/newest.txt \
		-e '.[dev,engines]'
	touch $(NEWEST)/ready

test-oldest: $(OLDEST)/ready  ## the fast tests with the oldest versions that are declared
	$(OLDEST)/$(SCRIPTS)/python -m pytest $(PYTEST) -m 'not slow' --share-of-fast $(SHARE) \
		--hypothesis-profile few -p no:cacheprovider

test-newest: $(NEWEST)/ready  ## the fast tests with the newest versions, pre-releases too
	$(NEWEST)/$(SCRIPTS)/python -m pytest $(PYTEST) -m 'not slow' --share-of-fast $(SHARE) \
		--hypothesis-profile few -p no:cacheprovider

quick: $(READY)  ## a share of the paper's tables in a minute or two; fails where a number is not met
	rm -rf build/quick
	$(BIN)/python -m experiments run --quick --into build/quick
	$(BIN)/python -m experiments check --into build/quick

mutants: $(ENGINES)  ## change one thing in the source at a time and see whether a test notices
	$(BIN)/python tests/mutation/mutants.py $(MUTANTS)

reproduce: $(READY)  ## all tables and figures of the paper and the comparison, into reproduced/
	$(BIN)/python -m experiments run

# Data sets of other packages: from PyPI without what those need, from Debian without installing.
FIGHT := .venv/fight
FIGHT_DEBIAN := r-cran-caret r-cran-kernlab r-cran-mlbench r-cran-modeldata r-cran-pls \
	r-cran-psychtools r-cran-rrcov
FIGHT_PYPI := ISLP==0.6.0 Orange-Spectroscopy==0.9.3 aeon==1.6.0

$(FIGHT): $(READY)
	$(BIN)/python $(PIP) -e '.[fight]'
	$(BIN)/python $(PIP) --no-deps $(FIGHT_PYPI)
	mkdir -p build/fight/debian
	cd build/fight && apt-get download -q $(FIGHT_DEBIAN) && \
		for package in *.deb; do dpkg -x $$package debian; done || \
		echo "Without Debian's packages some sets are left out."
	touch $(FIGHT)

fight: $(FIGHT)  ## compare on data that nobody tuned on, over an hour; writes docs/results/fight.md
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.fight run
	$(BIN)/python -m experiments.fight page

# On an idle machine; BUSY=1 measures in spite of others, and marks the figures as preliminary.
bench: $(READY)  ## measure speed and memory beside peers; writes benchmarks/results
	$(BIN)/python $(PIP) -e '.[bench]'
	$(BIN)/coterie warm-up
	$(BIN)/python benchmarks/run.py $(if $(BUSY),--busy)

# The commit that HEAD is compared with: the one before the last change of the library.
BASE ?= $(shell git log -2 --format=%H -- src | tail -1)
ASV := $(BIN)/asv
# What the results call this machine, in plain words.
MACHINE ?= two-cores
CORES := $(shell getconf _NPROCESSORS_ONLN)

asv: $(READY)  ## time the last change with asv; fails where something takes 10 % longer
	$(BIN)/python $(PIP) -e '.[asv]'
	$(BIN)/python benchmarks/idle.py $(if $(BUSY),--busy)
	$(ASV) machine --machine $(MACHINE) --arch x86_64 --os Linux --cpu "$(CORES) cores" \
		--num_cpu $(CORES) --ram "$$(free --giga | awk '/Mem/ {print $$2}') GB"
	$(ASV) continuous --machine $(MACHINE) --factor 1.1 --show-stderr $(ASVFLAGS) $(BASE) HEAD

figures: $(READY)  ## write the measured figures of the pages anew, from the committed results
	$(BIN)/python docs/figures.py

pictures: $(READY)  ## draw the pictures of the README and of docs again
	$(BIN)/python docs/pictures.py

$(SITE): $(LIGHT)
	$(BIN)/python $(PIP) -e '.[docs]'
	touch $(SITE)

# From nothing each time: pages of names and examples that are gone would stay. Needs no network.
docs: $(SITE)  ## build the site of the documentation into build/site, and check its links
	rm -rf build/site build/doctrees docs/gallery docs/api/generated
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/site
	$(BIN)/python docs/check_links.py build/site
	@echo "Open build/site/index.html."

coverage: $(ENGINES)  ## which lines and branches of the package the fast tests run
	$(BIN)/python -m pytest $(PYTEST) -m 'not slow' --cov --cov-report=term --cov-report=xml

$(PACKAGE): pyproject.toml
	$(PYTHON) -m venv .venv-package
	.venv-package/$(SCRIPTS)/python $(PIP) --no-compile -e '.[package]'
	touch $(PACKAGE)

package: $(PACKAGE)  ## build the sdist and the wheel into dist/ and check them
	rm -rf dist
	.venv-package/$(SCRIPTS)/python -m build
	.venv-package/$(SCRIPTS)/twine check --strict dist/*
	.venv-package/$(SCRIPTS)/check-wheel-contents dist/*.whl
	.venv-package/$(SCRIPTS)/validate-pyproject pyproject.toml
	.venv-package/$(SCRIPTS)/pyroma --min=10 .
	.venv-package/$(SCRIPTS)/cffconvert --validate
	.venv-package/$(SCRIPTS)/python release/check.py $(TAG)
	.venv-package/$(SCRIPTS)/python release/recipe.py

clean:  ## remove the virtual environments, caches and generated pages
	rm -rf build/site build/doctrees docs/gallery docs/api/generated .venv .asv $(OLDEST) $(NEWEST) .venv-package .pytest_cache .mypy_cache .ruff_cache .hypothesis
