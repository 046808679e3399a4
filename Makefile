# Context workbench. `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= runs/latest
DATASET ?= starter
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test slow browser notebooks lint lab clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# either of the extras brings the package itself, so that one call of pip does for each target
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.test $(VENV)/.lab: $(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $(VENV)/.installed $@

run: $(VENV)/.installed ## compare two configurations on the starter dataset; prints the path of the report
	$(BIN)/workbench run --dataset $(DATASET) --out $(OUT)

test: $(VENV)/.test ## install with test extras and run the default test suite
	$(BIN)/python -m pytest -n auto --dist worksteal

slow: $(VENV)/.test ## the tests that take longer
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

browser: $(VENV)/.test ## the tests that need Chromium (Debian: apt-get install chromium)
	$(BIN)/python -m pytest -m browser

notebooks: $(VENV)/.test ## execute all notebooks in fresh kernels and check their key numbers
	$(BIN)/python notebooks/execute.py --jobs $(JOBS)

lint: $(VENV)/.test ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lab: $(VENV)/.lab ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab --notebook-dir=notebooks

clean: ## remove the environment and caches of tools
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist
