#!/bin/sh
# The server is stopped before it is removed, not before it is upgraded: Debian says
# "remove", RPM says how many versions will be left.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl --no-reload disable --now flowdrive.service || true
	fi
	;;
esac
