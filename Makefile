# Everything a newcomer needs is `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS := .venv-docs
TYPED := tests/api/typed_examples.py tests/copilot/typed_examples.py tests/copilot/llm/typed_examples.py

# Its announcement of a successor is no warning about our pages.
export NO_MKDOCS_2_WARNING := 1

# The tests start Python many times over, and compiled modules halve each start.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist loadgroup

# Compiling every module of every package takes longer than compiling those that are imported.
ifneq ($(shell command -v uv),)
INSTALL := uv pip install --quiet --python $(BIN)/python --no-deps
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps
endif

.PHONY: demo test test-fast test-all check bench docs docs-serve lock clean

demo: $(VENV)/.core  ## Install the locked core, then take a demo database apart.
	@$(BIN)/fluid demo

test: $(VENV)/.test  ## Run the tests that must pass before a commit: five minutes on two cores.
	@$(PYTEST) --tier test

test-fast: $(VENV)/.test  ## Run the tests that are quick by themselves: a minute.
	@$(PYTEST) --tier fast

test-all: $(VENV)/.dev  ## Run all tests, larger sweeps of the corpus, and many more examples.
	@$(PYTEST) --tier all

check: $(VENV)/.dev  ## Lint, types, floors.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy --strict $(TYPED)
	@$(BIN)/lint-imports

docs: $(DOCS)/.docs  ## Build the documentation site in site/; a broken link or anchor fails.
	@$(DOCS)/bin/python -m mkdocs build

docs-serve: $(DOCS)/.docs  ## Show the site on http://127.0.0.1:8000, and each page as you write it.
	@$(DOCS)/bin/python -m mkdocs serve

COMPILE := uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url
EXTRAS := --extra postgres --extra llm --extra otel --extra vectors

lock:  ## Rewrite the hashed requirement files (needs uv).
	$(COMPILE) pyproject.toml -o requirements/core.txt
	$(COMPILE) pyproject.toml $(EXTRAS) --group dev -o requirements/dev.txt
	$(COMPILE) pyproject.toml $(EXTRAS) --group test -o requirements/test.txt
	$(COMPILE) pyproject.toml --constraints requirements/core.txt --group docs -o requirements/docs.txt
	$(COMPILE) requirements/build.in -o requirements/build.txt

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

# A lock is complete, so nothing looks for dependencies (pip trips over extras if it does).
$(VENV)/.core: requirements/core.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) ..."
	@$(INSTALL) --require-hashes -r requirements/build.txt
	@$(INSTALL) --require-hashes -r requirements/core.txt
	@$(INSTALL) --no-build-isolation -e .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.core
	@echo "Installing the locked packages of the tests into $(VENV) ..."
	@$(INSTALL) --require-hashes -r requirements/test.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.test
	@echo "Installing the locked development tools into $(VENV) ..."
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

# The site's packages have an environment of their own, so that they never get in the tests' way.
$(DOCS)/.docs: requirements/docs.txt
	@echo "Installing the locked packages of the documentation into $(DOCS) ..."
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/docs.txt
	@touch $@

clean:
	rm -rf $(VENV) $(DOCS) site demo-shop .pytest_cache .mypy_cache .ruff_cache .hypothesis
