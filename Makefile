# Everything one does with this repository, by name; "make" lists it. The
# recipes are thin: what needs more than a line is a script.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# The tools have a module of their own, so that go.mod lists what the program
# is made of. The go command builds and caches them.
TOOL := go tool -modfile=.ci/tools.mod
LINT := $(TOOL) golangci-lint

ARGS      ?=
FUZZTIME  ?= 10s
BENCHTIME ?= 1s
TIME      ?= 10m

##@ Using

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: compiler ## start a server on 127.0.0.1:8080 with its data in ./data (ARGS="--addr ...")
	go run ./cmd/flowdrive serve $(ARGS)

.PHONY: build
build: compiler ## build ./flowdrive; the same commit gives the same bytes (VERSION=1.2.3 without a repository)
	go build -trimpath -buildvcs=auto $(if $(VERSION),-ldflags "-X main.linkedVersion=$(VERSION)") -o flowdrive ./cmd/flowdrive

# SQLite is C. Without a compiler go fails only after minutes, with an error that names none.
.PHONY: compiler
compiler:
	@cc=$$(go env CC); printf '#include <stdlib.h>\n' | $$cc -E -x c - >/dev/null 2>&1 || \
		{ echo "a C compiler is needed: apt-get install gcc libc6-dev" >&2; exit 1; }

##@ Testing

.PHONY: test
test: check ## everything below that can fail, on a fresh machine too: what CI runs

.PHONY: check
check: ## the same as test
	@.ci/check.sh

.PHONY: unit
# Temporary files are in memory if the system has such a folder, the collector of garbage
# waits longer, and what a debugger needs is left out: a third of the time together.
MEMORY := $(wildcard /dev/shm)
unit: ## the Go tests that start no server, no processes and no PostgreSQL, in a minute or two: with -short
	$(if $(MEMORY),TMPDIR=$(MEMORY)) GOGC=400 go test -short -vet=off -ldflags=-w ./...

# No test needs what -w leaves out, and linking the tests of a package takes a third
# less without it. CI runs vet in a step of its own. A program with the race detector
# waits a second when it exits, for races that are found by then; the tests start it
# hundreds of times, and what goes on at an exit is found within less.
# The walks of PURE are long, five times as long with the race detector, and nothing in
# these packages starts a goroutine (internal/policy).
PURE := ./engine/machine ./schedule
GOTESTS := $(TOOL) gotestsum --format pkgname -- -shuffle=on -timeout=60m -vet=off -ldflags=-w

.PHONY: race
race: ## the Go tests with the race detector, in random order; those of pure packages without
	$(GOTESTS) $(PURE)
	GORACE="atexit_sleep_ms=50 $${GORACE:-}" $(GOTESTS) -race $$(go list ./... | grep -vxF "$$(go list $(PURE))")

.PHONY: postgres
postgres: ## the tests of the store and the engine, and the drive's transcripts, on PostgreSQL
	FLOWDRIVE_TEST_DB=postgres go test -timeout=30m ./store/relational ./store/postgres
	FLOWDRIVE_TEST_DB=postgres FLOWDRIVE_TEST_DB_POOLED=1 go test -timeout=30m -run "Test[A-D]" ./store/relational
	FLOWDRIVE_TEST_DB=postgres go test -timeout=30m -run 'TestTranscripts' ./davfs
	FLOWDRIVE_TEST_DB=postgres go test -timeout=30m ./engine

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s; "5000x" counts instead)
	@FUZZTIME=$(FUZZTIME) .ci/fuzz.sh

.PHONY: e2e
e2e: ## a real server with real clients: curl, cadaver, rclone, davfs2, gio, npm, litmus
	@e2e/run.sh

.PHONY: e2e-jobs
e2e-jobs: ## what people do with files, by every client: a table (E2E_CLIENTS="curl gvfs")
	@e2e/jobs.sh

.PHONY: e2e-nodes
e2e-nodes: ## litmus and the clients on three nodes behind HAProxy, which picks one at random for each request
	@e2e/nodes.sh

.PHONY: browser
browser: ## the pages in Debian's chromium, with axe-core at every stop
	@.ci/browser.sh

.PHONY: browser-nodes
browser-nodes: ## the same on three nodes behind a balancer, which picks one at random for each request
	@FLOWDRIVE_NODES=3 .ci/browser.sh

.PHONY: shots
shots: ## dist/shots: a picture of every page, in light, in dark and as on a phone (SHOTS_OF="route*")
	@FLOWDRIVE_BROWSER=BrowserShots FLOWDRIVE_SHOTS="$(CURDIR)/dist/shots" FLOWDRIVE_SHOTS_OF="$(SHOTS_OF)" .ci/browser.sh

