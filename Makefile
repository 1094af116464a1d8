# Two commands do all the set-up: `make app` and `make test`. They need Python 3.11 and make.
# `make help` lists the rest.

PORT ?= 8501
DEMO ?= yes
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check
READING_ROOM_DB ?= instance/reading-room.db
export READING_ROOM_DB
# Compiled once and kept with the environment, not beside the sources.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode
unexport PYTHONDONTWRITEBYTECODE

# Whole files to each worker, in the order of collection: the longest tests begin first. Browser
# tests wait at times, for a page or for a clock that has to run: a third worker fills two cores.
WORKERS := --dist loadscope --no-loadscope-reorder -n

.PHONY: app help check test explore lint types format catalogue glossary screenshots clean

app: $(VENV)/.run-ready  ## The default: serve a demo study, or with DEMO=no an empty deployment
	@$(BIN)/python -m study demo --db "$(READING_ROOM_DB)" --url "http://localhost:$(PORT)" $(if $(filter no,$(DEMO)),--empty)
	@exec $(BIN)/streamlit run app.py --server.port "$(PORT)"

help:  ## List what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

check: lint  ## Lints, types and every test without a browser, for while one works
	$(BIN)/python -m pytest $(WORKERS) 2 -m "not browser"

test: lint  ## Lints, types and every test, in real browsers too
	$(BIN)/python -m tests.again $(WORKERS) 3

explore: $(VENV)/.test-ready  ## Run the property tests on examples they never saw, ten times as many
	$(BIN)/python -m pytest tests/property --hypothesis-profile=explore

lint: $(VENV)/.test-ready types  ## Ruff, mypy and the types of the JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

types:  ## The types of the reading page's JavaScript, where npm is there
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/.ready && node_modules/.bin/tsc; \
	else echo "No npm here: the types of the reading page's JavaScript go unchecked. apt-get install npm" >&2; fi

format: $(VENV)/.test-ready  ## Mend and format with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

catalogue: $(VENV)/.run-ready  ## Extract messages and update the catalogues in locale/
	$(BIN)/python -m ui.catalogue

glossary: $(VENV)/.run-ready  ## Write the glossary of ARCHITECTURE.md
	$(BIN)/python -m tests.glossary

screenshots: $(VENV)/.test-ready  ## Make the pictures of the docs from a demo
	$(BIN)/python -m tests.e2e.screenshots

clean:  ## Remove the environment and what tools keep
	rm -rf $(VENV) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.run-ready: requirements.txt constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt -c constraints.txt
	@touch $@

# The browsers come while pip is at work; what the tests need names what the program needs.
$(VENV)/.test-ready: requirements.txt requirements-test.txt constraints.txt tests/install_browser.sh
	@sh tests/install_browser.sh & browsers=$$!; \
	$(PYTHON) -m venv $(VENV) && $(PIP) -r requirements-test.txt -c constraints.txt && wait $$browsers
	@touch $(VENV)/.run-ready $@

node_modules/.ready: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@
