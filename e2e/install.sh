#!/usr/bin/env bash
# Installs the Debian packages of the clients that the scripts of this folder
# use: those that are missing, and only as root. Without them the scripts say
# loudly what they skip.
set -euo pipefail

# command:package
wanted=(curl:curl jq:jq cadaver:cadaver litmus:litmus rclone:rclone mount.davfs:davfs2 fusermount3:fuse3
	gio:libglib2.0-bin /usr/sbin/slapd:slapd /usr/lib/postgresql/15/bin/initdb:postgresql pgbouncer:pgbouncer /usr/libexec/gvfsd-dav:gvfs-backends /usr/libexec/gvfsd-fuse:gvfs-fuse
	dbus-run-session:dbus-daemon vim:vim node:nodejs npm:npm icalendar:python3-icalendar
	wget:wget lftp:lftp kioclient5:kde-cli-tools /usr/share/dbus-1/services/org.kde.KIOFuse.service:kio-fuse
	/usr/share/perl5/HTTP/DAV.pm:libhttp-dav-perl /usr/lib/python3/dist-packages/easywebdav/__init__.py:python3-easywebdav
	chromium:chromium mmdebstrap:mmdebstrap python3:python3 lintian:lintian
	rpm:rpm rpmlint:rpmlint systemd-analyze:systemd)

missing=()
for pair in "${wanted[@]}"; do
	# davfs2 installs into sbin, which is not in everybody's PATH.
	if [[ ! -f ${pair%%:*} ]] && ! PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%:*}" >/dev/null; then
		missing+=("${pair##*:}")
	fi
done
if ((${#missing[@]} == 0)); then
	exit 0
fi
if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
	echo "SKIPPED: not installing ${missing[*]}: this needs root on Debian" | tee -a "${E2E_SKIPS:-/dev/null}"
	exit 0
fi

export DEBIAN_FRONTEND=noninteractive
echo "installing ${missing[*]}"
apt-get update -q
# The mount runs as root here: mount.davfs need not be set-uid. The tests run slapd with a
# directory of their own; the package shall make and serve none.
if command -v debconf-set-selections >/dev/null; then
	printf '%s\n' 'davfs2 davfs2/suid_file boolean false' 'slapd slapd/no_configuration boolean true' | debconf-set-selections
fi
apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
