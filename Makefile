# Each command sets up what it needs in a virtual environment of its own, below .venv/.
# PYTHON is the first interpreter found that is new enough; name another with `make PYTHON=...`.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
RUN := $(VENV)/test/bin/python -m
SEEDS ?= 20000
PIPELINES ?= 20000
ROUNDS ?= 200
PYTHONS ?= 3.11 3.12 3.13 3.14
WHEEL_TESTS ?= tests/unit tests/conformance tests/e2e
# The default wheel of PyTorch brings gigabytes for GPUs; name one for CPUs where pip finds it: TORCH='torch==2.8.0+cpu'.
TORCH ?= torch

.PHONY: help demo test checks unit sweep determinism kills hunt fuzz trainers like-tensorflow bench bench-operators bench-peers notebooks soak conformance launchers docs wheel wheels proto clean
.DEFAULT_GOAL := help

help: ## lists the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: $(VENV)/demo/.ready ## runs a data service on three worker processes, kills one, and counts
	$(VENV)/demo/bin/tfsvc demo

test: checks unit ## all checks and tests

checks: $(VENV)/test/.ready
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(VENV)/test/bin/lint-imports

unit: $(VENV)/test/.ready $(VENV)/helm/.ready
	$(RUN) pytest -n 2 --dist loadgroup

sweep: $(VENV)/demo/.ready ## runs SEEDS random crash schedules in simulation (20,000)
	$(VENV)/demo/bin/tfsvc sim sweep --seeds $(SEEDS)

determinism: $(VENV)/test/.ready ## plays the same seeds in every Python from 3.11 on that is found here
	@for v in 3.11 3.12 3.13 3.14; do \
		command -v python$$v >/dev/null && python$$v -c '' 2>/dev/null || continue; \
		test -x $(VENV)/python$$v/bin/tfsvc && continue; \
		python$$v -m venv $(VENV)/python$$v && $(VENV)/python$$v/bin/pip install --quiet --editable . || exit 1; \
	done
	TFSVC_PYTHONS=$$(ls -d $(CURDIR)/$(VENV)/python3*/bin/python | paste -sd:) \
		$(RUN) pytest tests/unit/sim/test_determinism.py

kills: $(VENV)/test/.ready ## plays ROUNDS rounds with real processes that are killed (200)
	$(RUN) tests.e2e.killing --rounds $(ROUNDS)

hunt: $(VENV)/test/.ready ## looks for failures with Hypothesis for a long time
	HYPOTHESIS_PROFILE=long $(RUN) pytest tests/properties -n 2 --timeout 3600

fuzz: $(VENV)/test/.ready ## sends anything to every call of every server for a long time
	HYPOTHESIS_PROFILE=long $(RUN) pytest tests/security/test_fuzzing.py --timeout 36000

like-tensorflow: $(VENV)/test/.ready ## compares PIPELINES random pipelines of datasets with TensorFlow (20,000)
	$(RUN) tests.interop.random_pipelines --count $(PIPELINES)

bench: $(VENV)/test/.ready ## measures the data path, remote calls, steps and processes beside others', the journal and control
	$(RUN) benchmarks.throughput
	$(RUN) benchmarks.rpc
	$(RUN) benchmarks.cluster
	$(RUN) benchmarks.processes
	$(RUN) benchmarks.delivery
	$(RUN) benchmarks.journal
	$(RUN) benchmarks.control
	$(RUN) benchmarks.simulation

bench-peers: $(VENV)/peers/.ready ## measures the data path beside every peer, and what an element costs, and draws both
	$(VENV)/peers/bin/python -m benchmarks.throughput --plot docs/images/throughput.svg
	$(VENV)/peers/bin/python -m benchmarks.scale --plot docs/images/scale.svg

trainers: $(VENV)/trainers/.ready ## runs the tests that need trainers and sources of others: PyTorch, JAX, Lightning, ...
	$(VENV)/trainers/bin/python -m pytest -n 2 --dist loadgroup tests/trainers tests/interop/test_arrays_of_others.py \
		'tests/test_docs.py::test_the_blocks_of_a_page_run[trainers.md]' \
		'tests/test_docs.py::test_the_blocks_of_a_page_run[README.md]' \
		'tests/test_docs.py::test_the_blocks_of_a_page_run[dataloader.md]' \
		'tests/test_docs.py::test_the_blocks_of_a_page_run[grain.md]' tests/test_docstrings.py

