# `make demo` and `make test` need Python 3.11 or newer with venv and pip, make and git. Everything else they install.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEEP   := $(VENV)-deep
CLUSTER := $(VENV)-cluster
PARALLEL ?= -n auto --dist worksteal
PIP    := python -m pip --disable-pip-version-check
comma  := ,

# $(call install,ENVIRONMENT,WHAT,MARKS): uv takes a tenth of pip's time; pip's own settings hold, and where uv fails pip installs.
define install
	@$(1)/bin/$(PIP) install -q uv 2> /dev/null && \
	set -- $$($(1)/bin/$(PIP) config list | sed -nE "s/.*\.(find-links|index-url)='(.*)'/--\1 \2/p") && \
	$(1)/bin/uv pip install -q --python $(1)/bin/python "$$@" $(2) || $(1)/bin/$(PIP) install -q $(2)
	@touch $(3)
endef

.DEFAULT_GOAL := help
.PHONY: help demo say-install test test-all test-deep test-cluster slurm browser fast-tests other-tests cluster-tests coverage lint bench fuzz-emulator fuzz-dropin docs paper gallery results dist format constraints clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: say-install $(VENV)/.core ## Play a small learner and random play on five games, show both scores, write a page
	@rm -rf demo
	$(BIN)/arcademark run random --games atari-5 --episodes 5 --out demo/random --quiet
	$(BIN)/arcademark run examples/learnt.py:make_agent --games atari-5 --episodes 5 --out demo/learnt --quiet
	$(BIN)/arcademark report demo/learnt demo/random --save demo/report.html
	@echo
	@echo "Next: source $(BIN)/activate, then look at demo/report.html, and try"
	@echo "  arcademark watch demo/learnt --only game=phoenix,episode=0 --out phoenix.gif"
	@echo "  arcademark verify demo/learnt"

say-install:
	@test -e $(VENV)/.core || echo "Installing into $(VENV): 0.4 GB, some seconds to a minute …"

test: $(VENV)/.test ## Run linters and every fast test that needs no PyTorch, browser, Sphinx or SLURM
	@$(MAKE) --no-print-directory -j2 lint fast-tests

test-all: $(VENV)/.dev browser slurm ## Run all tests that `make test` leaves out, in parallel; installs what they need
	@$(MAKE) --no-print-directory -j2 other-tests cluster-tests

fast-tests: $(VENV)/.test
	$(BIN)/python -m pytest $(PARALLEL) --durations=10 -m "not (slow or needs or deep or cluster)"

other-tests: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL) --durations=10 -m "(slow or needs) and not (deep or cluster)"

cluster-tests: $(VENV)/.dev # these wait most of the time
	$(BIN)/python -m pytest -n 0 -m cluster tests/cluster

test-deep: $(DEEP)/.installed ## Train with RLlib and Stable-Baselines3 and play the saved networks; in an environment of its own
	@echo "Tests that train: some 15 minutes of one core."
	$(DEEP)/bin/python -m pytest -n 2 -m deep tests examples/rllib
	$(DEEP)/bin/python -m pytest -n 2 -m "not deep" tests/agents/trainers tests/agents/test_checkpoint*.py

test-cluster: $(CLUSTER)/.installed slurm ## Run a Ray cluster and SLURM jobs on this machine with injected failures; in an environment of its own
	$(CLUSTER)/bin/python -m pytest -m cluster tests/cluster

