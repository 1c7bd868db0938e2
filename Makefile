# Everything a newcomer needs is `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TYPED := tests/api/typed_examples.py tests/copilot/typed_examples.py tests/copilot/llm/typed_examples.py

# The tests start Python many times over, and compiled modules halve each start.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo test test-fast test-all check bench lock clean

demo: $(VENV)/.core  ## Install the locked core, then take a demo database apart.
	@$(BIN)/fluid demo

test: $(VENV)/.dev  ## Run the tests: what must pass before a commit lands.
	@$(PYTEST)

test-fast: $(VENV)/.dev  ## Run the tests that need neither dbt, PostgreSQL nor much time.
	@$(PYTEST) -m "not slow and not thorough"

test-all: $(VENV)/.dev  ## Run the tests, larger sweeps of the corpus, and many more examples.
	@$(PYTEST) -m "" --hypothesis-profile=thorough

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
	rm -rf $(VENV) demo-shop .pytest_cache .mypy_cache .ruff_cache .hypothesis
