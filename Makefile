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
MAKE_VENV := uv venv --quiet --seed --python $(PYTHON)
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps
MAKE_VENV := $(PYTHON) -m venv
endif

.PHONY: demo test test-fast test-agents test-sources test-forge test-slow test-all test-pythons check bench docs docs-serve lock release clean

demo: $(VENV)/.core  ## Install the locked core, then take a demo database apart.
	@$(BIN)/fluid demo

test: $(VENV)/.test  ## Run the tests that must pass before a commit: five minutes on two cores.
	@$(PYTEST) --tier test --suite-time test

test-fast: $(VENV)/.test  ## Run the tests that are quick by themselves: a minute.
	@$(PYTEST) --tier fast --suite-time test-fast

test-agents: $(VENV)/.test  ## Run the tests of the agents' wing: the runtime, the assistants, the pipeline.
	@$(PYTEST) --tier test tests/copilot tests/monitoring tests/assistants tests/agent_loop tests/mcp tests/pipeline

test-sources: $(VENV)/.test  ## Run the tests of the sources' wing.
	@$(PYTEST) --tier test tests/lexicon tests/sources

test-forge: $(VENV)/.test  ## Run the tests of the forge's wing: from the profile to the page.
	@$(PYTEST) --tier test tests/profiling tests/changes tests/observations tests/modeling tests/transform \
	  tests/contract tests/decisions tests/report tests/evolution tests/automation tests/kinds

test-slow: $(VENV)/.dev  ## Run all tests but larger sweeps, with 20 examples of each property.
	@$(PYTEST) --tier slow

test-all: $(VENV)/.dev  ## Run all tests, larger sweeps of the corpus, and many more examples.
	@$(PYTEST) --tier all

# Each has an environment of its own, and all of them run, whichever fails.
test-pythons:  ## Run the tests with each supported Python that is on the PATH.
	@failed=; for version in 3.11 3.12 3.13 3.14; do \
	  python$$version -c "" 2>/dev/null || { echo "python$$version isn't on the PATH."; continue; }; \
	  echo "Python $$version"; \
	  $(MAKE) --no-print-directory test PYTHON=python$$version VENV=.venv-$$version \
	    || failed="$$failed $$version"; \
	done; [ -z "$$failed" ] || { echo "Failed:$$failed"; exit 1; }

check: $(VENV)/.dev  ## Lint, types, floors, budget.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy --strict $(TYPED)
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/budget.py

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

release: $(VENV)/.dev  ## Build a release into dist/ and check it; tags and uploads nothing.
	@$(BIN)/python scripts/release.py

$(BIN)/python:
	@$(MAKE_VENV) $(VENV)

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
	@$(subst $(BIN),$(DOCS)/bin,$(INSTALL)) --require-hashes -r requirements/docs.txt
	@touch $@

clean:
	rm -rf $(VENV) .venv-* site demo-shop dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
