#!/usr/bin/env bash
# Runs the scripts of this folder, each against a server of its own. They wait for clients
# most of the time, so as many run at once as there are processors (E2E_LANES). What a
# script has printed is shown when it has ended.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# With all clients jobs.sh alone takes a quarter of an hour: make e2e-jobs.
export E2E_CLIENTS=${E2E_CLIENTS-curl rclone-full davfs2-locks-1}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs

# The scripts that take longest are first, so that no lane ends long before the other.
scripts=(packages.sh jobs.sh everyday.sh refusals.sh saving.sh generated.sh persons.sh clients.sh litmus.sh
	proxies.sh schedule.sh habits.sh drop.sh attachments.sh documents.sh account.sh calendar.sh monitoring.sh release.sh)

# Each script would build the same program; it is built once for all.
if [[ -z ${E2E_PROGRAM:-} ]]; then
	(cd .. && go build -o "$logs/flowdrive" ./cmd/flowdrive)
	export E2E_PROGRAM=$logs/flowdrive
fi

# one runs a script, says how long it took, and keeps that it failed in a file.
one() {
	local begin=$SECONDS status=0
	# A client that hangs on a mount must not hold up everything. timeout ends what
	# the script has started as well.
	timeout -k 10 25m "./$1" >"$logs/$1.log" 2>&1 || status=$?
	{
		printf '\n--- e2e/%s\n' "$1"
		cat "$logs/$1.log"
		printf -- '--- e2e/%s: status %d, %d s\n' "$1" "$status" "$((SECONDS - begin))"
	} >"$logs/$1.told"
	# Two that end at once are not mixed.
	flock "$logs/lock" cat "$logs/$1.told"
	if ((status)); then touch "$logs/$1.failed"; fi
}
export -f one

# shellcheck disable=SC2016 # $1 is the inner shell's
printf '%s\n' "${scripts[@]}" | xargs -P "${E2E_LANES:-$(nproc)}" -I '{}' bash -euo pipefail -c 'one "$1"' _ '{}'

if compgen -G "$logs/*.failed" >/dev/null; then
	printf '\nFAILED:'
	for failed in "$logs"/*.failed; do printf ' %s' "$(basename "$failed" .failed)"; done
	printf '\n'
	exit 1
fi
