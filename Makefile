# `make` or `make help` says what there is.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := embedded,mlflow,dev
PORT   ?= 2024
TESTERS ?= 3
MINUTES ?= 10
CHAOS   ?= --workers 3
BENCH   ?=

.DEFAULT_GOAL := help
.PHONY: help serve test test-clients demo check bench bench-quick chaos clean

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS)]'
	touch $@

serve: $(VENV)/installed ## Serve the example agent on http://127.0.0.1:2024 (PORT=... for another)
	$(BIN)/langgraph-durable dev --port $(PORT)

test: $(VENV)/installed ## Run the tests
	$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder

test-clients: $(VENV)/installed ## Stock JavaScript clients, also in a browser; and servers behind PgBouncer
	tests/clients/run $(BIN)/python

demo: $(VENV)/installed ## Kill a server in the middle of a tool call, twice, and watch
	$(BIN)/python -m cookbooks.demo

check: $(VENV)/installed ## Lint, types, and which module may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed ## Measure everything beside bare LangGraph, some ten minutes (BENCH="--json FILE")
	$(BIN)/python -m bench $(BENCH)

bench-quick: $(VENV)/installed ## The same in some two minutes (BENCH="--only runs,streams --against FILE")
	$(BIN)/python -m bench --quick $(BENCH)

chaos: $(VENV)/installed ## Faults at random for 10 minutes, then check every law (MINUTES=60 CHAOS="--seed 7")
	$(BIN)/python -m tests.chaos --minutes $(MINUTES) $(CHAOS)

clean: ## Remove the virtual environment and the caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
