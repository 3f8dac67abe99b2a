# `make` lists the targets; docs/development/building.md says what each installs and needs.

BIN     := build/bin/deskbell
HOOK    := build/bin/deskbell-hook
VERSION := $(shell build/scripts/version version)
DIST    := build/dist
LINT    := build/tools/golangci-lint-v2.15.0
# Not newer: later ones need modules for MSIX packages that not every Go module proxy has.
NFPM    := build/tools/nfpm-v2.45.0
ACTIONLINT := build/tools/actionlint-v1.7.12
STAGE   := build/scripts/stage
ROUNDS  ?= 1000
# What `make installers` makes, and the tests of it in `make test`.
INSTALLERS      = installers-linux installers-windows installers-npm manifests sbom
INSTALLER_TESTS = test-deb test-installer-windows test-npm
# `make test-all` does in full what `make test` does a part of (docs/development/building.md says which); Go tests ask testing.Short.
FULL     =
SHORT    = $(if $(FULL),,-short)
KILLS    = $(if $(FULL),50,10)
# How many seeds of faults, and how many of them `make soak` tries. The numbers in limits.json are for 12.
SEEDS    = $(if $(FULL),12,3)
FAULTS  ?= 100
TEAM_ROUNDS ?= 200
FUZZTIME ?= $(if $(FULL),60s,10s)
export FUZZTIME
# Random tests draw the same cases every time in `make test`, so that a change is judged by what it changed, and new ones in
# `make test-all`.
export RAPID_SEED := $(if $(FULL),0,1)

# Asked anew at each use: at the first, `setup` may only just have installed the library.
TAGS     = desktop,production$(shell pkg-config --exists webkit2gtk-4.1 2>/dev/null && echo ,webkit2_41)
# The version comes from build/scripts/version, so the go command need not ask git as well (it refuses in a tree of another owner).
LDFLAGS := -s -w $(shell build/scripts/version ldflags)
GO_BUILD = go build -buildvcs=false -tags "$(TAGS)" -ldflags "$(LDFLAGS)"
# What stands in front of every tool call of an agent: small, static, and quick to start.
GO_HOOK  = env CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "$(LDFLAGS)"
# `make lint` vets, tests included.
GO_TEST  = go run -buildvcs=false ./build/scripts/gotest -vet=off -tags "$(TAGS)"
NPM      = npm --prefix frontend
MCP      = build/mcp-clients
PLAYERS  = build/e2e/testdata/roundtrip
FRESH    = build/e2e/testdata/fresh
AGENTS   = build/agents
EXAMPLES = docs/examples
# Tests start the displays and message buses they need; without these variables none can reach the developer's own.
# What Windows does differently in them needs no window, or only such as Wine has.
WINE     = ./backend/platform/windows ./backend/platform/folders ./backend/platform/processes ./backend/platform/pty ./backend/record/masking ./backend/plugins ./backend/store/keychain ./backend/app:OnWindows
APART    = env -u DISPLAY -u WAYLAND_DISPLAY -u DBUS_SESSION_BUS_ADDRESS
# Tested without the race detector, under which they take ten times as long: those that start no goroutine (whoever calls
# them from several is tested with it), and, but for `make test-all`, what begins copies of the test's own process (plug-ins, boxes
# and the app, whose servers take most of a second to begin under it) and what summarizers are held to.
RACELESS = $(if $(FULL),,backend/app|backend/store/team|summarizers/summarizertest|)backend/(plugins|box|agent/asking)|backend/gate(/(rules|shell|sql))?|backend/record/guide|summarizers/(builtin|prompt)|build/scripts/scale
# SQLite, translated from C, is what takes so long under the race detector. It guards its own memory; what calls it is watched.
RACE     = -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false
# Whose tests take longest: they begin first, so that none is left over for one processor.
SLOW     = browser transport/mcp transport/api platform/accessibility store/sqlite transport/mcpproxy
CRASHERS = $(shell grep -rls '^func TestCrash' --include='*_test.go' backend build | xargs -rn1 dirname | sort -u | sed 's,^,./,')

# Folders are named beside their files, so that a deleted file is noticed too.
GO_FILES := go.mod go.sum $(wildcard *.go) $(shell find backend summarizers ! -path '*/testdata*' ! -name '*_test.go' 2>/dev/null)
UI_FILES := $(shell find frontend -maxdepth 1 -type f 2>/dev/null) frontend/project.inlang/settings.json $(shell find frontend/src frontend/public frontend/messages -path frontend/src/paraglide -prune -o -print 2>/dev/null)

