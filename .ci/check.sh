#!/usr/bin/env bash
# Runs everything that must hold, one step after the other, and ends non-zero
# if any failed. The first failure does not stop the rest, so that one run
# says all. Prints at its end how long each step took and every test that was
# skipped, with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export E2E_SKIPS=$out/skips
: >"$E2E_SKIPS"
failed=()

step() {
	local name=$1 begin=$SECONDS result=ok
	shift
	printf '\n=== %s: %s\n' "$name" "$*"
	if ! "$@" 2>&1 | tee "$out/log"; then
		result=FAILED
		failed+=("$name")
	fi
	# gotestsum lists what was skipped between this line and its last one.
	awk '/^=== (Failed|Errors)/ {p = 0} /^=== Skipped/ {p = 1} /^DONE/ {p = 0} p && !/^=== Skipped/' \
		"$out/log" >>"$out/skips"
	printf '%-12s %4d s  %s\n' "$name" "$((SECONDS - begin))" "$result" >>"$out/times"
}

step packages make deps
step build go build ./...
if [[ " ${failed[*]} " == *" build "* ]]; then
	exit 1
fi
step lint make lint
step vet make vet
step tidy make tidy-check
step assets make assets-check
step race make race
step postgres make postgres
step browser make browser
# The clients wait most of the time: fuzzing takes what they leave, and then the
# benchmark, which judges nothing when it is a smoke test.
beside() {
	local status=0
	nice -n 19 make fuzz FUZZTIME=8s >"$out/fuzz" 2>&1 || status=$?
	echo "$status" >"$out/fuzz.status"
	status=0
	nice make bench-smoke >"$out/bench" 2>&1 || status=$?
	echo "$status" >"$out/bench.status"
	status=0
	nice make reproducible >"$out/reproducible" 2>&1 || status=$?
	echo "$status" >"$out/reproducible.status"
}
told() { cat "$out/$1" && return "$(cat "$out/$1.status")"; }
beside &
beside=$!
step e2e make e2e
wait "$beside"
step fuzz told fuzz
step bench told bench
step reproducible told reproducible

printf '\n=== times\n'
cat "$out/times"
printf '\n=== skipped\n'
if grep -q . "$out/skips"; then
	grep . "$out/skips"
else
	echo "nothing"
fi
if ((${#failed[@]})); then
	printf '\nFAILED: %s\n' "${failed[*]}"
	exit 1
fi
printf '\nAll steps passed.\n'
