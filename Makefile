# Everything a newcomer needs is `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TYPED := tests/api/typed_examples.py tests/copilot/typed_examples.py tests/copilot/llm/typed_examples.py

# The tests start Python many times over, and compiled modules halve each start.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo test test-fast test-all test-pythons check bench lock release clean

demo: $(VENV)/.core  ## Install the locked core, then take a demo database apart.
	@$(BIN)/fluid demo

test: $(VENV)/.dev  ## Run the tests: what must pass before a commit lands.
	@$(PYTEST)

test-fast: $(VENV)/.dev  ## Run the tests that need neither dbt, PostgreSQL nor much time.
	@$(PYTEST) -m "not slow and not thorough"

test-all: $(VENV)/.dev  ## Run the tests, larger sweeps of the corpus, and many more examples.
	@$(PYTEST) -m "" --hypothesis-profile=thorough

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

lock:  ## Rewrite the hashed requirement files (needs uv).
	uv pip compile pyproject.toml --universal --generate-hashes --no-header --no-annotate --no-emit-index-url -o requirements/core.txt
	uv pip compile pyproject.toml --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --extra postgres --extra llm --extra otel --extra vectors --group dev -o requirements/dev.txt
	uv pip compile requirements/build.in --universal --generate-hashes --no-header --no-annotate --no-emit-index-url -o requirements/build.txt

release: $(VENV)/.dev  ## Build a release into dist/ and check it; tags and uploads nothing.
	@$(BIN)/python scripts/release.py

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

# The lock is complete, so pip need not look for dependencies (and trips over extras if it does).
$(VENV)/.core: requirements/core.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/core.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.core
	@echo "Installing the locked development tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/dev.txt
	@touch $@

clean:
	rm -rf $(VENV) .venv-* demo-shop dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