export DESKBELL_BIN := $(CURDIR)/$(BIN)

MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.PHONY: help run build dev test test-all bench soak roundtrip corpus corpus-new lint screenshots generate installers clean \
	setup-run $(INSTALLERS) $(INSTALLER_TESTS) setup-test lint-frontend test-frontend test-go generated fuzz windows wine e2e mcp examples window wayland browser agents attacks acp crash faults

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## set up what is missing, build, and run the app (without a display: its server, for a browser)
	@build/scripts/run $(BIN)

build: $(BIN) $(HOOK) ## build build/bin/deskbell, and deskbell-hook beside it

dev: build ## the console with hot reload, against a server with a data folder of its own
	@build/scripts/dev $(BIN)

test: ## set up what is missing and run the tests; stops at the first failure
	@$(STAGE) begin
	@$(STAGE) setup                 build/scripts/setup run test
	@$(STAGE) build                 $(MAKE) build
	@$(STAGE) lint+frontend+windows $(MAKE) -j2 -O lint test-frontend windows generated
	@$(STAGE) test-go               $(MAKE) test-go
	# Not side by side: recorded browsers are looked at within seconds, and a busy machine makes them late.
	@$(STAGE) e2e                   $(MAKE) e2e
	@$(STAGE) browser               $(MAKE) browser
	@$(STAGE) mcp+examples+agents   $(MAKE) -j2 -O mcp examples agents
	@$(STAGE) attacks               $(MAKE) attacks
	@$(STAGE) window                $(MAKE) window
	@$(STAGE) wayland               $(MAKE) wayland
	# Neither the kills nor what mostly waits, under Wine or for packages, has anything to fear from a busy machine.
	@$(STAGE) crash+faults+wine+fuzz+installers $(MAKE) -j3 -O crash faults wine fuzz $(INSTALLER_TESTS)
	@$(STAGE) end

test-all: ## the same, with what takes too long for every change
	@$(MAKE) test FULL=1

bench: build setup-test ## measure: the program as a whole, then the Go benchmarks
	$(APART) xvfb-run -a -s "-screen 0 1440x900x24" dbus-run-session -- go run -buildvcs=false ./build/bench -bin $(BIN)
	go test -run '^$$' -bench . -benchmem -tags "$(TAGS)" ./backend/... ./build/corpus

soak: setup-run ## kill and restart the server ROUNDS times (1000), damage its data folder with FAULTS seeds (100), have TEAM_ROUNDS (200) faults of a team and look for anything lost; compare SCRIPTS scripts, programs and wrappers (20000) with what is run
	DESKBELL_CRASH_ROUNDS=$(ROUNDS) $(GO_TEST) -count 1 -timeout 0 -run '^TestCrash' $(CRASHERS)
	DESKBELL_FAULTS_SEED="$$(date +%s)" $(MAKE) faults SEEDS=$(FAULTS)
	DESKBELL_TEAM_ROUNDS=$(TEAM_ROUNDS) $(GO_TEST) -count 1 -timeout 0 -run '^TestFaultsOfATeam$$' ./backend/store/team
	DESKBELL_POWER_MOMENTS=$(ROUNDS) DESKBELL_POWER_SEED="$$(date +%s)" $(GO_TEST) -count 1 -timeout 0 -run '^TestPowerLoss$$' ./backend/store/sqlite
	$(GO_TEST) -count 1 -timeout 0 -run '^TestEveryWayThroughAScript$$' ./backend/gate/shell -rapid.checks $(or $(SCRIPTS),20000) -rapid.seed "$$(date +%s)"
	$(GO_TEST) -count 1 -timeout 0 -run '^TestWhatActsIsNotProved$$' ./backend/gate/inline -rapid.checks $(or $(SCRIPTS),20000) -rapid.seed "$$(date +%s)"
	$(GO_TEST) -count 1 -timeout 0 -run '^TestWhatTrulyRunsIsAskedAbout$$' ./backend/gate -rapid.checks $(or $(SCRIPTS),20000) -rapid.seed "$$(date +%s)"

roundtrip: build setup-test $(PLAYERS)/node_modules/.package-lock.json ## play what was recorded in browsers with Puppeteer and Playwright, and write docs/development/roundtrip.md
	DESKBELL_ROUNDTRIP="$(CURDIR)/docs/development/roundtrip.md" $(APART) $(GO_TEST),window -count 1 -parallel 2 -timeout 40m -run '^TestBrowserCases$$' ./build/e2e/

