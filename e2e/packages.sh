#!/usr/bin/env bash
# The packages: made, judged by lintian, rpmlint and systemd, installed in fresh roots, started
# by a stand-in for systemd, used, upgraded from the version before with its data, and removed.
# The version before is that of E2E_BEFORE, a commit or tag; without it, it is this program with
# another number.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

machine=$(go env GOHOSTARCH)
export ARCHS=$machine
fresh=$work/fresh
standin_pid=

end_session() {
	if [[ -n $standin_pid ]]; then
		kill -TERM "$standin_pid" 2>/dev/null || true
		wait "$standin_pid" 2>/dev/null || true
	fi
}

# ---- they are made

succeeds "the packages are made" env VERSION=0.9.0 DIST="$work/old" "$root/.ci/packages.sh"
package=$work/old/flowdrive_0.9.0_$machine.deb
expect "  a package for Debian, one for RPM, a program and an image" 4 \
	"$(find "$work/old" -name '*.deb' -o -name '*.rpm' -o -name '*.oci.tar' -o -name "flowdrive-0.9.0-linux-$machine" | wc -l)"
succeeds "  with sums" bash -c "cd '$work/old' && sha256sum --check --quiet SHA256SUMS"
expect_match "  the program needs no library" "statically linked|not a dynamic executable" "$(ldd "$work/old/flowdrive-0.9.0-linux-$machine" 2>&1 || true)"
expect "  the image is the program's, for user 65532" "65532:65532 /usr/bin/flowdrive" "$(
	mkdir "$work/image" && tar -x -C "$work/image" -f "$work/old/flowdrive-0.9.0.oci.tar"
	machines=$(jq -r '.manifests | if length == 1 then .[0].digest else "more than one" end' "$work/image/index.json")
	manifest=$(jq -r '.manifests[0].digest' "$work/image/blobs/${machines/://}")
	config=$(jq -r '.config.digest' "$work/image/blobs/${manifest/://}")
	jq -r '.config | .User + " " + .Entrypoint[0]' "$work/image/blobs/${config/://}"
)"
expect "  each folder of it is in its layer, for all to enter" "" "$(
	for blob in "$work"/image/blobs/sha256/*; do
		tar -tvf "$blob" 2>/dev/null || true
	done | awk '
		{name = $NF; if ($1 ~ /^d/) { if ($1 ~ /^d..x..x..[xt]/ || name == "data/") open[name] = 1 } else files[name] = 1}
		END {for (f in files) {n = split(f, part, "/"); at = ""; for (i = 1; i < n; i++) {at = at part[i] "/"; if (!(at in open)) print at}}}'
)"
expect "  it has a name by which it is loaded" "flowdrive:0.9.0" "$(jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]' "$work/image/index.json")"
succeeds "another is made" env VERSION=0.9.1 KINDS="deb rpm" DIST="$work/new" "$root/.ci/packages.sh"
succeeds "the first is made again" env VERSION=0.9.0 KINDS="deb rpm" DIST="$work/again" "$root/.ci/packages.sh"
succeeds "  and is the same, byte for byte" cmp "$package" "$work/again/flowdrive_0.9.0_$machine.deb"
rpm=(flowdrive-0.9.0-1.*.rpm flowdrive-0.9.1-1.*.rpm)
for i in 0 1; do rpm[i]=$(compgen -G "$work/$([[ $i == 0 ]] && echo old || echo new)/${rpm[i]}"); done
succeeds "  for RPM as well" cmp "${rpm[0]}" "$work/again/${rpm[0]##*/}"
if has lintian "what lintian says"; then
	expect "lintian finds no error" "" "$(lintian --allow-root --tag-display-limit 0 "$package" 2>/dev/null | grep '^E:' || true)"
fi
if has rpmlint "what rpmlint says"; then
	expect_match "rpmlint finds nothing" " 0 errors, 0 warnings" "$(rpmlint --config "$root/contrib/packages/rpmlint.toml" "${rpm[0]}" 2>&1 | tail -n 4)"
fi

