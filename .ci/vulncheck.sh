#!/usr/bin/env bash
# Looks for known vulnerabilities in what the program is made of, by govulncheck. It
# needs the database of vulnerabilities: that of the Go project, or a copy that
# GOVULNDB names. If it cannot be reached nothing has been looked at, and the exit
# status is 2, not 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export GOVULNDB=${GOVULNDB:-https://vuln.go.dev}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$GOVULNDB" ./... >"$log" 2>&1 || status=$?
cat "$log"
if grep -q 'fetching vulnerabilities\|golang.org/x/vuln.*: \(Get\|dial\|unrecognized\)' "$log"; then
	echo "NOT CHECKED: the database of vulnerabilities, $GOVULNDB, cannot be reached. Name a copy by GOVULNDB, or try again." >&2
	exit 2
fi
exit "$status"
