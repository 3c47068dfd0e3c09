#!/usr/bin/env bash
# Tries the pages in a real browser: Debian's chromium, with the rules of axe-core, which
# is fetched from npm once and checked by its digest. What is missing is said loudly.
# With FLOWDRIVE_NODES=3 the pages come from three nodes on PostgreSQL, behind a balancer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=4.14.1
digest=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flowdrive

skip() {
	echo "SKIPPED: browser: $1" | tee -a "${E2E_SKIPS:-/dev/null}"
	exit 0
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v chromium >/dev/null || skip "chromium is not installed"
if [[ ! -f $cache/axe-$version.js ]]; then
	command -v npm >/dev/null || skip "npm is not installed, and fetches axe-core"
	mkdir -p "$cache"
	(cd "$dir" && npm pack --silent "axe-core@$version" >/dev/null) || skip "axe-core cannot be fetched"
	echo "$digest  $dir/axe-core-$version.tgz" | sha256sum --check --quiet
	tar -xzf "$dir/axe-core-$version.tgz" -C "$dir" package/axe.min.js
	mv "$dir/package/axe.min.js" "$cache/axe-$version.js"
fi
go build -o "$dir/flowdrive" ./cmd/flowdrive
export FLOWDRIVE_BIN=$dir/flowdrive
if [[ -n ${FLOWDRIVE_NODES:-} ]]; then
	export FLOWDRIVE_TEST_DB=postgres # without PostgreSQL the tests fail, and are not skipped
fi
FLOWDRIVE_AXE=$cache/axe-$version.js go test -tags browser -run "${FLOWDRIVE_BROWSER:-Browser}" -count=1 -timeout=45m ./web
