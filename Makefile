.DEFAULT_GOAL := help
SHELL         := bash
.SHELLFLAGS   := -euo pipefail -c

# What `dyncontroller version` says; a release is a tag.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The control plane of the tests says the version that its go.mod requires; without these flags it would be v0.0.0.
KUBERNETES_VERSION = $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2 }' test/cluster/go.mod)
KUBERNETES_MAJOR   = $(patsubst v%,%,$(word 1,$(subst ., ,$(KUBERNETES_VERSION))))
KUBERNETES_MINOR   = $(word 2,$(subst ., ,$(KUBERNETES_VERSION)))
CLUSTER_LDFLAGS    = -s -w $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version, \
	-X $(package).gitVersion=$(KUBERNETES_VERSION) \
	-X $(package).gitMajor=$(KUBERNETES_MAJOR) \
	-X $(package).gitMinor=$(KUBERNETES_MINOR))
CLUSTER_SOURCES   := test/cluster/go.mod test/cluster/go.sum \
	$(shell find test/cluster -name '*.go' -not -name '*_test.go' -not -path 'test/cluster/progress/*' -not -path 'test/cluster/builtin/*')

# What is compiled does not depend on the folder, so a new clone takes it from the cache of Go.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)

# The race detector needs a C compiler; where there is none the tests run without.
RACE ?= $(if $(shell command -v $$(go env CC)),-race)

# With the detector, each process sleeps for a second before it ends, in case something still runs. There are hundreds.
export GORACE ?= atexit_sleep_ms=0

# The garbage collector took an eighth of the CPU time of test/e2e and test/mutation. Tests may take memory instead.
test unit e2e: export GOGC ?= 400

# The tests that start bin/cluster.
E2E := ./test/controlplane/... ./test/demo/... ./test/differential/... ./test/e2e/... ./test/parity/... ./test/tenants/...

# The unit tests that run without the race detector. SHARED are those of them that run with it, too: in these, several goroutines share something.
PLAIN  := ./pkg/api/v1alpha1 ./pkg/engine/live ./pkg/plan ./pkg/rules ./pkg/rules/editor ./pkg/rules/expression ./pkg/rules/expression/function \
	./pkg/rules/lint ./pkg/simulate ./test/corpus ./test/docs ./test/floors ./test/hostile ./test/mutation ./test/worlds
SHARED := -run '^(TestConcurrentUse|TestReadsEnd|TestRun|TestWorlds)$$' ./pkg/engine/live ./pkg/rules/expression ./pkg/simulate ./test/worlds

.PHONY: help build operator cluster test test-long simulate simulate-mends examples unit e2e e2e-controlplane e2e-differential e2e-engine e2e-parity e2e-tenants bench bench-cluster bench-quick scorecard parity fuzz demo demo-notice terminal lint fix verify generate clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build bin/dyncontroller
	go build -ldflags '-X main.version=$(VERSION)' -o bin/dyncontroller ./cmd/dyncontroller

# It has run, cleanup and version alone, no C library and no symbols for debuggers; panics and profiles need none.
operator: ## Build bin/dyncontroller-operator, the program of an image
	CGO_ENABLED=0 go build -tags operator -ldflags '-s -w -X main.version=$(VERSION)' -o bin/dyncontroller-operator ./cmd/dyncontroller

cluster: bin/cluster ## Build bin/cluster, the control plane of the tests (minutes when cold)

bin/cluster: $(CLUSTER_SOURCES)
	@echo 'Building bin/cluster: Kubernetes $(KUBERNETES_VERSION) and etcd from source, about 10 to 15 minutes on two cores, seconds when cached.'
	@cd test/cluster && go run ./progress -ldflags '$(strip $(CLUSTER_LDFLAGS))' -o ../../bin/cluster .

# How long it took is told by make scorecard.
test: ## Run all tests: unit, golden and end-to-end
	@begin=$$(date +%s); $(MAKE) unit e2e && echo $$(($$(date +%s) - begin)) >bin/test-seconds

# What is in PLAIN runs thousands of cases in one goroutine, where the detector finds nothing and takes five to twenty times as long.
unit: ## Run the tests that need no control plane
	go test $(RACE) $$(go list ./... | grep -vxF "$$(go list $(E2E) $(PLAIN))")
	go test $(RACE) $(SHARED)
	go test $(RACE) -tags operator ./cmd/dyncontroller
	go test $(PLAIN)
	cd test/cluster && go test $(RACE) ./internal/... ./progress/...
	cd test/bench && go test $(RACE) ./...
	cd test/chart && go test ./...

