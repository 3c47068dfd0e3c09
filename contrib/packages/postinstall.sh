#!/bin/sh
# After the files of a new version are there: a server that runs is started again. A
# first installation starts nothing: the administrator says when.
set -e
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload || true
	systemctl try-restart flowdrive.service || true
fi
