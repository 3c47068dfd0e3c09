#!/usr/bin/env bash
# Programs on a mounted drive save as they do: in place, by a temporary file and
# a rename, by an upload that is compared with what is found afterwards. After
# an accepted save nothing is deleted, doubled or shown as vanished; a refused
# one leaves what is stored as it was, and its text and reasons in Rejected/.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin

schedule=/dav/Workflow/Schedule

if ! has curl saving || ! has_fuse saving; then
	finish
fi
start

printf '{"route": "collector", "type": "interval", "weeks": 500, "note": "first"}\n' >"$work/first.json"
sed 's/first/second/' "$work/first.json" >"$work/second.json"
sed 's/first/third/' "$work/first.json" >"$work/third.json"
printf '{"route": "collector", "type": "interval", "minutes": "soon"}\n' >"$work/wrong.json"

# entries prints how many schedule entries there are.
entries() {
	request GET "$schedule/.contents"
	json length
}

# rejected FILE: is what was refused found among what was rejected?
rejected() { request GET "$schedule/Rejected/" && grep -q "$1.txt" "$work/body"; }

# new_case sets $case to the path of a new case.
new_case() {
	put /dav/Workflow/Cases/new.json '{"route": "bug", "title": "Fire", "roles": {"assignee": ["admin"]}}'
	case=$(header Location)
	case=${case%.json}
}

# performed N: has the action been performed so often in the case?
performed() {
	request GET "$case/log.json"
	[[ $(json '[.[] | select(.kind == "action" and .action == "resolve")] | length') == "$1" ]]
}

# open_cases prints how many cases are open.
open_cases() {
	request GET "/dav/Workflow/Cases/.contents?state=active"
	json length
}

# rclone_is_late: rclone repeats a command that was refused. It must not be performed
# when another user has made it possible.
rclone_is_late() {
	rclone_mount writes
	new_case
	eventually "  shows a new case" ls "$m${case#/dav}/Actions"
	echo '{"comment": "too early"}' >"$m${case#/dav}/Actions/close.json"
	eventually "  a refused action is explained" answers 200 GET "$case/Actions/Rejected/"
	put "$case/Actions/resolve.json" '{"comment": "put out"}'
	expect "  which another makes possible" 204 "$status"
	sleep 12
	request GET "$case/log.txt"
	expect "  it is not performed later" "" "$(grep 'too early' "$work/body" || true)"
	succeeds "  unmounts" fusermount3 -u "$m"
}

# ---- rclone

# rclone_mount MODE mounts the drive at $m.
rclone_mount() {
	m=$work/rclone-$1
	mkdir -p "$m"
	succeeds "rclone mounts the drive, cache mode $1" rclone mount w: "$m" --vfs-cache-mode "$1" --vfs-write-back 0s \
		--dir-cache-time 1s --cache-dir "$work/cache-$1" --daemon --daemon-wait 10s --log-file "$work/rclone-$1.log" --log-level INFO
}

rclone_saves() {
	local mode=$1 before
	rclone_mount "$mode"
	succeeds "  saves an entry" cp "$work/first.json" "$m/Workflow/Schedule/by-$mode.json"
	eventually "  the server has it" holds "$work/first.json" "$schedule/by-$mode.json"
	succeeds "  saves it again" cp "$work/second.json" "$m/Workflow/Schedule/by-$mode.json"
	eventually "  the server has it" holds "$work/second.json" "$schedule/by-$mode.json"

	cp "$work/wrong.json" "$m/Workflow/Schedule/by-$mode.json" 2>/dev/null || true
	eventually "  a refused save is explained" rejected "by-$mode.json"
	sleep 2
	succeeds "  and leaves what is stored" holds "$work/second.json" "$schedule/by-$mode.json"

	before=$(entries)
	# Each another: the same within a minute is taken for the same.
	sed "s/first/by mode $mode/" "$work/first.json" >"$work/new.json"
	succeeds "  saves new.json" cp "$work/new.json" "$m/Workflow/Schedule/new.json"
	sleep 3
	expect "  one entry has come" "$((before + 1))" "$(entries)"
	succeeds "  new.json is still shown" ls "$m/Workflow/Schedule/new.json"

	new_case
	succeeds "  changes a case" sh -c "echo '{\"title\": \"Smoke\"}' >'$m${case#/dav}.json'"
	sleep 2
	request GET "$case.json"
	expect "  the case is changed" "200 Smoke" "$status $(json .title)"
	succeeds "  performs an action" sh -c "echo '{\"comment\": \"put out\"}' >'$m${case#/dav}/Actions/resolve.json'"
	eventually "  it is performed" performed 1
	sleep 2
	succeeds "  and not again" performed 1
	request GET "$case.json"
	expect "  the case is there" 200 "$status"
	succeeds "  unmounts" fusermount3 -u "$m"
}

