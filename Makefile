# Everything here sets up what it needs: a virtual environment in .venv, from Python >= 3.11.
PYTHON ?= python3
BIN := .venv/bin
LIGHT := .venv/light
READY := .venv/ready
ENGINES := .venv/engines
SITE := .venv/site
# Of the hunt: how long, and from which seed on; the seconds of the clock, if nobody says.
MINUTES ?= 10
SEED ?= $(shell date +%s)

MUTANTS ?= --number 200 --minutes 30

# The lowest versions of what is needed, in a virtual environment of their own.
FLOORS := .venv-floors
# One of so many fast tests is run with them: make floors SHARE=1 runs all.
SHARE ?= 12

.PHONY: help demo test check floors hunt quick mutants reproduce bench asv figures pictures docs clean

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

# On an idle machine; BUSY=1 measures in spite of others, and marks the figures as preliminary.
bench: $(READY)  ## measure speed and memory beside peers; writes benchmarks/results
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/coterie warm-up
	$(BIN)/python benchmarks/run.py $(if $(BUSY),--busy)

# The commit that HEAD is compared with: the one before the last change of the library.
BASE ?= $(shell git log -2 --format=%H -- src | tail -1)
ASV := $(BIN)/asv
# What the results call this machine, in plain words.
MACHINE ?= two-cores
CORES := $(shell getconf _NPROCESSORS_ONLN)

asv: $(READY)  ## time the last change with asv; fails where something takes 10 % longer
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[asv]'
	$(BIN)/python benchmarks/idle.py $(if $(BUSY),--busy)
	$(ASV) machine --machine $(MACHINE) --arch x86_64 --os Linux --cpu "$(CORES) cores" \
		--num_cpu $(CORES) --ram "$$(free --giga | awk '/Mem/ {print $$2}') GB"
	$(ASV) continuous --machine $(MACHINE) --factor 1.1 --show-stderr $(ASVFLAGS) $(BASE) HEAD

figures: $(READY)  ## write the measured figures of the pages anew, from the committed results
	$(BIN)/python docs/figures.py

pictures: $(READY)  ## draw the pictures of the README and of docs again
	$(BIN)/python docs/pictures.py

$(SITE): $(LIGHT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $(SITE)

# From nothing each time: pages of names and examples that are gone would stay. Needs no network.
docs: $(SITE)  ## build the site of the documentation into build/site, and check its links
	rm -rf build/site build/doctrees docs/gallery docs/api/generated
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/site
	$(BIN)/python docs/check_links.py build/site
	@echo "Open build/site/index.html."

clean:  ## remove the virtual environments, caches and generated pages
	rm -rf build/site build/doctrees docs/gallery docs/api/generated .venv $(FLOORS) .asv .pytest_cache .mypy_cache .ruff_cache .hypothesis