.PHONY: torture
torture: ## kill servers under load, and let the power fail, for TIME (10m), and judge what clients were told; FLOWDRIVE_TEST_SEED repeats a run
	FLOWDRIVE_TORTURE=$(TIME) go test -count=1 -timeout=0 -v -run='Killed|Stopped|Histories|PowerLost' ./cmd/flowdrive

.PHONY: chaos
chaos: ## kill, stop, cut off and replace nodes and PostgreSQL under load for TIME (10m), and judge what clients were told; FLOWDRIVE_TEST_SEED repeats the faults of a run
	FLOWDRIVE_CHAOS=$(TIME) go test -count=1 -timeout=0 -v -run='TestChaos$$' ./cmd/flowdrive

.PHONY: cover
cover: ## coverage by function, and of the whole; cover.prof for "go tool cover -html"
	go test -coverpkg=./... -coverprofile=cover.prof ./...
	go tool cover -func=cover.prof

##@ Speed

.PHONY: bench
bench: build ## the table of figures, each beside its limit (ARGS="--short --only P1,P4 --json FILE")
	go run ./internal/bench --program ./flowdrive $(ARGS)

.PHONY: bench-river
bench-river: ## dist/river, for P15: make bench ARGS="--river dist/river"
	@mkdir -p dist
	cd internal/bench/river && go build -o ../../../dist/river .

.PHONY: bench-compare
bench-compare: ## two files of "make bench ARGS='--json FILE'" beside each other (OLD=FILE NEW=FILE)
	go run ./internal/bench --compare $(OLD) $(NEW)

.PHONY: microbench
microbench: ## the packages' own benchmarks (BENCHTIME=1s)
	go test -run='^$$' -bench=. -benchmem -benchtime=$(BENCHTIME) ./...

.PHONY: bench-smoke
bench-smoke: ## every benchmark once: that they run, not how fast
	go test -run='^$$' -bench=. -benchtime=1x ./...
	timeout --foreground 10m $(MAKE) bench ARGS=--short

##@ Releasing

.PHONY: release
release: ## commit and tag a release: VERSION=1.2.3, with DRYRUN=1 only show what would change
	@.ci/release.sh "$(VERSION)" $(if $(DRYRUN),--dry-run)

.PHONY: notices
notices: ## dist/THIRD_PARTY_NOTICES.txt: the licenses of all that is linked
	@mkdir -p dist
	go run ./internal/licenses >dist/THIRD_PARTY_NOTICES.txt

.PHONY: sbom
sbom: ## dist/sbom.cdx.json: the bill of materials, CycloneDX
	@mkdir -p dist
	go run ./internal/licenses -sbom >dist/sbom.cdx.json

.PHONY: packages
packages: ## dist/: .deb, .rpm, static program, OCI image, SBOM, notices, sums (VERSION=1.2.3, ARCHS="amd64 arm64")
	@VERSION="$(VERSION)" ARCHS="$(ARCHS)" .ci/packages.sh

.PHONY: reproducible
reproducible: ## make build in two folders, and compare the bytes
	FLOWDRIVE_BUILD_TWICE=1 go test -count=1 -run=TestTwoBuilds ./cmd/flowdrive

.PHONY: vulncheck
vulncheck: ## known vulnerabilities, by govulncheck; exit 2 if its database cannot be reached (GOVULNDB=a copy)
	@.ci/vulncheck.sh

##@ Code

.PHONY: fmt
fmt: ## format: gofumpt and goimports
	$(LINT) fmt

.PHONY: generate
generate: ## the code that reads and writes stored cases, after a change of their fields
	go generate ./...

.PHONY: reference
reference: ## docs/reference: the pages made of schemas, commands and settings
	go test ./cmd/flowdrive -run TestReference -update

.PHONY: assets
assets: ## web/assets/dist: what the pages are served with, from web/assets
	cd tools && go run ./assets -root ../web/assets

.PHONY: assets-check
assets-check: ## web/assets/dist is what the sources yield
	cd tools && go vet ./... && go run ./assets -root ../web/assets -check

.PHONY: vet
vet: ## go vet
	go vet ./...

.PHONY: lint
lint: ## golangci-lint, formatting included
	$(LINT) run

.PHONY: tidy-check
tidy-check: ## go.mod and go.sum are complete and nothing too much
	go mod tidy -diff
	go mod verify

.PHONY: tools
tools: ## build the tools, so that the next use is quick; print their versions
	$(LINT) version
	$(TOOL) gotestsum --version

.PHONY: deps
deps: ## install the Debian packages that the e2e scripts need (root only)
	@e2e/install.sh
