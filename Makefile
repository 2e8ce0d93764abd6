# Everything that is run here or in CI has a target. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# One set of flags for programs and tests, so that nothing is compiled twice. Without cgo the program needs no C
# compiler and runs on any Linux. The race detector's target turns cgo on again.
export GOFLAGS := -trimpath $(GOFLAGS)
export CGO_ENABLED ?= 0
# Packages of this module; test/controlplane with its minors, test/strangers, test/e2e, test/scheduler, test/collector, test/report,
# test/release and cmd/nodesim-cloud are modules of their own.
PACKAGES ?= ./...
# The newest golangci-lint that the pinned Go builds. Its binary stays in Go's build cache.
GOLANGCI_LINT ?= $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 30s
BENCHTIME ?= 1s
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: demo
demo: build ## play a roll recorded on a real control plane, ten times as fast
	@bin/nodesim replay examples/surge.yaml --speed 10x

.PHONY: build
build: ## build bin/nodesim
	$(GO) build -ldflags "-s -w -X github.com/nodesim/nodesim/internal/version.linked=$(VERSION)" -o bin/nodesim ./cmd/nodesim

# How long a package's tests may take before they count as hanging and every goroutine's stack is printed: many times
# what they take, so that a busy machine fails nothing, and less than CI has.
HANG ?= 40m

# Vet is part of make lint.
.PHONY: test-unit
test-unit: ## the inner loop: every package, no server
	$(GO) test -vet=off -timeout $(HANG) $(PACKAGES)