# The suites wait for much of their time, so three run beside each other, the longest first. Unit tests beside them would be too
# much for two cores: some tests hold moments. The race detector had test/e2e take three times as long, so the suites run without it:
# test/worlds runs the whole program with it, and make test-long runs test/e2e and test/tenants with it.
e2e: bin/cluster ## Run the tests on the real control plane
	$(MAKE) --jobs=3 --output-sync=target e2e-engine e2e-differential e2e-tenants e2e-controlplane e2e-parity

# The tests that start control planes of their own wait for them, so several do at a time.
e2e-controlplane: bin/cluster
	go test -count=1 -timeout 20m -parallel 4 ./test/controlplane/... ./test/demo/...

# Thousands of requests to simulated API servers, each used by one goroutine; pkg/simulate is tested with the detector.
e2e-differential: bin/cluster
	cd test/cluster && go test ./builtin
	go test -count=1 -timeout 20m ./test/differential/...

# With the detectors, client-go panics where an object of a shared informer is changed, and where a streamed list differs from a
# plain one. They log, which the demo would show. Each test at a time has a control plane, of half a gigabyte.
e2e-engine: bin/cluster
	KUBE_CACHE_MUTATION_DETECTOR=true KUBE_WATCHLIST_INCONSISTENCY_DETECTOR=true \
		go test -count=1 -timeout 40m -parallel 4 ./test/e2e/...

e2e-tenants: bin/cluster
	go test -count=1 -timeout 40m -parallel 3 ./test/tenants/...

e2e-parity: bin/cluster
	go test -count=1 -timeout 20m -parallel 3 ./test/parity/...

test-long: bin/cluster ## Run the long form of tests that make test runs in short, and those of virtual time on the real control plane; two hours
	go test -count=4 -run '^TestPredictable$$' ./pkg/engine
	go test $(RACE) -count=1 -timeout 120m -parallel 3 ./test/e2e -args -long -real
	go test -count=1 -timeout 60m ./test/mutation -run '^TestExamples$$' -args -long
	go test -count=1 -timeout 60m ./test/worlds -run '^TestCrashSweep$$' -args -sweeps 15
	go test $(RACE) -count=1 -timeout 120m -parallel 3 ./test/tenants -skip '^TestHandOvers$$' -args -real
	go test -count=1 -timeout 60m -v ./test/tenants -run '^TestHandOvers$$' -args -handovers=50
	go test -count=1 -timeout 60m -parallel 1 ./test/parity -run '^TestParity$$' -args -long

# SEEDS is how many worlds, FROM the seed of the first.
SEEDS ?= 10000
FROM ?= 1

simulate: ## Live SEEDS worlds (10000): the whole program in virtual time, between faults; then kill it at each request of 15 worlds, and live the smallest in all orders
	go test -count=1 -timeout 0 -v ./test/worlds -run '^(TestWorlds|TestCrashSweep|TestExhaustive|TestReplay)$$' -worlds $(SEEDS) -seed $(FROM) -sweeps 15 -depth 1 -replays 20

simulate-mends: ## Take mends of the program back, one by one, and look for what goes wrong in up to SEEDS worlds
	go test -count=1 -timeout 0 -v ./test/worlds -run '^TestMends$$' -mends $(SEEDS) -seed $(FROM)

