# Two commands do all the set-up: `make app` and `make test`. They need Python 3.11 and make.

PORT ?= 8501
DEMO ?= yes
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READING_ROOM_DB ?= instance/reading-room.db
export READING_ROOM_DB
export PYTHONDONTWRITEBYTECODE ?=

# Two workers, whole files to each, in the order of collection: the longest tests begin first.
WORKERS := -n 2 --dist loadscope --no-loadscope-reorder

.PHONY: app check test explore lint format catalogue screenshots clean

app: $(VENV)/.run-ready
	@$(BIN)/python -m study demo --db "$(READING_ROOM_DB)" --url "http://localhost:$(PORT)" $(if $(filter no,$(DEMO)),--empty)
	@exec $(BIN)/streamlit run app.py --server.port "$(PORT)"

# Everything but the browser tests, for while one works.
check: lint
	$(BIN)/python -m pytest $(WORKERS) -m "not browser"

test: lint
	$(BIN)/python -m tests.again $(WORKERS)

explore: $(VENV)/.test-ready
	$(BIN)/python -m pytest tests/property --hypothesis-profile=default

lint: $(VENV)/.test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test-ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

catalogue: $(VENV)/.run-ready
	$(BIN)/python -m ui.catalogue

screenshots: $(VENV)/.test-ready
	$(BIN)/python -m tests.e2e.screenshots

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.run-ready: requirements.txt constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -r requirements.txt -c constraints.txt
	@touch $@

$(VENV)/.test-ready: $(VENV)/.run-ready requirements-test.txt tests/install_browser.sh
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -r requirements-test.txt -c constraints.txt
	@sh tests/install_browser.sh
	@touch $@