# Where tests leave what they have measured, since go test hides what a test that passes says. It is kept between runs
# as the results of tests are.
MEASURED ?= $(or $(NODESIM_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/nodesim)/measured

# Packages with a cluster of their own run side by side. Those that take longest come first: they mostly wait, and the
# others run meanwhile.
LONGEST = $(if $(filter ./...,$(PACKAGES)),./scenarios/live ./cmd/nodesim/app ./internal/app/plan ./internal/app/liverun)
.PHONY: test
test: ## everything, against a real control plane too (downloaded or built first where it is missing)
	@assets="$$($(MAKE) -s --no-print-directory controlplane)"; mkdir -p "$(MEASURED)"; status=0; \
	KUBEBUILDER_ASSETS="$$assets" NODESIM_MEASURED="$(MEASURED)" \
		$(GO) test -tags controlplane -vet=off -p 3 -timeout $(HANG) $(LONGEST) $(PACKAGES) || status=$$?; \
	cat "$(MEASURED)"/*.txt 2>/dev/null || true; exit "$$status"

# Packages that start goroutines, or are called from several. The detector needs cgo and a C compiler.
RACE_PACKAGES ?= ./timeline ./noderoll ./recorder ./recorder/daemon ./recorder/store ./internal/app/daemon ./golden ./replay ./replay/... ./internal/ui/... ./scenarios/simcluster ./scenarios/plan ./scenarios/virtualnode/...

.PHONY: race
race: ## the race detector over the packages with goroutines
	CGO_ENABLED=1 $(GO) test -race -vet=off -timeout $(HANG) $(RACE_PACKAGES)

# go.mod asks for the libraries of the oldest minor of Kubernetes that is supported, so that nobody who imports a package is
# lifted above it. test/newest/go.mod is the same with the newest. Left out is a test that gets this module with the go.mod
# that it has.
LIBRARIES ?= ./timeline/... ./golden/... ./noderoll/... ./recorder/... ./replay/... ./scenarios/... ./examples/...
.PHONY: newest
newest: ## packages that others import, and the flags of kubectl, with the newest minor of Kubernetes' libraries
	$(GO) test -modfile=test/newest/go.mod -vet=off -timeout $(HANG) -skip '^TestInAModuleOfItsOwn$$' $(LIBRARIES)
	$(GO) test -modfile=test/newest/go.mod -vet=off -timeout $(HANG) -run '^TestConnection' ./cmd/nodesim/app

# A module of its own: what it needs compiles for ten minutes the first time, which make test and CI don't spend.
.PHONY: strangers
strangers: ## controllers of other projects, in a simulated cluster and on a real control plane
	@assets="$$($(MAKE) -s --no-print-directory controlplane)"; cd test/strangers; \
	KUBEBUILDER_ASSETS="$$assets" $(GO) test -tags controlplane -vet=off -count 1 -timeout $(HANG) -v ./... | grep -vE 'evicting pod|no test files'

# A module of its own as well: OpenTelemetry's collector compiles for minutes.
.PHONY: collector
collector: ## spans that OpenTelemetry's collector takes, and reads from a file
	cd test/collector; $(GO) test -vet=off -count 1 -timeout $(HANG) ./...

# A module of its own as well: the libraries of clouds are as large as the rest of the program.
.PHONY: cloud
cloud: ## bin/nodesim-cloud, which takes tapes to buckets of S3, GCS and Azure; and its test with an S3 server on loopback
	cd cmd/nodesim-cloud; $(GO) test -vet=off -timeout $(HANG) ./...
	cd cmd/nodesim-cloud; $(GO) build -ldflags "-s -w -X github.com/nodesim/nodesim/internal/version.linked=$(VERSION)" -o ../../bin/nodesim-cloud .

# make release-check does the same with the archive of a release.
.PHONY: adopt
adopt: build ## what a user does first: from an archive to a replay, and from helm install to the tape of a roll that nobody announced
	@assets="$$($(MAKE) -s --no-print-directory controlplane)"; tar -czf bin/nodesim.tar.gz -C bin nodesim; \
	HELM="$(HELM)" test/adopt/adopt.sh bin/nodesim.tar.gz "$$assets/kubectl"

# A module of its own as well; its tests run for half an hour.
.PHONY: e2e
e2e: build ## Kubernetes' own conformance tests, on a real control plane and on a cluster that answers
	@assets="$$($(MAKE) -s --no-print-directory controlplane)"; test/e2e/e2e.sh "$$assets"

# A module of its own as well, since it needs a browser: Debian's is installed where none is there.
.PHONY: browser
browser: build ## reports in a headless Chromium: zoom, search, printing, their security policy
	@test/report/chromium.sh; cd test/report; NODESIM="$(CURDIR)/bin/nodesim" $(GO) test -vet=off -count 1 -timeout $(HANG) ./...

.PHONY: browser-bench
browser-bench: build ## how long the scripts of a frame take in a report of 1,000 nodes and 30,000 pods
	@test/report/chromium.sh; cd test/report; NODESIM="$(CURDIR)/bin/nodesim" $(GO) test -vet=off -run '^$$' -bench . -benchtime 1x ./...

.PHONY: pictures
pictures: build ## docs/report*.png again, and a picture of each scenario's report in bin/pictures, to look at
	@test/report/chromium.sh; mkdir -p bin/pictures; cd test/report; \
	NODESIM="$(CURDIR)/bin/nodesim" NODESIM_PICTURES="$(CURDIR)/bin/pictures" NODESIM_DOCS="$(CURDIR)/docs" \
		$(GO) test -vet=off -count 1 -timeout $(HANG) -run '^TestPictures' ./...

# The newest GoReleaser that the pinned Go builds from modules of the proxy; it compiles for ten minutes the first time.
GORELEASER ?= $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.2
KREW ?= $(GO) -C test/release tool validate-krew-manifest
# It compiles for minutes the first time.
HELM ?= $(GO) run helm.sh/helm/v3/cmd/helm@v3.22.0
ACTIONLINT ?= $(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
# It signs releases, and release-check tries it. Version 2 writes another format of bundles.
COSIGN ?= $(GO) run github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3

# The Go of releases: a patch version without known vulnerabilities, downloaded where another one is installed, so that the
# same commit gives the same bytes everywhere.
RELEASE_GO ?= go1.26.11

# SKIP=publish makes the files alone, and needs no token.
SKIP ?= announce
comma := ,
.PHONY: release
release release-check: export GOTOOLCHAIN := $(RELEASE_GO)
release: ## a draft of the release of the tag that HEAD has, signed where COSIGN_KEY is set; needs GITHUB_TOKEN (docs/release.md)
	@rm -rf dist # GoReleaser refuses a clone with files that git doesn't know
	COSIGN="$(COSIGN)" $(GORELEASER) release --clean --skip=$(SKIP)$(if $(COSIGN_KEY),,$(comma)sign)
	packaging/homebrew/formula.sh dist

.PHONY: release-check
release-check: ## make the release of HEAD twice, without publishing it, and try all of it; needs root
	@cd test/release; $(GO) test -vet=off -count 1 ./...
	@GORELEASER="$(GORELEASER)" COSIGN="$(COSIGN)" KREW="$(KREW)" ACTIONLINT="$(ACTIONLINT)" HELM="$(HELM)" test/release/check.sh

.PHONY: kustomize
kustomize: ## packaging/kustomize/nodesim.yaml again, of the Helm chart
	@HELM="$(HELM)" packaging/kustomize/render.sh > packaging/kustomize/nodesim.yaml.tmp
	@mv packaging/kustomize/nodesim.yaml.tmp packaging/kustomize/nodesim.yaml

.PHONY: controlplane
controlplane: ## download or build etcd and the Kubernetes programs unless they are cached; print their folder (KUBERNETES=1.34)
	@$(GO) run ./internal/localcluster/assets/build $(if $(KUBERNETES),-kubernetes $(KUBERNETES)) test/controlplane $(WITH)

.PHONY: bench
bench: ## all benchmarks, each beside its peer or its limit (about three hours, less with NODESIM_BENCH_STEADY=2m; keep the machine quiet)
	@assets="$$($(MAKE) -s --no-print-directory controlplane WITH=kwok)"; \
	KUBEBUILDER_ASSETS="$$assets" $(GO) test -tags controlplane -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -p 1 -timeout 60m $(PACKAGES)

.PHONY: fuzz
fuzz: ## every fuzz target, FUZZTIME each (30s)
	@for package in $$($(GO) list $(PACKAGES)); do \
		for target in $$($(GO) test -list '^Fuzz' "$$package" | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "$$package"; \
		done; \
	done

# What reads what strangers write. Inputs that reach new code stay in Go's build cache, where the next run begins with them;
# one that fails is written below testdata/fuzz, to be committed with its mend.
PARSERS = ./golden ./internal/app/storetest ./internal/faultspec ./internal/kubejson ./internal/mask ./internal/rawjson \
	./internal/ui/render ./noderoll ./noderoll/invariant ./recorder ./recorder/auditlog ./recorder/formats ./recorder/store \
	./replay ./replay/apiserver/... ./replay/internal/shift ./replay/internal/writes ./replay/policy ./scenarios/hunt \
	./scenarios/inplace ./scenarios/inplace/imageresolver ./scenarios/internal/shell ./scenarios/snapshot ./scenarios/spec \
	./scenarios/virtualnode/api ./timeline

.PHONY: soak
soak: ## the long campaigns: many seeds, long faults, an hour of fuzzing for each parser
	@assets="$$($(MAKE) -s --no-print-directory controlplane)"; \
	NODESIM_SOAK=1 KUBEBUILDER_ASSETS="$$assets" $(GO) test -tags controlplane -p 1 -count 1 -timeout 6h $(PACKAGES)
	@$(MAKE) --no-print-directory fuzz FUZZTIME=1h PACKAGES="$(PARSERS)"
	@NODESIM_SOAK=1 $(MAKE) --no-print-directory minors

# The minors of Kubernetes to be compared with: all, unless they are named. RUN=comparisons leaves out the conformance
# tests, which take half an hour for each.
MINORS ?= $(shell $(GO) run ./internal/localcluster/assets/build -minors)
RUN ?= all

.PHONY: minors
minors: build ## the comparisons with a real control plane, and the conformance tests, against each minor of Kubernetes
	@test/controlplane/minors.sh $(RUN) $(MINORS)

.PHONY: examples
examples: ## record the tapes below examples/ again, from a real control plane
	@assets="$$($(MAKE) -s --no-print-directory controlplane)"; \
	NODESIM_RECORD_EXAMPLES=1 KUBEBUILDER_ASSETS="$$assets" \
		$(GO) test -tags controlplane -count 1 -timeout 20m -run '^TestExamples' -v ./cmd/nodesim/...

.PHONY: lint lint-format lint-modules lint-house lint-dead lint-go lint-proof lint-licences lint-vulnerabilities
lint: lint-format lint-modules lint-house lint-dead lint-go lint-proof lint-licences lint-vulnerabilities ## format, modules, layout, words, commits, dead code, bans, licences, known vulnerabilities

lint-format:
	@unformatted="$$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 ls 2>/dev/null | xargs gofmt -l)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w:"; echo "$$unformatted"; exit 1; fi >&2

lint-modules:
	@for module in . test/controlplane test/controlplane/1.* test/controlplane/kwok test/strangers test/e2e test/scheduler test/collector test/report test/release cmd/nodesim-cloud; do \
		(cd "$$module" && GOFLAGS= $(GO) mod tidy -diff) || \
			{ echo "$$module/go.mod is not tidy, run: cd $$module && go mod tidy" >&2; exit 1; }; \
	done
	@GOFLAGS= $(GO) mod tidy -modfile=test/newest/go.mod -diff || \
		{ echo "test/newest/go.mod is not tidy, run: go mod tidy -modfile=test/newest/go.mod" >&2; exit 1; }

lint-house:
	@$(GO) run ./internal/lint/house .

lint-go:
	@$(GOLANGCI_LINT) run $(PACKAGES)

# What only tests use is dead: without their files nothing unexported may be left over, and nothing that an internal
# package exports.
lint-dead:
	@$(GO) run ./internal/lint/house -dead .
	@$(GOLANGCI_LINT) run --tests=false --enable-only unused $(PACKAGES)

# Writes a module that breaks every ban, and wants the linter to say so.
lint-proof:
	@$(GO) test -tags lintproof -timeout 15m ./internal/lint/...

# Everything that is linked into a program of a release, for each of its systems.
lint-licences:
	@cd test/release; targets="$$(echo {linux,darwin,windows}/{amd64,arm64})"; \
	$(GO) run ./notices $$targets; $(GO) run ./notices -root ../../cmd/nodesim-cloud -package . $$targets

# Calls of functions with a known vulnerability, in the standard library of the Go that releases are made with too. The Go
# vulnerability database is a module as well, so a module proxy is enough; a version of it gives the same result on every
# machine until somebody takes a newer one (docs/release.md).
GOVULNCHECK ?= $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0
VULNDB ?= golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018
lint-vulnerabilities: export GOTOOLCHAIN := $(RELEASE_GO)
lint-vulnerabilities:
	@database="$$(cd /; $(GO) mod download -json $(VULNDB) | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p')"; \
	for module in . cmd/nodesim-cloud; do \
		result="$$(cd "$$module"; $(GOVULNCHECK) -db "file://$$database/data/osv" ./... 2>&1)" || { echo "$$result" >&2; exit 1; }; \
	done

.PHONY: clean
clean: ## remove what the targets above left in this folder
	rm -rf bin
