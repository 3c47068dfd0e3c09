#!/usr/bin/env bash
# The packages: made, installed in a fresh root, started by a stand-in for systemd, used,
# upgraded from the version before with its data, and removed.
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
succeeds "another is made" env VERSION=0.9.1 KINDS=deb DIST="$work/new" "$root/.ci/packages.sh"
succeeds "the first is made again" env VERSION=0.9.0 KINDS=deb DIST="$work/again" "$root/.ci/packages.sh"
succeeds "  and is the same, byte for byte" cmp "$package" "$work/again/flowdrive_0.9.0_$machine.deb"
if has lintian "what lintian says"; then
	expect "lintian finds no error" "" "$(lintian --allow-root --tag-display-limit 0 "$package" 2>/dev/null | grep '^E:' || true)"
fi

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
mount -t proc proc "$fresh/proc" || mount --bind /proc "$fresh/proc"
began=$SECONDS
succeeds "the package is installed" dpkg --root="$fresh" --force-depends -i "$package"
port=$(free_port)
base=http://127.0.0.1:$port
expect "  with its settings" /etc/flowdrive/config.yaml "$(dpkg --root="$fresh" --status flowdrive | awk '/^Conffiles/ {getline; print $1}')"
printf 'addr: 127.0.0.1:%s\ntimezone: Europe/Berlin\nmail-from: flow@example.org\nsmtp: smtp://flow@127.0.0.1:1\n' "$port" >"$fresh/etc/flowdrive/config.yaml"

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

starts "the service starts"
passwords[admin]=$(sed -n 's/^The password of admin is \([^ ]*\) .*/\1/p' "$work/server.log")
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
starts "the new version starts"
request GET /version
expect "  which is the new one" 0.9.1 "$(json .version)"
request GET "$case_path"
expect "  with the data" Leak "$(json .title)"
ends "it ends in good order"

# ---- removed

succeeds "the package is removed" dpkg --root="$fresh" --remove flowdrive
expect "  without the data" yes "$([[ -s $fresh/var/lib/flowdrive/flowdrive.db ]] && echo yes)"
expect "  and without the settings" yes "$([[ -s $fresh/etc/flowdrive/config.yaml ]] && echo yes)"
succeeds "it is purged" dpkg --root="$fresh" --purge flowdrive
expect "  the settings go, the data stays" "no yes" "$([[ -e $fresh/etc/flowdrive/config.yaml ]] && echo yes || echo no) $([[ -s $fresh/var/lib/flowdrive/flowdrive.db ]] && echo yes)"

finish