# The unit beside those of systemd, for what it names is judged as well.
exposure=1.4 # docs/operate/install.md says it
judge_unit() {
	if ! has systemd-analyze "what systemd says of the unit"; then
		return
	fi
	local units=$work/units
	mkdir "$units"
	if ! (cd "$units" && apt-get download -q systemd && dpkg -x systemd_*.deb . && dpkg -x "$package" .) >"$work/out" 2>&1; then
		skip "what systemd says of the unit" "apt-get cannot download systemd: $(tail -n 1 "$work/out")"
		return
	fi
	expect "systemd finds no fault in the unit" "" "$(systemd-analyze verify --man=no --root="$units" flowdrive.service 2>&1 || echo "exit $?")"
	expect "  an unknown setting would be one" 1 "$(
		sed 's/^WatchdogSec=/WatchdogSecs=/' "$units/usr/lib/systemd/system/flowdrive.service" >"$units/usr/lib/systemd/system/wrong.service"
		systemd-analyze verify --man=no --root="$units" wrong.service 2>&1 | grep -c "Unknown key.*WatchdogSecs" || true
	)"
	local verdict
	verdict=$(systemd-analyze security --offline=yes --root="$units" --threshold="${exposure/./}" flowdrive.service 2>&1) || true
	expect "systemd-analyze security gives it this figure" "$exposure" "$(sed -n 's/.*Overall exposure level for flowdrive.service: \([0-9.]*\) .*/\1/p' <<<"$verdict")"
}
judge_unit

# ---- the version before

before=$package
before_rpm=${rpm[0]}
if [[ -n ${E2E_BEFORE:-} ]]; then
	mkdir "$work/sources"
	succeeds "there is the version before, $E2E_BEFORE" bash -c "git -C '$root' archive '$E2E_BEFORE' | tar -x -C '$work/sources'"
	succeeds "  and its packages are made" env VERSION=0.8.0 KINDS="deb rpm" DIST="$work/before" "$work/sources/.ci/packages.sh"
	before=$work/before/flowdrive_0.8.0_$machine.deb
	before_rpm=$(compgen -G "$work/before/flowdrive-0.8.0-1.*.rpm")
fi

# ---- another machine