corpus: build setup-test ## record the corpus of build/corpus again: persons at desktops and in browsers, an hour
	DESKBELL_CORPUS="$(CURDIR)/build/corpus/testdata" $(APART) $(GO_TEST),window -count 1 -timeout 150m -run '^(TestCorpusBrowser|TestCorpusDesktop)$$' ./build/e2e/

corpus-new: build setup-test $(PLAYERS)/node_modules/.package-lock.json $(FRESH)/node_modules/.package-lock.json ## record BROWSER=200 cases that no one has seen, made from SEED=n, and judge what is said of them
	@[ -n "$(SEED)" ] || { echo "say which: make corpus-new SEED=n, a seed that was never used before"; exit 1; }
	FRESH_SEED=$(SEED) FRESH_CASES=$(or $(BROWSER),200) FRESH_DIR="$(or $(DIR),$(CURDIR)/build/.stamps/fresh-$(SEED))" FRESH_REPORT="$(REPORT)" $(APART) $(GO_TEST),window -count 1 -parallel 2 -timeout 60m -run '^TestFreshBrowser$$' ./build/e2e/

lint: lint-frontend $(LINT) $(ACTIONLINT) frontend/dist/index.html ## check format, layers, habits, words and links
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
		[ -z "$$unformatted" ] || { echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; }
	@mkdir -p build/.stamps
	$(LINT) run --build-tags "$(TAGS),window,agents,attacks,examples,faults,layers,installers" ./... 2> build/.stamps/lint; status=$$?; cat build/.stamps/lint >&2; exit $$status
	@! grep -q 'Skipped 0 issues by rules.*funlen' build/.stamps/lint || { echo "an exclusion of .golangci.yml is needed no more: remove it"; exit 1; }
	$(ACTIONLINT)
	GOLANGCI_LINT="$(CURDIR)/$(LINT)" $(GO_TEST),layers -count 1 ./build/scripts/layers
	go -C build/monitoring/check test -count 1 .
	go -C build/cluster/check test -count 1 .
	go run -buildvcs=false ./build/scripts/prose

screenshots: build setup-test ## take the pictures of the README from the real window, and of every view for a look
	DESKBELL_PICTURES="$(CURDIR)/docs/images" $(APART) $(GO_TEST),window -count 1 -run '^(TestPictures|TestPhone$$)' ./build/e2e/
	$(NPM) run screenshots

installers: $(INSTALLERS) ## make what users install, in build/dist, with checksums
	cd $(DIST) && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS

generate: build/.stamps/schema.d.ts ## write what follows from Go: the console's types and fields, the table of kinds
	go run -buildvcs=false ./build/scripts/kinds
	cp $< frontend/src/backend/schema.d.ts

clean: ## remove what the build made (build/tools stays: it takes minutes to make)
	rm -rf build/bin build/dist build/.stamps build/.dev frontend/dist frontend/node_modules $(MCP)/node_modules $(PLAYERS)/node_modules $(FRESH)/node_modules $(AGENTS)/node_modules $(EXAMPLES)/node_modules $(EXAMPLES)/.compiled

# What the targets above stand on.
.PRECIOUS: %/node_modules/.package-lock.json

setup-run:
	@build/scripts/setup run

setup-test:
	@build/scripts/setup run test

$(BIN): $(GO_FILES) frontend/dist/index.html | setup-run
	$(GO_BUILD) -o $@ .

$(HOOK): $(GO_FILES) | setup-run
	$(GO_HOOK) -o $@ ./backend/app/hookprogram/deskbell-hook

%/node_modules/.package-lock.json: %/package.json %/package-lock.json | setup-run
	npm --prefix $* ci --no-audit --no-fund
	@touch $@

frontend/dist/index.html: frontend/node_modules/.package-lock.json $(UI_FILES)
	$(NPM) run build
	@touch $@

$(LINT): | setup-run
	GOBIN="$(CURDIR)/build/tools" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(lastword $(subst -, ,$@))
	mv build/tools/golangci-lint $@

build/.stamps/messages: frontend/node_modules/.package-lock.json frontend/project.inlang/settings.json $(shell find frontend/messages 2>/dev/null)
	@mkdir -p $(@D)
	$(NPM) run messages
	@touch $@

