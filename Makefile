# Everything runs in .venv, made from requirements.lock. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := src tests examples scripts $(wildcard benchmarks/*.py)
# A machine without the registry runs the other tests.
CONNECTORS := $(MAKE) --no-print-directory setup-connectors || \
  echo "test: no connectors, see above; the tests of Kafka are skipped"
# A machine without the browser runs the other tests.
BROWSER := $(MAKE) --no-print-directory setup-browser || \
  echo "test: no Chromium, see above; the tests of the console in a browser are skipped"

export PYTHONHASHSEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help setup setup-connectors setup-browser demo test test-long test-bounds test-faults soak check format bench figures docs lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(STAMP)  ## make the virtual environment

$(STAMP): requirements.lock pyproject.toml scripts/check_machine.py
	@$(PYTHON) scripts/check_machine.py
	@echo "setup: installing the locked dependencies into $(VENV) (some minutes the first time)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python scripts/order_examples.py
	@echo "setup: compiling modules and kernels, and archiving the classes of Spark (some minutes)"
	@$(BIN)/eddyline prepare
	@touch $@
	@echo "setup: done"

setup-connectors: setup  ## fetch Spark's connector for Kafka, and a broker for tests and measurements
	@$(BIN)/eddyline connectors
	@$(BIN)/python -m eddyline.bench.kafka_broker

setup-browser:  ## install Chromium and its driver, for tests of the console (Debian, as root)
	@command -v chromium chromedriver >/dev/null || \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; }

demo: setup  ## run the demo: ten standing queries over real streams
	@$(BIN)/eddyline demo

test: setup  ## run the tests
	@$(CONNECTORS)
	@$(BROWSER)
	@echo "test: about half an hour on two cores"
	$(BIN)/python scripts/run_tests.py "not long"

test-long: setup  ## run all tests, with tens of thousands of generated cases (hours)
	@$(CONNECTORS)
	@$(BROWSER)
	EDDYLINE_HYPOTHESIS_PROFILE=long $(BIN)/python scripts/run_tests.py "long or not long"

test-bounds: setup  ## run the tests without Spark while kernels check the bounds of arrays (an hour)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.numba-bounds \
	  $(BIN)/python -m pytest -q -m "not spark and not long and not fault" -n 2 --dist worksteal

test-faults: setup  ## kill workers and drivers, cut and litter files (minutes)
	@$(CONNECTORS)
	$(BIN)/python -m pytest -q -m "fault and not spark"
	$(BIN)/python -m pytest -q -m "fault and spark"

soak: setup  ## run a job for half an hour while queries come and go: does anything grow?
	@$(CONNECTORS)
	$(BIN)/eddyline bench soak

check: setup  ## format, lint, types and layers
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## format and fix what can be fixed
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench: setup  ## measure this machine
	$(BIN)/eddyline bench micro

figures: setup  ## all figures of the five papers, and the page about them (hours, on an idle machine)
	$(BIN)/eddyline calibrate
	$(BIN)/eddyline bench figures all --out docs/figures

docs: setup  ## the documents as a site, build/docs/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "docs: open build/docs/index.html"

lock:  ## renew requirements.lock (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --all-extras \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --quiet \
	  --custom-compile-command "make lock" --output-file requirements.lock

clean:  ## remove everything made here
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .numba-bounds \
	  build dist spark-warehouse metastore_db
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
