#!/usr/bin/env bash
# Fuzzes every target of the repository for FUZZTIME, as many at a time as
# there are processors. A failing input is left in the target's
# testdata/fuzz, to be committed with the mend.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export FUZZTIME=${FUZZTIME:-10s}

targets=$(grep -rEo --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Za-z0-9_]+' . | sort)
if [[ -z $targets ]]; then
	echo "fuzz: there is no target" >&2
	exit 1
fi

# one fuzzes one target, given as FILE:func NAME. The go command sometimes
# reports the end of the time itself as a failure, without an input that fails
# (golang/go#75804); such a run says nothing and is made again, and counts the
# executions instead.
one() {
	local dir name log time=$FUZZTIME
	dir=$(dirname "${1%%:*}")
	name=${1##* }
	log=$(mktemp)
	for _ in 1 2 3; do
		if go test -run='^$' -fuzz="^$name\$" -fuzztime="$time" -parallel=1 "$dir" >"$log" 2>&1; then
			printf 'fuzz %-24s %s: %s\n' "$dir" "$name" "$(grep -E '^fuzz: elapsed' "$log" | tail -n 1)"
			rm -f "$log"
			return 0
		fi
		if ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input written' "$log"; then
			break
		fi
		time=20000x
	done
	printf 'fuzz %-24s %s: FAILED\n%s\n' "$dir" "$name" "$(cat "$log")"
	rm -f "$log"
	return 1
}
export -f one

# Ends with 123 if a target failed; the others have run too.
# shellcheck disable=SC2016 # $1 is the inner shell's
xargs -d '\n' -P "$(nproc)" -I '{}' bash -c 'one "$1"' _ '{}' <<<"$targets"
