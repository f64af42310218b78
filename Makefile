# Everything here sets up what it needs: a virtual environment in .venv, from Python >= 3.11.
PYTHON ?= python3
BIN := .venv/bin
LIGHT := .venv/light
READY := .venv/ready
ENGINES := .venv/engines
# Of the hunt: how long, and from which seed on; the seconds of the clock, if nobody says.
MINUTES ?= 10
SEED ?= $(shell date +%s)

MUTANTS ?= --number 200 --minutes 30

# The lowest versions of what is needed, in a virtual environment of their own.
FLOORS := .venv-floors
# One of so many fast tests is run with them: make floors SHARE=1 runs all.
SHARE ?= 12

.PHONY: help demo test check floors hunt quick mutants reproduce fight bench pictures gallery clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 16

# What a user installs; enough for the demo, and set up in seconds.
$(LIGHT): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "coterie needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[cli]'
	touch $(LIGHT)

$(READY): $(LIGHT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(READY)

$(ENGINES): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,engines]'
	touch $(ENGINES)

demo: $(LIGHT)  ## group the features of two problems, compare with PCA and Ward, and write a report
	$(BIN)/python examples/demo.py
	@echo
	$(BIN)/coterie demo -o build/demo

test: $(ENGINES)  ## all tests, the paper's tables included
	$(BIN)/python -m pytest -n auto -q

check: $(ENGINES)  ## types, lint, all fast tests, a third of the slow ones, and shares of floors and tables
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto -q --share 5
	$(MAKE) floors
	$(MAKE) quick

hunt: $(ENGINES)  ## look for wrong answers in random problems, as in make hunt MINUTES=30 SEED=1
	PYTHONPATH=tests $(BIN)/python -m hunt --minutes $(MINUTES) --seed $(SEED)

$(FLOORS)/ready: pyproject.toml requirements/floors.txt
	$(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		-c requirements/floors.txt -e '.[arrow,cli,plot,progress]' \
		hypothesis jsonschema openpyxl pandas pytest pytest-xdist statsmodels xarray
	touch $(FLOORS)/ready

# Left out: what stands on libraries that are not there, and on none but the newest versions.
floors: $(FLOORS)/ready  ## a share of the fast tests with the lowest versions that are declared
	$(FLOORS)/bin/python -m pytest -n auto -q -m 'not slow' --share-of-fast $(SHARE) \
		--hypothesis-profile few -p no:cacheprovider \
		--ignore tests/_data/engines --ignore tests/experiments --ignore tests/_core/compiled \
		--ignore tests/test_docs.py --ignore tests/test_examples.py \
		--ignore src/coterie/_data/engines --ignore src/coterie/_core/compiled --ignore src/coterie/_persist/onnx.py

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fight]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(FIGHT_PYPI)
	mkdir -p build/fight/debian
	cd build/fight && apt-get download -q $(FIGHT_DEBIAN) && \
		for package in *.deb; do dpkg -x $$package debian; done || \
		echo "Without Debian's packages some sets are left out."
	touch $(FIGHT)

fight: $(FIGHT)  ## compare on data that nobody tuned on, over an hour; writes docs/fight.md
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.fight run
	$(BIN)/python -m experiments.fight page

bench: $(READY)  ## measure speed and memory beside peers; writes benchmarks/results
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python benchmarks/run.py

pictures: $(READY)  ## draw the pictures of the README and of docs again
	$(BIN)/python docs/pictures.py

gallery: $(READY)  ## run the worked examples and write their pages, docs/gallery
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[gallery]'
	$(BIN)/python docs/gallery.py

clean:  ## remove the virtual environments and caches
	rm -rf .venv $(FLOORS) .pytest_cache .mypy_cache .ruff_cache .hypothesis
