# `make app` and `make test` install everything they need, except Python 3.11 and make.
# `make help` lists all targets.

PORT ?= 8501
DEMO ?= yes
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check
READING_ROOM_DB ?= instance/reading-room.db
export READING_ROOM_DB
# Bytecode is stored with the environment, not next to the sources.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode
unexport PYTHONDONTWRITEBYTECODE

# Each worker gets whole files in the order of collection, the longest tests first. Browser tests
# spend time waiting for pages and timers, so three workers keep two cores busy.
WORKERS := --dist loadscope --no-loadscope-reorder -n

.PHONY: app install help check test thorough slow torture explore lint types format catalogue glossary docs-commands docs-tables docs wheelhouse screenshots requirements licences release clean

app: $(VENV)/.run-ready  ## Serve a demo study, or an empty deployment with DEMO=no (default target)
	@$(BIN)/python -m study demo --db "$(READING_ROOM_DB)" --url "http://localhost:$(PORT)" $(if $(filter no,$(DEMO)),--empty)
	@exec $(BIN)/streamlit run app.py --server.port "$(PORT)"

# The service cannot write to this folder, so Python would otherwise compile every module at each start.
install: $(VENV)/.run-ready  ## Install packages and compiled modules for a service, see docs/operating.md
	@PYTHONPYCACHEPREFIX= $(BIN)/python -m compileall -q -j 0 $(VENV)/lib app.py analysis data pages study ui

help:  ## List the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

check: lint  ## Lint, type-check and run the quick tests (during development)
	$(BIN)/python -m pytest $(WORKERS) 2 -m "not browser and not slow and not thorough"

test: lint  ## Lint, type-check and run the tests needed for every change, including the main browser journeys
	$(BIN)/python -m tests.retry_browser_tests $(WORKERS) 3 -m "not thorough"

thorough: lint  ## Lint, type-check and run all tests (before a release)
	$(BIN)/python -m tests.retry_browser_tests $(WORKERS) 3

slow: $(VENV)/.test-ready  ## Measure all tests but those of browsers, and update tests/slow_tests.txt
	$(BIN)/python -m tests.slow_tests $(WORKERS) 2

torture: $(VENV)/.test-ready  ## Run 1,000 readers per engine with simulated faults, and find deliberate defects
	$(BIN)/python -m tests.torture
	$(BIN)/python -m tests.torture --engine postgres --servers 2
	$(BIN)/python -m tests.torture --defects
	$(BIN)/python -m tests.torture --engine postgres --defects

explore: $(VENV)/.test-ready  ## Run the property tests on ten times as many new random examples
	$(BIN)/python -m pytest tests/property --hypothesis-profile=explore

lint: $(VENV)/.test-ready types  ## Run ruff and mypy and check the types of the JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

types:  ## Check the types of the reading page's JavaScript (needs npm)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/.ready && node_modules/.bin/tsc; \
	else echo "npm is missing: the types of the reading page's JavaScript are not checked. Install it with: apt-get install npm" >&2; fi

format: $(VENV)/.test-ready  ## Auto-fix and format with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

catalogue: $(VENV)/.run-ready  ## Extract messages and update the catalogues in locale/
	$(BIN)/python -m ui.catalogue

glossary: $(VENV)/.run-ready  ## Update the list of modules in ARCHITECTURE.md
	$(BIN)/python -m tests.glossary

docs-commands: $(VENV)/.run-ready  ## Update docs/commands.md from the commands
	$(BIN)/python -m tests.command_reference

docs-tables: $(VENV)/.run-ready  ## Update docs/tables.md from the statistics
	$(BIN)/python -m tests.table_reference

docs: $(VENV)/.test-ready  ## Build the documentation in build/docs
	$(BIN)/mkdocs build --strict

wheelhouse: $(VENV)/.run-ready  ## Collect the wheels of all run-time packages in wheelhouse/
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r requirements.lock -d wheelhouse

screenshots: $(VENV)/.test-ready  ## Take the screenshots of the documentation from a demo
	$(BIN)/python -m tests.e2e.screenshots

requirements: $(VENV)/.tools-ready  ## Pin all packages with the hashes of their files, in requirements*.lock
	@for name in requirements requirements-test; do \
	UV_CUSTOM_COMPILE_COMMAND="make requirements" $(VENV)/tools/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate \
	--python-version 3.11 --no-emit-package pip $$name.txt --output-file $$name.lock || exit 1; done

licences: $(VENV)/.run-ready  ## Update docs/licences.md from the installed packages
	$(BIN)/python -m tests.licences

# The output is reproducible: the same commit and platform give the same bytes.
release: $(VENV)/.tools-ready  ## Write archive, wheelhouse, SBOM and checksums to build/release
	rm -rf build/release && mkdir -p build/release
	git archive --format=tar --prefix=reading-room/ HEAD | gzip -9n > build/release/reading-room.tar.gz
	$(VENV)/tools/bin/python -m pip wheel --quiet --no-deps --require-hashes -r requirements.lock -w build/release/wheelhouse
	$(VENV)/tools/bin/cyclonedx-py requirements --output-reproducible -o build/release/sbom.cdx.json requirements.lock
	cd build/release && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum > SHA256SUMS

clean:  ## Remove the environment and all caches
	rm -rf $(VENV) node_modules build wheelhouse .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.run-ready: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.lock
	@touch $@

# Browsers are installed in parallel with pip. requirements-test.lock includes requirements.lock.
$(VENV)/.test-ready: requirements-test.lock tests/install_browser.sh
	@sh tests/install_browser.sh & browsers=$$!; \
	$(PYTHON) -m venv $(VENV) && $(PIP) --no-deps --require-hashes -r requirements-test.lock && wait $$browsers
	@touch $(VENV)/.run-ready $@

# The tools of `make release` are installed in a separate environment.
$(VENV)/.tools-ready: requirements-release.txt
	$(PYTHON) -m venv $(VENV)/tools
	$(VENV)/tools/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-release.txt
	@touch $@

node_modules/.ready: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@