$(EXAMPLES)/.compiled/.stamp: $(EXAMPLES)/node_modules/.package-lock.json $(EXAMPLES)/tsconfig.json $(wildcard $(EXAMPLES)/typescript/*.ts $(EXAMPLES)/adapters/*.ts)
	npm --prefix $(EXAMPLES) run compile
	@touch $@

build/.stamps/schema.d.ts: $(BIN)
	@mkdir -p $(@D)
	$(BIN) openapi > $(@D)/openapi.json
	frontend/node_modules/.bin/openapi-typescript $(@D)/openapi.json -o $@

# Without scripts of its own npm leaves out what `npm run` does first, which is to write the messages: here they are there.
lint-frontend: build/.stamps/messages
	$(NPM) run --ignore-scripts lint
	$(NPM) run --ignore-scripts check

test-frontend: build/.stamps/messages
	$(NPM) run --ignore-scripts test

test-go: frontend/dist/index.html setup-test
	# Four packages at a time, and of each four tests that agree to it: many wait for X servers, browsers and processes.
	$(APART) build/scripts/in-memory $(GO_TEST) $(RACE) $(SHORT) -p 4 -parallel 4 -timeout 25m $(SLOW:%=./backend/%) $$(go list -buildvcs=false -tags "$(TAGS)" ./... | grep -vE '/($(RACELESS))$$')
	$(APART) build/scripts/in-memory $(GO_TEST) -p 4 -parallel 4 -timeout 25m $$(go list -buildvcs=false -tags "$(TAGS)" ./... | grep -E '/($(RACELESS))$$')
	# The hook library crashes where there is no display, so its tests are built only when asked for.
	$(APART) xvfb-run -a $(GO_TEST),hooktest ./backend/platform/input/hook

# Without the folder's name in them: the same commit built in another folder is the same, byte for byte.
build/.stamps/linux/deskbell: $(GO_FILES) frontend/dist/index.html build/.stamps/version | setup-run
	$(GO_BUILD) -trimpath -o $@ .

build/.stamps/linux/deskbell-hook: $(GO_FILES) build/.stamps/version | setup-run
	$(GO_HOOK) -o $@ ./backend/app/hookprogram/deskbell-hook

# Written only when it is another, so that what has the version in it is made again then.
build/.stamps/version: FORCE
	@mkdir -p $(@D)
	@build/scripts/version | cmp -s - $@ || build/scripts/version > $@
FORCE:

build/.stamps/linux/copyright: go.mod go.sum frontend/package-lock.json build/installers/linux/licenses.go | setup-run frontend/node_modules/.package-lock.json
	@mkdir -p $(@D)
	go run -buildvcs=false ./build/installers/linux "$(TAGS)" > $@

$(NFPM): | setup-run
	GOBIN="$(CURDIR)/build/tools" go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(lastword $(subst -, ,$@))
	mv build/tools/nfpm $@

installers-linux: build/.stamps/linux/deskbell build/.stamps/linux/deskbell-hook build/.stamps/linux/copyright $(NFPM)
	NFPM="$(CURDIR)/$(NFPM)" build/installers/linux/pack build/.stamps/linux $(DIST)

test-deb: installers-linux setup-test
	NFPM="$(CURDIR)/$(NFPM)" $(APART) $(GO_TEST),installers $(SHORT) -count 1 -timeout 15m ./build/e2e/installers/

installers-windows: frontend/dist/index.html | setup-test
	build/installers/windows/build $(DIST) build/.stamps/windows

# A user whose folder has a space and Chinese letters in its name.
test-installer-windows: installers-windows
	$(APART) USER='王 小明' LOGNAME='王 小明' DESKBELL_SETUP="Z:$(CURDIR)/$(DIST)/deskbell-$(VERSION)-windows-amd64-setup.exe" build/scripts/wine ./build/e2e/installer

installers-npm: build/.stamps/linux/deskbell build/.stamps/linux/deskbell-hook installers-windows
	rm -f $(DIST)/deskbell*.tgz
	node build/installers/npm/pack.mjs $(VERSION) linux-x64=build/.stamps/linux win32-x64=build/.stamps/windows

test-npm: installers-npm
	DESKBELL_DIST=$(DIST) DESKBELL_VERSION=$(VERSION) $(APART) node --test --test-timeout=300000 build/installers/npm/npm.test.mjs

manifests: ## write the Homebrew, winget, Scoop and AUR files for what is in build/dist
	go run -buildvcs=false ./build/installers/manifests -version $(VERSION) -repository "$$(build/scripts/version repository)" -dist $(DIST)

sbom: build/tools/cyclonedx-gomod-v1.10.0 build/.stamps/linux/deskbell frontend/node_modules/.package-lock.json ## list what is in the program and the page, in CycloneDX
	@mkdir -p $(DIST)
	$< bin -json -std -version v$(VERSION) -output $(DIST)/deskbell-$(VERSION).cdx.json build/.stamps/linux/deskbell
	$(NPM) sbom --sbom-format cyclonedx > $(DIST)/deskbell-frontend-$(VERSION).cdx.json

build/tools/cyclonedx-gomod-%: | setup-run
	GOBIN="$(CURDIR)/build/tools" go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$*
	mv build/tools/cyclonedx-gomod $@

$(ACTIONLINT): | setup-run
	GOBIN="$(CURDIR)/build/tools" go install github.com/rhysd/actionlint/cmd/actionlint@$(lastword $(subst -, ,$@))
	mv build/tools/actionlint $@

generated: build/.stamps/schema.d.ts
	@go run -buildvcs=false ./build/scripts/kinds -check
	@diff -u frontend/src/backend/schema.d.ts $< || { echo "the API has changed: run 'make generate'"; exit 1; }

fuzz: | setup-run
	build/scripts/fuzz backend/gate backend/queue backend/transport/mcpproxy backend/workspace

windows: TAGS = desktop,production,wv2runtime.error
windows: WINDOWS = env GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC=x86_64-w64-mingw32-gcc
windows: frontend/dist/index.html | setup-test
	$(WINDOWS) $(GO_BUILD) -o $(BIN).exe .
	GOOS=windows GOARCH=amd64 $(GO_HOOK) -o $(HOOK).exe ./backend/app/hookprogram/deskbell-hook
	$(WINDOWS) go vet -tags "$(TAGS)" ./...

wine: setup-test
	$(APART) build/scripts/wine $(WINE)

e2e: build setup-test
	$(APART) $(NPM) run e2e

mcp: build $(MCP)/node_modules/.package-lock.json
	npm --prefix $(MCP) test

examples: build setup-test $(EXAMPLES)/.compiled/.stamp
	$(APART) $(GO_TEST),examples -count 1 -parallel 8 -timeout 10m ./build/e2e/examples/

window: build setup-test
	# Each test has a desktop of its own, and mostly waits for it.
	$(APART) $(GO_TEST),window -count 1 -parallel 2 -timeout 10m -skip '^Test(Browser|Wayland)' ./build/e2e/...

wayland: build setup-test ## run the window and recording in headless sway, GNOME Shell and weston
	$(APART) $(GO_TEST),window -count 1 -parallel 2 -timeout 10m -run '^TestWayland' ./build/e2e/

browser: build setup-test $(PLAYERS)/node_modules/.package-lock.json
	$(APART) $(GO_TEST),window $(SHORT) -count 1 -parallel 2 -timeout 40m -run '^TestBrowser' ./build/e2e/

agents: build setup-test $(AGENTS)/node_modules/.package-lock.json $(EXAMPLES)/.compiled/.stamp
	$(APART) $(GO_TEST),agents $(SHORT) -count 1 -timeout 15m ./build/e2e/agents/
	$(if $(FULL),$(MAKE) acp)

attacks: build setup-test
	$(GO_TEST),attacks $(SHORT) -count 1 -parallel 5 -timeout 20m ./build/attacks/

acp: build $(AGENTS)/node_modules/.package-lock.json $(EXAMPLES)/.compiled/.stamp
	$(APART) $(GO_TEST),agents,examples -count 1 -timeout 15m -run '^TestACPAgents$$' ./build/e2e/examples/

crash: setup-test
	DESKBELL_CRASH_ROUNDS=$(KILLS) $(GO_TEST) -count 1 -timeout 10m -run '^TestCrash' $(CRASHERS)

# The report begins with the table of verdicts, which ends with an empty line.
faults: build
	@mkdir -p build/.stamps && rm -f build/.stamps/faults.md
	DESKBELL_FAULTS_SEEDS=$(SEEDS) DESKBELL_FAULTS_REPORT="$(CURDIR)/build/.stamps/faults.md" $(GO_TEST),faults -count 1 -timeout 0 ./build/e2e/faults/; \
	status=$$?; [ ! -f build/.stamps/faults.md ] || sed '/^$$/q' build/.stamps/faults.md; exit $$status