if has rclone rclone && has fusermount3 'rclone mount'; then
	export RCLONE_CONFIG=/dev/null RCLONE_CONFIG_W_TYPE=webdav RCLONE_CONFIG_W_VENDOR=other \
		RCLONE_CONFIG_W_URL=$base/dav/ RCLONE_CONFIG_W_USER=admin
	RCLONE_CONFIG_W_PASS=$(rclone obscure "$admin_password")
	export RCLONE_CONFIG_W_PASS
	succeeds "rclone copies a file to new.json" rclone copyto "$work/third.json" w:Workflow/Schedule/new.json --retries 1
	expect "  one entry has come" 1 "$(entries)"
	succeeds "rclone copies a file over an entry" rclone copyto "$work/first.json" w:Workflow/Schedule/copied.json --retries 1
	fails "  is told of a wrong one" rclone copyto "$work/wrong.json" w:Workflow/Schedule/copied.json --retries 1
	succeeds "  which leaves what is stored" holds "$work/first.json" "$schedule/copied.json"
	for mode in off minimal writes; do
		rclone_saves "$mode"
	done
	rclone_is_late
fi

# ---- davfs2

# davfs_mount NAME USE_LOCKS DELAY mounts the drive at $m.
davfs_mount() {
	m=$work/davfs-$1
	mkdir -p "$m"
	install -d -o root -g davfs2 -m 775 "$work/davfs-cache-$1"
	chmod 711 "$work"
	(
		umask 077
		printf '%s/dav/ admin %s\n' "$base" "$admin_password" >"$work/secrets"
		printf '%s\n' "secrets $work/secrets" "cache_dir $work/davfs-cache-$1" 'ask_auth 0' "use_locks $2" "delay_upload $3" \
			'if_match_bug 0' 'buf_size 1024' 'dir_refresh 1' 'file_refresh 1' 'gui_optimize 0' >"$work/davfs2-$1.conf"
	)
	succeeds "davfs2 mounts the drive, use_locks $2, delay_upload $3" \
		mount -t davfs -o "conf=$work/davfs2-$1.conf,uid=0,gid=0,file_mode=644,dir_mode=755" "$base/dav/" "$m"
}

# locked PATH: does a lock lie on it?
locked() {
	request PROPFIND "$1" -H 'Depth: 0' --data '<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>'
	grep -q activelock "$work/body"
}
unlocked() { ! locked "$1"; }

davfs_saves() {
	local name=$1
	davfs_mount "$@"
	succeeds "  saves an entry" cp "$work/first.json" "$m/Workflow/Schedule/$name.json"
	eventually "  the server has it" holds "$work/first.json" "$schedule/$name.json"
	succeeds "  saves by sed -i" sed -i s/first/second/ "$m/Workflow/Schedule/$name.json"
	eventually "  the server has it" holds "$work/second.json" "$schedule/$name.json"
	succeeds "  saves by a rename" sh -c "cp '$work/third.json' '$m/Workflow/Schedule/.$name.tmp' && mv '$m/Workflow/Schedule/.$name.tmp' '$m/Workflow/Schedule/$name.json'"
	eventually "  the server has it" holds "$work/third.json" "$schedule/$name.json"
	if has vim "vim on davfs2 ($name)"; then
		succeeds "  saves by vim" timeout 30 vim -u NONE -es -c 'set nocompatible backup writebackup backupcopy=no' -c '%s/third/second/' -c 'wq' "$m/Workflow/Schedule/$name.json"
		eventually "  the server has it" holds "$work/second.json" "$schedule/$name.json"
	fi
	expect "  it is shown once" 1 "$(find "$m/Workflow/Schedule" -maxdepth 1 -name "$name.json" | wc -l)"
	cp "$work/wrong.json" "$m/Workflow/Schedule/$name.json" || true
	eventually "  a refused save is explained" rejected "$name.json"
	sleep 2
	request GET "$schedule/$name.json"
	expect_match "  and leaves what is stored" '500, "note"' "$(body)"
	succeeds "  and no lock" unlocked "$schedule/$name.json"
	cp "$work/first.json" "$m/Workflow/Schedule/$name.txt"
	eventually "  a save that does nothing is noted" rejected "$name.txt"
	fails "  a folder of one's own is refused" mkdir "$m/Workflow/Schedule/Own"
	new_case
	sleep 2
	succeeds "  performs an action" sh -c "echo '{\"comment\": \"put out\"}' >'$m${case#/dav}/Actions/resolve.json'"
	eventually "  it is performed" performed 1
	succeeds "  unmounts" umount "$m"
	succeeds "  and not performed again" performed 1
}