other_machine() {
	local gcc=aarch64-linux-gnu-gcc program=$work/arm64/flowdrive-0.9.1-linux-arm64
	if [[ $machine == arm64 ]]; then
		return
	fi
	if [[ -z ${E2E_ARM64:-} ]]; then
		skip "packages for arm64" "they take minutes more: E2E_ARM64=1 makes them"
		return
	fi
	if ! command -v $gcc >/dev/null || ! command -v qemu-aarch64-static >/dev/null; then
		skip "packages for arm64" "they need $gcc and qemu-aarch64-static (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)"
		return
	fi
	succeeds "the packages for arm64 are made" env ARCHS=arm64 VERSION=0.9.1 DIST="$work/arm64" "$root/.ci/packages.sh"
	expect "  for Debian, for RPM, a program and an image" 4 \
		"$(find "$work/arm64" -name '*_arm64.deb' -o -name '*.aarch64.rpm' -o -name '*.oci.tar' -o -name '*-linux-arm64' | wc -l)"
	expect_match "  the program runs on such a machine" '0\.9\.1' "$(qemu-aarch64-static "$program" version 2>&1 || true)"
	local data=$work/data-arm64
	port=$(free_port)
	base=http://127.0.0.1:$port
	FLOWDRIVE_ADMIN_PASSWORD=$admin_password qemu-aarch64-static "$program" serve --addr "127.0.0.1:$port" --data "$data" >>"$work/server.log" 2>&1 </dev/null &
	server_pid=$!
	eventually "  it starts" curl -sf --max-time 2 "$base/readyz"
	put /dav/Workflow/Cases/new.json '{"route": "request", "title": "Leak"}'
	expect "  a case starts" 201 "$status"
	case_path=$(header Location)
	case_path=${case_path#"$base"}
	for action in confirm approve; do
		put "${case_path%.json}/Actions/$action.json" '{"comment": "Yes."}'
	done
	request GET "$case_path"
	expect "  and is approved" granted "$(json '.status | if type == "array" then .[0] else . end')"
	stop
	expect "  it ends in good order" 0 "$stopped"
}
other_machine

# ---- a fresh root

if ((EUID != 0)); then
	skip "installing" "it needs root"
	finish
fi
if ! has mmdebstrap "installing" || ! has python3 "installing"; then
	finish
fi
if ! mmdebstrap --quiet --variant=extract --include=dash,base-files,coreutils,sed,grep,debianutils,dpkg,tar,libc-bin \
	bookworm "$fresh" /etc/apt/sources.list.d/debian.sources >"$work/out" 2>&1; then
	skip "installing" "there is no fresh root: $(tail -n 1 "$work/out")"
	finish
fi
# What the packages ask of systemd is written down.
mkdir -p "$fresh/run/systemd/system"
printf '#!/bin/sh\necho "$*" >>/asked\n' >"$fresh/usr/bin/systemctl"
chmod 755 "$fresh/usr/bin/systemctl"
cp -a "$fresh" "$work/fresh-rpm"
# asked prints that, and forgets it.
asked() { tr '\n' ';' <"$fresh/asked" && rm "$fresh/asked"; }
# its_processes lets programs of the fresh root see /proc.
its_processes() { mount -t proc proc "$fresh/proc" || mount --bind /proc "$fresh/proc"; }
its_processes
began=$SECONDS
succeeds "the package is installed" dpkg --root="$fresh" --force-depends -i "$before"
expect "  a first installation starts nothing by itself" "--system daemon-reload;try-restart flowdrive.service;" "$(asked)"
port=$(free_port)
base=http://127.0.0.1:$port
expect "  with its settings" /etc/flowdrive/config.yaml "$(dpkg --root="$fresh" --status flowdrive | awk '/^Conffiles/ {getline; print $1}')"
# settles writes the settings of an administrator.
settles() {
	printf 'addr: 127.0.0.1:%s\ntimezone: Europe/Berlin\nmail-from: flow@example.org\nsmtp: smtp://flow@127.0.0.1:1\n' "$port" >"$fresh/etc/flowdrive/config.yaml"
}
settles

# starts waits until the service has said that it is ready.
starts() {
	mkdir -p "$work/state"
	rm -f "$work"/state/*
	# The interval of the watchdog is short, so that the test sees it fed.
	python3 "$root/e2e/standin.py" "$fresh" /usr/lib/systemd/system/flowdrive.service "$work/state" 1 smtp-password=secret-of-the-mail \
		>>"$work/server.log" 2>&1 &
	standin_pid=$!
	eventually "$1" grep -q '^READY=1' "$work/state/messages"
}

ends() {
	kill -TERM "$standin_pid"
	wait "$standin_pid" || true
	standin_pid=
	expect "$1" 0 "$(cat "$work/state/exit")"
}

# first_password prints the one that the log of the newest first start has told.
first_password() { sed -n 's/^The password of admin is \([^ ]*\) .*/\1/p' "$work/server.log" | tail -n 1; }

starts "the service starts"
passwords[admin]=$(first_password)
request GET /dav/Workflow/.ls
expect "  and answers the password that its log told" 200 "$status"
put /dav/Workflow/Cases/new.json '{"route": "request", "title": "Leak"}'
expect "a case starts" 201 "$status"
case_path=$(header Location)
case_path=${case_path#"$base"}
for action in confirm approve; do
	put "${case_path%.json}/Actions/$action.json" '{"comment": "Yes."}'
	expect_match "  $action" '^20' "$status"
done
request GET "$case_path"
expect "  it is approved, $((SECONDS - began)) s after the package came" granted "$(json '.status | if type == "array" then .[0] else . end')"
eventually "its watchdog is fed" grep -q '^WATCHDOG=1' "$work/state/messages"
expect "the data is its own, and nobody else's" "61999 700" "$(stat -c '%u %a' "$fresh/var/lib/flowdrive")"
expect "no secret is in its log" "" "$(grep -c secret-of-the-mail "$work/server.log" | grep -v '^0$' || true)"
kill -HUP "$standin_pid"
eventually "it reloads" grep -q '^RELOADING=1' "$work/state/messages"
echo 'addr: [' >>"$fresh/etc/flowdrive/config.yaml"
kill -HUP "$standin_pid"
eventually "wrong settings are refused before anything is read" grep -q '^reload check: 78' "$work/state/messages"
sed -i '$d' "$fresh/etc/flowdrive/config.yaml"
ends "it ends in good order"
expect_match "  and says so" "STOPPING=1" "$(cat "$work/state/messages")"

# ---- upgraded, with its data

succeeds "the next version is installed over it" dpkg --root="$fresh" --force-depends -i "$work/new/flowdrive_0.9.1_$machine.deb"
expect_match "  the settings are kept" "Europe/Berlin" "$(cat "$fresh/etc/flowdrive/config.yaml")"
expect "  a server that runs is started again, and none is stopped for good" \
	"--system daemon-reload;--system daemon-reload;try-restart flowdrive.service;" "$(asked)"
starts "the new version starts"
request GET /version
expect "  which is the new one" 0.9.1 "$(json .version)"
request GET "$case_path"
expect "  with the data" Leak "$(json .title)"
ends "it ends in good order"

# ---- removed

succeeds "the package is removed" dpkg --root="$fresh" --remove flowdrive
expect "  its server first" "--no-reload disable --now flowdrive.service;--system daemon-reload;" "$(asked)"
expect "  without the data" yes "$([[ -s $fresh/var/lib/flowdrive/flowdrive.db ]] && echo yes)"
expect "  and without the settings" yes "$([[ -s $fresh/etc/flowdrive/config.yaml ]] && echo yes)"
succeeds "it is purged" dpkg --root="$fresh" --purge flowdrive
expect "  the settings go, the data stays" "no yes" "$([[ -e $fresh/etc/flowdrive/config.yaml ]] && echo yes || echo no) $([[ -s $fresh/var/lib/flowdrive/flowdrive.db ]] && echo yes)"

# ---- the same by RPM

if ! has rpm "installing the package of RPM"; then
	finish
fi
fresh=$work/fresh-rpm
its_processes
by_rpm() { rpm --root "$fresh" --dbpath /var/lib/rpm "$@"; }
began=$SECONDS
succeeds "the package of RPM is installed" by_rpm --install --nodeps "$before_rpm"
expect "  a first installation starts nothing by itself" "--system daemon-reload;try-restart flowdrive.service;" "$(asked)"
expect "  the files are as the package has them" "" "$(by_rpm --verify --nodeps flowdrive 2>&1 || true)"
settles
starts "  the service starts"
passwords[admin]=$(first_password)
put /dav/Workflow/Cases/new.json '{"route": "request", "title": "Leak"}'
expect "  a case starts, $((SECONDS - began)) s after the package came" 201 "$status"
case_path=$(header Location)
case_path=${case_path#"$base"}
ends "  it ends in good order"
succeeds "the next version is installed over it" by_rpm --upgrade --nodeps "${rpm[1]}"
expect "  a server that runs is started again, and none is stopped for good" \
	"--system daemon-reload;try-restart flowdrive.service;--system daemon-reload;" "$(asked)"
expect "  the files are root's, and only root may write them" "root:root -rw-r--r--;root:root -rwxr-xr-x /usr/bin/flowdrive;root:root drwxr-xr-x;" "$(
	by_rpm --query --queryformat '[%{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEMODES:perms} %{FILENAMES}\n]' flowdrive |
		sed '/ -rwx/!s/ [^ ]*$//' | LC_ALL=C sort -u | tr '\n' ';'
)"
starts "  with the settings that were there it starts"
request GET "$case_path"
expect "  with the data" Leak "$(json .title)"
request GET /version
expect "  in the new version" 0.9.1 "$(json .version)"
ends "  it ends in good order"
succeeds "the package is removed" by_rpm --erase --nodeps flowdrive
expect "  its server first" "--no-reload disable --now flowdrive.service;--system daemon-reload;" "$(asked)"
expect "  what is left are the settings that were changed, and the data" \
	"/etc/flowdrive;/etc/flowdrive/config.yaml.rpmsave;/var/lib/flowdrive;" "$(
		find "$fresh" -path "$fresh/var/lib/flowdrive" -prune -print -o -path "$fresh/proc" -prune -o -path '*flowdrive*' -print |
			grep -v "^$fresh/run/" | sed "s|^$fresh||" | LC_ALL=C sort | tr '\n' ';'
	)"

finish
