# SPDX-License-Identifier: GPL-2.0-or-later
# `make` alone lists the targets.

PYTHON ?= /usr/bin/python3
ARGS ?=
RUN := .venv/bin/python
# Where findings flow; `make test-unit` runs these also with made-up words in the place of sentences.
NONSENSE := $(addprefix tests/unit/,acceptance cli evidence judge mail model report) \
  $(addprefix tests/property/,mail report)

# What a caller's shell or an outer make sets for itself must not steer what runs here. Mirrors,
# proxies and certificates (PIP_INDEX_URL, PIP_CERT, https_proxy, ...) stay.
unexport MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS ARGS AGAIN
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONDONTWRITEBYTECODE VIRTUAL_ENV
unexport PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_NO_DEPS PIP_DRY_RUN PIP_EDITABLE
unexport PIP_REQUIREMENT PIP_CONSTRAINT PIP_PRE PIP_UPGRADE PIP_REQUIRE_VIRTUALENV
unexport PIP_NO_BINARY PIP_ONLY_BINARY PIP_LOG
unexport ANSIBLE_CONFIG ANSIBLE_INVENTORY ANSIBLE_ROLES_PATH ANSIBLE_CHECK_MODE_MARKERS
export PYTHON AGAIN RTBISECT_GOALS

# The caller's command, as setup repeats it to who has to call it again. $(shell) of make 4.3 does
# not see exported variables, so they are written out.
given = $(foreach v,PYTHON RTBISECT_STATE ARGS,$(if $($v),$(if $(filter command environment,\
  $(firstword $(origin $v))),$v="$($v)")))
RTBISECT_GOALS := $(strip $(MAKECMDGOALS) $(given))
REFUSAL = $(shell PYTHON='$(PYTHON)' RTBISECT_STATE='$(RTBISECT_STATE)' AGAIN='$(AGAIN)' \
  RTBISECT_GOALS='$(RTBISECT_GOALS)' tools/setup.sh refusal)

.NOTPARALLEL:
.PHONY: help setup setup-lab demo test test-night test-nonsense test-lab test-outsider test-unit test-integration test-road test-fresh test-playbooks test-systemd test-bare lint lock man picture bench-road bench-gate bench-search bench-propose bench-endings bench-silent bench-store bench-lab
.DEFAULT_GOAL := help

help:
	@sed -n 's/^## //p' Makefile

## make setup             packages, virtual environments and LAVA on this machine; as root
##   AGAIN=1                run the playbook although nothing has changed
##   RTBISECT_STATE=DIR     keep state in DIR (else $XDG_STATE_HOME/rtbisect, ~/.local/state/rtbisect)
setup:
	$(eval refusal := $(REFUSAL))$(if $(refusal),$(error $(refusal)))
	@tools/setup.sh

## make setup-lab         setup, then packages for a LAVA server on this machine; as root
setup-lab: setup
	@ANSIBLE_CONFIG=ansible.cfg ANSIBLE_REMOTE_TEMP=$(CURDIR)/.ansible-venv/home/tmp LC_ALL=C.UTF-8 \
	  .ansible-venv/bin/ansible-playbook playbooks/lab.yml </dev/null

## make demo              setup, then find a known commit in a real kernel; ARGS="..." are passed on
demo: setup
	@.venv/bin/rtbisect demo $(ARGS)

## make test              setup, then every tier below
test: test-unit test-integration test-road

## make test-unit         pure and fast: tests/unit, tests/property, tests/golden
test-unit: setup
	@tools/tier.sh unit tests/unit tests/property tests/golden
	@PYTEST_ADDOPTS="$$PYTEST_ADDOPTS --nonsense" tools/tier.sh unit $(NONSENSE)

## make test-integration  real git, toy make trees, recorded logs: tests/integration
test-integration: setup
	@tools/tier.sh integration tests/integration

## make test-road         real kernels, built and booted (slow): tests/road
test-road: setup
	@PYTEST_ADDOPTS="$$PYTEST_ADDOPTS --ignore=tests/road/lab --ignore=tests/road/outsider" tools/tier.sh road tests/road

## make test-night        every tier of test as deep as it goes: more examples, trials and builds (slow)
test-night: export PYTEST_ADDOPTS := $(PYTEST_ADDOPTS) --hypothesis-profile=night
test-night: test

## make test-nonsense     unit and integration where made-up words stand for sentences, in a clone (slow)
test-nonsense: setup
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && tools/nonsense.sh "$$folder"

## make test-lab          a real LAVA server and hosts that it boots over the network (slow, not in test)
test-lab: setup-lab
	@tools/tier.sh lab tests/road/lab

## make test-outsider     the recipe of a mail with real kernels in an empty folder (slow, not in test)
test-outsider: setup
	@tools/tier.sh outsider tests/road/outsider

## make test-fresh        setup, unit tests and one boot inside a new minimal Debian 12; as root
test-fresh:
	@tools/test_fresh.sh

## make test-playbooks    LAVA server and worker by playbook inside a new minimal Debian 12; as root
test-playbooks:
	@tools/test_fresh.sh tools/test_playbooks.sh

## make test-systemd      hostile code in the sandbox, in a guest whose systemd owns the groups; as root
test-systemd: setup
	@tools/test_systemd.sh

## make test-bare         plain installs with pipx by a user, in bare Debian 12 and 13; as root, network
test-bare:
	@tools/test_bare.sh

## make lint              every gate, one after the other; fails when one of them does
lint: setup
	@tools/lint.sh

## make lock              write requirements/*.lock anew (python3.11, python3.13, package index)
lock:
	@tools/lock.sh

## make man               write man/man1/, a manual page for each command
man: setup
	@$(RUN) tools/man_pages.py man/man1

## make picture         draw the pictures of docs/ anew, from the code and what was recorded
picture: setup
	@$(RUN) tools/draw_house.py
	@$(RUN) tools/bench_budget.py >/dev/null
	@PYTHONPATH=tests:bisect $(RUN) -m helpers.gallery docs/gallery

## make bench-road        seconds of each stage of the road with real kernels
bench-road: setup
	@$(RUN) tools/bench_road.py $(ARGS)

## make bench-gate        how often decisions about boots are false alarms, on recorded boots
bench-gate: setup
	@$(RUN) tools/bench_gate.py $(ARGS)

## make bench-search      how often the search is right, at what cost, beside others; ARGS are passed on
bench-search: setup
	@$(RUN) tools/bench_search.py $(ARGS)

## make bench-propose     seconds and memory of the choice of the next test
bench-propose: setup
	@$(RUN) tools/bench_propose.py $(ARGS)

## make bench-endings     how often a search ends open with budget left, on simulated small ranges
bench-endings: setup
	@$(RUN) tools/bench_endings.py $(ARGS)

## make bench-lab         what a LAVA server costs, how busy two devices are; after setup-lab
bench-lab: setup-lab
	@$(RUN) tools/bench_lab.py $(ARGS)

## make bench-store       how long the store takes to answer, with 100 and with 10,000 campaigns
bench-store: setup
	@$(RUN) tools/bench_store.py $(ARGS)

## make bench-silent      how many commits of a range cannot change the kernel, and do they; needs ARGS
bench-silent: setup
	@$(RUN) tools/bench_silent.py $(ARGS)