notebooks: $(VENV)/test/.ready ## runs the notebooks and keeps what they show
	$(RUN) notebooks.build

bench-operators: $(VENV)/test/.ready ## measures single operators, read from Python, beside tf.data
	$(RUN) benchmarks.operators

soak: $(VENV)/test/.ready ## looks for memory that grows over epochs, iterators and jobs
	$(RUN) benchmarks.memory

conformance: $(VENV)/test/.ready ## runs the black-box cases that lie in ../shared, where they do
	$(VENV)/test/bin/python ../shared/conformance/run.py --dispatcher tfsvc --worker tfsvc --client tfsvc
	$(VENV)/test/bin/python ../shared/conformance/run.py --dispatcher tfsvc --worker tf --client tf
	$(VENV)/test/bin/python ../shared/conformance/run.py --dispatcher tf --worker tfsvc --client tfsvc --tag core --tag journal

launchers: $(VENV)/launchers/.ready ## runs the service on a real Ray, and kills actors of it
	$(VENV)/launchers/bin/python -m pytest tests/launch \
		'tests/test_docs.py::test_the_blocks_of_a_page_run[ray_data.md]'
	$(VENV)/launchers/bin/python -m examples.on_ray

docs: $(VENV)/docs/.ready ## builds the documentation as a site, in site/; broken links are errors
	NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/python -m mkdocs build --strict

wheel: $(VENV)/test/.ready ## builds the distributions and looks into them
	$(RUN) build --outdir dist . && $(VENV)/test/bin/check-wheel-contents dist/*.whl

wheels: wheel ## installs the wheel in every one of PYTHONS that is found here, and tests it with no checkout beside it
	@for v in $(PYTHONS); do \
		command -v python$$v >/dev/null && python$$v -c '' 2>/dev/null || continue; \
		home=$(CURDIR)/$(VENV)/wheel$$v; wheel=$$(ls -t dist/*.whl | head -1); \
		test -x $$home/bin/pytest || python$$v -m venv $$home || exit 1; \
		$$home/bin/pip install --quiet --disable-pip-version-check "$$wheel[dev]" || exit 1; \
		$$home/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $$wheel || exit 1; \
		rm -rf $$home/tree && mkdir $$home/tree || exit 1; \
		tar xzf $$(ls -t dist/*.tar.gz | head -1) -C $$home/tree --strip-components=1 || exit 1; \
		rm -r $$home/tree/tfsvc $$home/tree/sim $$home/tree/transports; \
		(cd $$home/tree && $$home/bin/python -m pytest -o pythonpath=. -n 2 --dist loadgroup $(WHEEL_TESTS)) || exit 1; \
	done

proto: ## regenerates the protobuf code from the schemas in tfsvc/wire
	$(PYTHON) -m venv $(VENV)/proto
	$(VENV)/proto/bin/pip install --quiet 'grpcio-tools==1.70.0' setuptools
	$(VENV)/proto/bin/python tfsvc/wire/generate.py

clean: ## removes the environments, the distributions and the site
	rm -rf $(VENV) dist build site

$(VENV)/demo/.ready: pyproject.toml
	$(call make_venv,demo,.)

$(VENV)/test/.ready: pyproject.toml
	$(call make_venv,test,.[dev$(comma)interop])

$(VENV)/docs/.ready: pyproject.toml
	$(call make_venv,docs,.[docs])

$(VENV)/peers/.ready: pyproject.toml
	$(call make_venv,peers,.[peers])

$(VENV)/launchers/.ready: pyproject.toml
	$(call make_venv,launchers,.[launchers])

# The tests of the Helm chart are left out where Helm cannot be had.
$(VENV)/helm/.ready: deploy/helm/fetch.py $(VENV)/test/.ready
	@mkdir -p $(VENV)/helm
	@$(VENV)/test/bin/python deploy/helm/fetch.py $(VENV)/helm || echo 'Helm cannot be had here; its chart is not tested'
	@touch $@

$(VENV)/trainers/.ready: pyproject.toml
	$(call make_venv,trainers,.[trainers],$(TORCH))

comma := ,

define make_venv
@test -n "$(PYTHON)" || { echo "tfsvc needs Python 3.11 or newer; name one with 'make PYTHON=/path/to/python'"; exit 1; }
$(PYTHON) -m venv $(VENV)/$(1)
$(VENV)/$(1)/bin/pip install --quiet --disable-pip-version-check --editable '$(2)' $(if $(3),'$(3)')
@touch $@
endef
