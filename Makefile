# Everything a contributor runs, in one virtual environment. `make help` lists the targets.

VENV := .venv
BIN := $(VENV)/bin
# Interpreters to try, first fit wins. `make PYTHON=/path/to/python ...` leaves no choice.
PYTHON ?=
CANDIDATES := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)
# Passed on to pytest or to the benchmarks: `make test ARGS="-k switching"`.
ARGS ?=

# Numba's on-disk cache watches only the file that a kernel lives in. Kernels inline functions of other
# modules of the engine, so an edit there would leave machine code of the old version in use. One cache per
# content of the engine makes that impossible.
ENGINE_HASH := $(shell find src/ggln/engine -name "*.py" 2>/dev/null | sort | xargs cat | cksum | cut -d ' ' -f 1)
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(ENGINE_HASH)

# Stamps live inside the environment, so that they vanish with it.
PIP_STAMP := $(VENV)/.stamp-pip
RUN_STAMP := $(VENV)/.stamp-run
DEV_STAMP := $(VENV)/.stamp-dev
DOCS_STAMP := $(VENV)/.stamp-docs

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: $(RUN_STAMP) ## Install the package and run its demonstration
	@$(BIN)/ggln demo

.PHONY: test
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: lint ## Run every check, then the tests
# Two processes share the cores: threads of scikit-learn and of linear algebra would wait for each other.
	$(BIN)/python -m pytest -n 2 $(ARGS)

.PHONY: coverage
coverage: $(DEV_STAMP) ## Run the tests and show which lines they reach; compiled kernels are not counted
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --cov=ggln --cov-report=term $(ARGS)

.PHONY: oldest
oldest: ## Run the tests with the oldest versions that pyproject.toml allows, in .venv-oldest
	$(MAKE) VENV=.venv-oldest .venv-oldest/.stamp-oldest
# Old libraries call what newer ones below them deprecate: that is no error of ours.
	NUMBA_CACHE_DIR=$(NUMBA_CACHE_DIR)-oldest .venv-oldest/bin/python -m pytest -n 2 -W default::DeprecationWarning $(ARGS)

.PHONY: dist
dist: $(PIP_STAMP) ## Build wheel and sdist into dist/, check them, and try the wheel in an empty environment
	@$(BIN)/python -m pip install -q --group release
	rm -rf dist build/try
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m venv build/try
	build/try/bin/python -m pip install -q dist/*.whl
	build/try/bin/ggln --version

.PHONY: lint
lint: $(DEV_STAMP) ## Check style, formatting, types and the order of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: $(DEV_STAMP) ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

.PHONY: bench
bench: $(DEV_STAMP) ## Run the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

.PHONY: bench-serve
bench-serve: $(DEV_STAMP) ## Measure the service beside an application that only echoes
	$(BIN)/python -m benchmarks.serve $(ARGS)

.PHONY: soak
soak: export OMP_NUM_THREADS = 1
soak: export OPENBLAS_NUM_THREADS = 1
soak: $(DEV_STAMP) ## Kill the service at random moments under load, for an hour: ARGS="--kills 200", "--full-disk"
	$(BIN)/python -m soak $(ARGS)

.PHONY: fuzz
fuzz: export OMP_NUM_THREADS = 1
fuzz: export OPENBLAS_NUM_THREADS = 1
fuzz: $(DEV_STAMP) ## Edit model files, spoil tables, set parameters, interrupt and kill, at random, for five minutes
	$(BIN)/python -m fuzz $(ARGS)

.PHONY: docs
docs: $(DOCS_STAMP) ## Build the site into build/docs; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs build/docs

.PHONY: clean
clean: ## Remove the environment, the caches and what was built
	rm -rf $(VENV) .venv-oldest .numba_cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find src tests benchmarks fuzz soak docs -type d -name __pycache__ -exec rm -rf {} + 2>/dev/null || true

# An interpreter is run before it is believed: a pyenv shim exists for versions that are not active.
# The base pip may be too old for dependency groups (pip 25.1).
$(PIP_STAMP):
	@for python in $(CANDIDATES); do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	        echo "Creating $(VENV) with $$("$$python" --version) ($$python)"; \
	        "$$python" -m venv --clear $(VENV) && exit 0; \
	        exit 1; \
	    fi; \
	done; \
	echo "ggln needs Python >= 3.11; tried: $(CANDIDATES). Name one with: make PYTHON=/path/to/python" >&2; \
	exit 1
	@$(BIN)/python -m pip install -q --upgrade "pip>=25.1"
	@touch $@

$(RUN_STAMP): pyproject.toml | $(PIP_STAMP)
	@echo "Installing ggln and its dependencies into $(VENV)"
	@$(BIN)/python -m pip install -q --editable '.[plots]'
	@touch $@

# One resolution for all, so that a tool cannot move a version the package has settled on.
$(DEV_STAMP): pyproject.toml | $(PIP_STAMP)
	@echo "Installing ggln, its dependencies and the development tools into $(VENV)"
	@$(BIN)/python -m pip install -q --editable '.[all]' --group dev
	@touch $(RUN_STAMP) $@

# Without the development tools: what they have settled on meets these bounds, so it stays.
$(DOCS_STAMP): pyproject.toml | $(PIP_STAMP)
	@echo "Installing ggln and what its documentation is built with into $(VENV)"
	@$(BIN)/python -m pip install -q --editable '.[all]' --group docs
	@touch $(RUN_STAMP) $@

# Lowest versions of what the package itself names; the tools of the tests are as new as these allow.
$(VENV)/.stamp-oldest: pyproject.toml | $(PIP_STAMP)
	@$(BIN)/python -m pip install -q uv
	@$(BIN)/uv pip install -q --python $(BIN)/python --resolution lowest-direct --editable '.[all]'
	@$(BIN)/uv pip freeze -q --python $(BIN)/python --exclude-editable > $(VENV)/oldest.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --constraint $(VENV)/oldest.txt --group test
	@touch $@
