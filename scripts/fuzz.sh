#!/usr/bin/env bash
# Fuzzes every target of the repository for FUZZTIME, one after the other. A
# failing input is left in the target's testdata/fuzz, to be committed with
# the mend.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzztime=${FUZZTIME:-10s}

targets=$(grep -rEo --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Za-z0-9_]+' . | sort)
if [[ -z $targets ]]; then
	echo "fuzz: there is no target" >&2
	exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
while IFS=: read -r file func; do
	dir=$(dirname "$file")
	name=${func#func }
	if go test -run='^$' -fuzz="^$name\$" -fuzztime="$fuzztime" "$dir" >"$log" 2>&1; then
		printf 'fuzz %-24s %s: %s\n' "$dir" "$name" "$(grep -E '^fuzz: elapsed' "$log" | tail -n 1)"
	else
		printf 'fuzz %-24s %s: FAILED\n' "$dir" "$name"
		cat "$log"
		status=1
	fi
done <<<"$targets"
exit "$status"