# A folder is a set of rules that runs by itself, so each is validated by itself.
examples: build ## Validate and test the example rules, with coverage of every rule
	for folder in examples/rules/*/; do bin/dyncontroller validate --strict $$(ls -d "$$folder"crds 2>/dev/null | sed "s/^/--crds /") "$$folder"; done
	bin/dyncontroller test --coverage examples/rules

bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./pkg/... ./internal/...

# ARGS are flags of test/bench, such as ARGS='-jobs child -objects 3000'; ARGS=-help lists them. docs/performance.md says what is measured.
bench-cluster: operator bin/bench bin/cluster ## Compare with controllers written by hand, on the real control plane; ARGS=...
	bin/bench $(ARGS)

bench-quick: operator bin/bench bin/cluster ## Compare one label rule with a controller written by hand, in under 3 minutes
	bin/bench -slim -jobs label -contenders bare,typed,dyncontroller -phases backlog,irrelevant -rounds 3 -updates 1000 -quiet 1s $(ARGS)

.PHONY: bin/bench
bin/bench:
	cd test/bench && CGO_ENABLED=0 go build -ldflags '-s -w' -o ../../bin/bench .

# BASE is a commit to compare with, by default the newest tag. BENCH=1 adds all benchmarks, BENCH=REGEXP those that match.
scorecard: ## Print what must not get worse: size, layers and time; BASE=REF compares, BENCH=1 adds benchmarks
	@go run ./test/scorecard $(if $(BASE),-base '$(BASE)') $(if $(BENCH),-bench '$(if $(filter 1,$(BENCH)),.,$(BENCH))')

# The tests run the seeds of each target; this looks for new ones. What it finds lies in testdata/fuzz and is to be kept.
# Without a limit, the fuzzer spends most of the time on making inputs smaller that are merely interesting.
FUZZTIME ?= 5m

fuzz: ## Run every fuzz target for FUZZTIME (5m), one after the other
	@failed=; while read -r folder target; do \
		echo "./$$folder $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$folder" </dev/null || failed="$$failed $$target"; \
	done < <(grep -roE '^func Fuzz\w+' --include='*_test.go' pkg internal | sed -E 's|^(.*)/[^/]+:func (.*)|\1 \2|' | sort); \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# ARGS are flags of test/parity, such as ARGS='-example job -scenarios 5 -first 10', or ARGS=-speed; ARGS=-help lists them.
parity: operator bin/cluster ## Compare the rules of the classic controllers with kube-controller-manager, 15 minutes; ARGS=...
	@go build -o bin/parity ./test/parity
	@bin/parity $(ARGS)

demo: demo-notice build bin/cluster ## Show rules at work in six acts; FAST=1 waits for no reader, KEEP=1 leaves everything running in the end
	@go build -o bin/demo ./test/demo
	@exec bin/demo $(if $(filter-out 0 no false,$(FAST)),--fast) $(if $(filter-out 0 no false,$(KEEP)),--keep)

terminal: build bin/cluster ## Draw docs/terminal.svg, the moving terminal of README.md, from a real run
	@go build -o bin/demo ./test/demo
	@exec bin/demo --picture docs/terminal.svg

demo-notice:
	@[ -x bin/cluster ] || echo 'The first time, this downloads up to 120 MB of Go modules, among them Kubernetes and tidb-operator,' \
		'and builds for 15 to 25 minutes on two cores. From then on, the demo takes seconds.'

# Linters that follow calls into other packages would read all of Kubernetes and take 11 GB, so the package that imports it goes without
# them, and with go vet instead of govet, which does all that go vet does and more.
lint: bin/golangci-lint bin/cluster ## Run golangci-lint
	bin/golangci-lint run ./...
	cd test/cluster && go vet . ./builtin
	cd test/cluster && ../../bin/golangci-lint run --config ../../.golangci.yml ./internal/... ./progress/...
	cd test/cluster && ../../bin/golangci-lint run --config ../../.golangci.yml \
		--disable bodyclose,exhaustive,govet,modernize,nilerr,noctx,staticcheck,unparam . ./builtin
	cd test/bench && ../../bin/golangci-lint run --config ../../.golangci.yml ./...
	cd test/chart && ../../bin/golangci-lint run --config ../../.golangci.yml ./...

fix: bin/golangci-lint ## Format, and fix what the linters can fix
	bin/golangci-lint run --fix ./...
	cd test/cluster && ../../bin/golangci-lint run --config ../../.golangci.yml --fix ./internal/... ./progress/...
	cd test/cluster && ../../bin/golangci-lint fmt --config ../../.golangci.yml . ./builtin
	cd test/bench && ../../bin/golangci-lint run --config ../../.golangci.yml --fix ./...
	cd test/chart && ../../bin/golangci-lint run --config ../../.golangci.yml --fix ./...

bin/golangci-lint: tools/go.mod tools/go.sum
	@echo 'Building golangci-lint from source, about 2 minutes on two cores, seconds when cached.'
	@cd tools && go build -v -o ../bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint 2>&1 \
		| awk '/ / { print; next } ++n % 100 == 0 { print "  " n " packages compiled" }'

verify: ## Check that go.mod and go.sum of every module are tidy
	go mod tidy -diff
	cd test/cluster && go mod tidy -diff
	cd test/bench && go mod tidy -diff
	cd test/chart && go mod tidy -diff
	cd tools && go mod tidy -diff
	cd tools/generate && go mod tidy -diff

generate: ## Write docs/reference, the YAML of the cookbook, deploy/crds, deploy/base and the schemas of built-in kinds anew
	go test ./test/docs -run TestReference -update
	cd test/chart && go run .
	cd test/cluster && go run ./builtin ../../pkg/rules/schema/builtin/data

clean: ## Remove bin/
	rm -rf bin