if has mount.davfs davfs2; then
	davfs_saves locks 1 0
	davfs_saves plain 0 0
	davfs_saves delay 1 2
	davfs_mount brake 0 0
	for _ in 1 2 3 4 5; do new_case; done
	before=$(open_cases)
	rm -r "$m/Workflow/Cases" >/dev/null 2>&1 || true
	expect "  rm -r of the cases cancels three" "$((before - 3))" "$(open_cases)"
	succeeds "  unmounts" umount "$m"
fi

# ---- Windows, request by request: it cannot run here

windows='Microsoft-WebDAV-MiniRedir/10.0.19045'
cat >"$work/stamps.xml" <<'XML'
<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>
<Z:Win32LastModifiedTime>Thu, 08 Nov 2012 07:00:00 GMT</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>
</D:prop></D:set></D:propertyupdate>
XML
cat >"$work/lock.xml" <<'XML'
<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>
XML

# windows_saves FILE PATH: every answer between LOCK and UNLOCK must be a success.
windows_saves() {
	local token statuses=()
	request PUT "$2" -A "$windows" --data-binary ''
	statuses+=("$status")
	request LOCK "$2" -A "$windows" -H 'Timeout: Second-3600' --data-binary @"$work/lock.xml"
	statuses+=("$status")
	token=$(header Lock-Token)
	request PROPPATCH "$2" -A "$windows" -H "If: ($token)" --data-binary @"$work/stamps.xml"
	statuses+=("$status")
	request PUT "$2" -A "$windows" -H "If: ($token)" --data-binary @"$1"
	statuses+=("$status")
	request PROPPATCH "$2" -A "$windows" -H "If: ($token)" --data-binary @"$work/stamps.xml"
	statuses+=("$status")
	request UNLOCK "$2" -A "$windows" -H "Lock-Token: $token"
	statuses+=("$status")
	expect_match "Windows saves $2" '^20[0-9] 20[0-9] 207 20[0-9] 207 204$' "${statuses[*]}"
}

printf 'access: {start: [everyone]}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}\n' >"$work/route.yaml"
printf '{"route": "bug", "title": "Fire"}\n' >"$work/case.json"
printf '{"comment": "put out"}\n' >"$work/done.json"
printf '{"fullName": "By Windows"}\n' >"$work/me.json"
printf '{"rate": "7/minute"}\n' >"$work/hook.json"
windows_saves "$work/first.json" "$schedule/by-windows.json"
windows_saves "$work/second.json" "$schedule/by-windows.json"
windows_saves "$work/route.yaml" /dav/Workflow/Routes/by-windows.yaml
windows_saves "$work/case.json" /dav/Workflow/Cases/by-windows.json
windows_saves "$work/first.json" /dav/Workflow/Routes/collector/by-windows.txt
windows_saves "$work/second.json" /dav/Workflow/Routes/collector/by-windows.txt
new_case
windows_saves "$work/done.json" "$case/Actions/resolve.json"
succeeds "  and performs the action once" performed 1
windows_saves "$work/first.json" "$case/Files/by-windows.txt"
windows_saves "$work/second.json" "$case/Files/by-windows.txt"
succeeds "  the server has it" holds "$work/second.json" "$case/Files/by-windows.txt"
windows_saves "$work/hook.json" /dav/Workflow/Routes/by-windows/Hooks/shop.json
windows_saves "$work/hook.json" /dav/Workflow/Routes/by-windows/Hooks/shop.json
windows_saves "$work/me.json" /dav/Account/me.json
windows_saves "$work/me.json" /dav/Admin/Users/by-windows.json
windows_saves "$work/me.json" /dav/Admin/Users/by-windows.json
windows_saves "$work/first.json" /attachfs/by-windows.txt
windows_saves "$work/second.json" "/attachfs/${case##*/}/by-windows.txt"

stop
expect "the server stops in good order" 0 "$stopped"
finish
