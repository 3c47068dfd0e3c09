#!/usr/bin/env bash
# litmus, the test of WebDAV servers, on Documents/: all of its suites pass and
# none of its tests is skipped, as on Apache's mod_dav; and once more in the
# same folder, where the first run has left what it leaves.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if ! command -v litmus >/dev/null; then
	skip litmus "there is no litmus here (make deps installs it)"
	finish
fi

# Its exit code is 0 though tests fail, so that what it prints is read.
declare -A tests=([basic]=16 [copymove]=13 [props]=30 [locks]=41 [http]=4)
most_warnings=2

start
mkdir "$work/litmus"
for run in first second; do
	warnings=0
	for suite in basic copymove props locks http; do
		out=$(cd "$work/litmus" && TESTS=$suite litmus -k "$base/dav/Documents/admin/" admin "$admin_password" </dev/null 2>&1 | tr '\r' '\n') || true
		n=${tests[$suite]}
		expect "$run run, $suite: $n of $n" "of $n tests run: $n passed, 0 failed. 100.0%" "$(sed -n "s/^<- summary for .$suite': //p" <<<"$out")"
		expect "  nothing fails or is skipped" "" "$(grep -E 'FAIL|SKIPPED' <<<"$out" || true)"
		warned=$(grep -c 'WARNING' <<<"$out" || true)
		warnings=$((warnings + warned))
		if ((warned)); then
			grep 'WARNING' <<<"$out" | sed 's/^/  # /'
		fi
	done
	expect "$run run: at most $most_warnings warnings (it was $warnings)" yes "$( ((warnings <= most_warnings)) && echo yes)"
done
request GET /dav/Documents/admin/.contents
expect "nothing but its folder is left" litmus "$(json '[.[].name] | join(" ")')"
stop
expect "the server stops in good order" 0 "$stopped"
finish
