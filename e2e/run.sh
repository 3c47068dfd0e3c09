#!/usr/bin/env bash
# Runs the scripts of this folder, each against a server of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# With all clients jobs.sh alone takes a quarter of an hour: make e2e-jobs.
export E2E_CLIENTS=${E2E_CLIENTS-curl rclone-full davfs2-locks-1}

status=0
for script in schedule.sh habits.sh persons.sh drop.sh attachments.sh documents.sh account.sh calendar.sh monitoring.sh litmus.sh clients.sh everyday.sh jobs.sh saving.sh refusals.sh generated.sh release.sh packages.sh proxies.sh; do
	printf '\n--- e2e/%s\n' "$script"
	# A client that hangs on a mount must not hold up everything. timeout ends
	# what the script has started as well; the trap hands on a Ctrl-C.
	timeout -k 10 15m "./$script" &
	running=$!
	trap 'kill -TERM "$running"; wait "$running"; exit 1' INT TERM
	wait "$running" || status=1
	trap - INT TERM
done
exit "$status"