slurm: ## Install SLURM's daemons for its tests, if possible
	@if [ -n "$$(PATH=$$PATH:/usr/sbin command -v slurmctld)" ]; then :; \
	elif [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then \
	  echo "SLURM is not installed (Debian, Ubuntu: apt-get install slurm-wlm munge, as root); its tests are skipped"; \
	elif ! timeout 300 sh -c 'apt-get -qq -o Acquire::Retries=0 update && DEBIAN_FRONTEND=noninteractive \
	  apt-get -qq -y --no-install-recommends install slurm-wlm munge' > /dev/null; then \
	  echo "SLURM cannot be installed here; its tests are skipped"; fi

browser: ## Install the browser for the leaderboard's tests, if possible
	@if [ -n "$$(command -v chromium || command -v chromium-browser || command -v google-chrome)" ]; then :; \
	elif [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then \
	  echo "Chromium is not installed (Debian, Ubuntu: apt-get install chromium, as root); tests in a browser are skipped"; \
	elif ! timeout 300 sh -c 'apt-get -qq -o Acquire::Retries=0 update && DEBIAN_FRONTEND=noninteractive \
	  apt-get -qq -y --no-install-recommends install chromium' > /dev/null; then \
	  echo "Chromium cannot be installed here; tests in a browser are skipped"; fi

coverage: $(VENV)/.dev ## Run every test, and list the lines that none executes; takes half as long again
	$(BIN)/python -m pytest $(PARALLEL) -m "not deep and not cluster" --cov --cov-report=term

lint: $(VENV)/.test ## Check style, types and the contracts between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench ## Measure speed against the raw emulator and other packages
	$(BIN)/python bench/environments.py
	$(BIN)/python bench/runner.py
	$(BIN)/python bench/metrics.py
	$(BIN)/python bench/subset.py
	$(BIN)/python bench/planning.py
	$(BIN)/python bench/learning.py
	$(BIN)/python bench/size.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/emulator.py --games atari-5

fuzz-emulator: $(VENV)/.test ## Play damaged cartridges, interpreted and translated, under AddressSanitizer and UBSan (needs a C compiler)
	mkdir -p build
	$(CC) -std=c11 -O1 -g -fwrapv -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all \
	  -o build/fuzz-emulator src/arcademark/emulator/native/fuzz.c
	build/fuzz-emulator 20000
	$(BIN)/python tests/emulator/fuzz_translated.py

fuzz-dropin: $(VENV)/.test ## Call the methods of arcademark.ale and of ale-py 20,000 times with odd arguments (needs a C compiler)
	$(BIN)/python tests/ale/fuzz_dropin.py 20000

docs: $(VENV)/.dev ## Build the documentation's site into build/docs, without the network
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

paper: $(VENV)/.test ## Renew the numbers, figures and text of paper/paper.md in ten minutes; also a PDF if pandoc and LaTeX are installed
	$(BIN)/python paper/tables.py
	@$(MAKE) --no-print-directory build/paper.pdf

build/paper.pdf: paper/paper.md # Debian: apt-get install pandoc texlive-latex-recommended texlive-fonts-recommended lmodern
	@if [ -n "$$(command -v pandoc)" ] && [ -n "$$(command -v pdflatex)" ]; then \
	  mkdir -p build && cd paper && pandoc paper.md --citeproc --columns=200 -M author="The ArcadeMark authors" -V colorlinks -V fontsize=10pt \
	    -V geometry:a4paper,margin=2cm -o ../build/paper.pdf; \
	else echo "No PDF without pandoc and pdflatex (Debian: pandoc texlive-latex-recommended texlive-fonts-recommended lmodern)"; fi

gallery: $(VENV)/.core ## Draw the figures of docs/figures.md with the commands shown there
	cd docs/images/figures && sed -n '/^arcademark .*--save/p' ../../figures.md | PATH="$(abspath $(BIN)):$$PATH" sh -e > /dev/null

results: $(VENV)/.core ## Renew docs/results from the data of our own runs
	$(BIN)/arcademark reproduce ale-2013 --with ours --format markdown > docs/results/baselines.md
	$(BIN)/python results/pages.py
	$(BIN)/python results/classic.py

dist: $(VENV)/.dist ## Build the source archive and two wheels, with and without the compiled emulator, into dist
	rm -rf dist build/wheels
	export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} PATH="$(abspath $(BIN)):$$PATH" && \
	python -m build --sdist --outdir dist && \
	ARCADEMARK_CONSOLE=off python -m build --wheel --outdir dist dist/*.tar.gz && \
	python -m build --wheel --outdir build/wheels dist/*.tar.gz && \
	for wheel in build/wheels/*-linux_*.whl; do [ ! -e $$wheel ] || auditwheel repair --wheel-dir dist $$wheel; done
	@ls dist

format: $(VENV)/.test ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints: ## Resolve the newest versions within the bounds into constraints.txt
	rm -rf build/constraints && $(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install -q -e ".[dev,bench,ray]"
	{ echo "# The exact versions that the tests pass with. Bounds are in pyproject.toml; \`make constraints\` renews this list."; \
	  build/constraints/bin/python -m pip freeze --exclude-editable; } > constraints.txt

clean: ## Remove the environments and everything built
	rm -rf $(VENV) $(DEEP) $(CLUSTER) build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ArcadeMark needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# RLlib wants another version of Gymnasium than ours, so only PyTorch's is held here.
$(DEEP)/.installed: pyproject.toml constraints.txt
	@echo "Installs RLlib, Stable-Baselines3 and PyTorch into $(DEEP): 2.5 GB, several more where PyTorch has CUDA; minutes."
	$(PYTHON) -m venv $(DEEP)
	grep ^torch== constraints.txt > $(DEEP)/constraints.txt
	$(call install,$(DEEP),-c $(DEEP)/constraints.txt -e ".[dev$(comma)orbax$(comma)rllib]" -e examples/rllib,$@)

$(CLUSTER)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(CLUSTER)
	$(call install,$(CLUSTER),-c constraints.txt -e ".[ray$(comma)slurm]" pytest,$@)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(call install,$(VENV),-c constraints.txt -e .,$@)

$(VENV)/.test: $(VENV)/bin/python pyproject.toml constraints.txt
	$(call install,$(VENV),-c constraints.txt -e ".[test]",$@ $(VENV)/.core)

$(VENV)/.dist: $(VENV)/bin/python pyproject.toml constraints.txt
	$(call install,$(VENV),-c constraints.txt -e ".[dist]",$@ $(VENV)/.core)

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(call install,$(VENV),-c constraints.txt -e ".[dev]",$@ $(VENV)/.core $(VENV)/.test $(VENV)/.dist)

$(VENV)/.bench: $(VENV)/.dev
	$(call install,$(VENV),-c constraints.txt -e ".[bench]",$@)
