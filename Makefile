# Loom. `make demo` shows it working, `make test` proves it; `make help` lists the rest.
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
DATA ?= .loom/data

.DEFAULT_GOAL := help
.PHONY: help demo run test check lint types unit protos contract samples lock bench corpus crash mutations clean

help: ## Lists the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# What the services and the command need, locked with hashes.
$(VENV)/.run: requirements/run.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Loom needs Python 3.11 to 3.13; name one with make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --require-hashes -r requirements/run.txt
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# What the tests and checks need on top.
$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

# What the measurements stand beside.
$(VENV)/.bench: $(VENV)/.dev requirements/bench.txt
	$(PIP) install --quiet --require-hashes -r requirements/bench.txt
	@touch $@

demo: $(VENV)/.run ## Starts both services, ingests samples, searches, runs a plan, stops
	$(BIN)/python -m clients.demo

run: $(VENV)/.run ## Starts both services on loopback and keeps them up
	$(BIN)/loom serve --data-dir $(DATA)

test: $(VENV)/.dev ## Runs the whole test suite
	$(BIN)/python -m pytest

check: lint types unit ## Runs lint, types, import rules and the quick tests

lint: $(VENV)/.dev ## Lints code, protos, import rules and container files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(BIN)/buf breaking --against protos/released.binpb
	$(BIN)/python tools/protos.py --check
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

types: $(VENV)/.dev ## Checks types, strictly
	$(BIN)/mypy .

unit: $(VENV)/.dev ## Runs the unit tests
	$(BIN)/python -m pytest -q tests/unit

protos: $(VENV)/.dev ## Writes the generated code beside the protos
	$(BIN)/python tools/protos.py

contract: $(VENV)/.dev ## Takes the protos as released: later changes must not break them
	$(BIN)/buf build --output protos/released.binpb

samples: $(VENV)/.dev ## Writes the sample files
	$(BIN)/python samples/make_samples.py

bench: $(VENV)/.bench ## Measures Loom against its own parts, and the extractor against other tools
	$(BIN)/python -m bench

crash: $(VENV)/.dev ## Kills the service over and over during ingest and search; long
	$(BIN)/python -m pytest -q -m crash tests/e2e --timeout 7200

corpus: $(VENV)/.dev ## Ingests every file of the shared corpus, looks for what it says, scores dense scans; long
	$(BIN)/python -m pytest -q -s -m corpus tests --timeout 7200

mutations: $(VENV)/.dev ## Has the extractor read ten thousand damaged files; long
	$(BIN)/python -m pytest -q -s -m mutations tests/e2e --timeout 7200

lock: $(VENV)/.dev ## Writes the locked requirements anew
	sh tools/lock.sh $(BIN)/uv

clean: ## Removes the environment, the data of demo and run, and caches
	rm -rf $(VENV) .loom .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
