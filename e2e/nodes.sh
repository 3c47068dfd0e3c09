#!/usr/bin/env bash
# Real clients on three nodes behind a balancer that picks one at random for each request: litmus,
# then curl, cadaver, rclone, davfs2 and gio. "make e2e-nodes" runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

status=0
for script in litmus.sh clients.sh; do
	printf '\n--- e2e/%s on three nodes\n' "$script"
	FLOWDRIVE_NODES=3 timeout -k 10 15m "./$script" || status=1
done
exit "$status"
