# The bare call lists the targets. Every target that needs it runs the set-up first, which does nothing when all is there.
.DEFAULT_GOAL := help
.PHONY: help setup setup-tpu build train test test-quick parity parquet soak fuzz bench fmt lint tidy asan golden docs
MAKEFLAGS += --no-print-directory
RELEASE := build/release

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS='	' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: ## Debian packages, plugins and headers; CPU_PLUGIN=openxla (or xla) chooses the default plugin
	@scripts/setup $(CPU_PLUGIN)

setup-tpu: setup ## the compiler for TPUs, which `tethys compile` and its test need; it needs no TPU
	@scripts/setup tpu

build: setup ## everything, optimised, in build/release
	@scripts/build release

train: setup ## build the program, then train a Llama 3 model on real text
	@scripts/build release tethys
	@scripts/train

test: setup lint ## lint and all tests, on this machine's CPU
	@scripts/build release
	@scripts/test $(RELEASE)

test-quick: setup ## the tests that need no plugin
	@scripts/build release quick_tests
	@scripts/test $(RELEASE) quick

parquet: ## the reader of Parquet, an optional component, with its tests; downloads Arrow
	@scripts/setup parquet
	@scripts/build release tethys data_test tethys_parquet
	@$(RELEASE)/data_test --gtest_brief=1 --gtest_filter='Parquet*'
	@/usr/bin/python3 tests/golden/parquet/compare.py $(RELEASE)/tethys

parity: setup ## hold every combination of parallelism to one device, in float64, and write the table of docs/parallelism.md; minutes
	@scripts/build release parity
	@$(RELEASE)/parity --table docs/parallelism.md

soak: setup ## kill a training run at every operation of a save and at 200 random moments; minutes
	@scripts/build release soak
	@$(RELEASE)/soak .deps/plugins/default.so

fuzz: ## fuzz the parsers, SECONDS (600) each, and find the bugs planted in them; installs clang
	@scripts/setup fuzz
	@scripts/build fuzz fuzz_targets
	@scripts/fuzz build/fuzz $(SECONDS)

asan: setup ## the tests that need no plugin, under AddressSanitizer and UBSan
	@scripts/build asan quick_tests
	@scripts/test build/asan quick

golden: setup ## rewrite the golden files from what the program emits now; read the diff before you commit it
	@scripts/build release quick_tests
	@TETHYS_UPDATE_GOLDEN=1 scripts/test $(RELEASE) quick

bench: setup ## speed, side by side with other systems
	@scripts/build release
	@benchmarks/run
	@benchmarks/checkpoint
	@benchmarks/tokenizer
	@benchmarks/flags modes

lint: setup ## format, include arrows, lengths of files, shell syntax
	@scripts/lint

fmt: setup ## format the C++ in place
	@git ls-files -z '*.h' '*.cpp' | xargs -0 -r clang-format-14 -i

tidy: setup ## clang-tidy over the sources (minutes); FILES="a.cpp b.cpp" for some of them
	@scripts/build release
	@run-clang-tidy-14 -quiet -j $$(nproc) -p $(RELEASE) $(or $(FILES),'$(CURDIR)/tethys/.*\.cpp$$')

docs: setup ## docs/options.md, from the program's own table of options
	@scripts/build release config_test
	@TETHYS_UPDATE_GOLDEN=1 $(RELEASE)/config_test --gtest_brief=1 --gtest_filter='Describe.ThePageInDocs*'
