#!/usr/bin/env bash
# Real clients on a real server: they list and read the tree, put a schedule
# entry, have one refused, and delete it again. A client that this machine
# does not have, or a part of the drive that is not built, is skipped loudly.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin

schedule=/dav/Workflow/Schedule

has curl clients || finish
start

printf '{"route": "collector", "type": "interval", "weeks": 500, "note": "by a client"}\n' >"$work/entry.json"
printf '{"route": "collector", "type": "interval", "minutes": "soon"}\n' >"$work/wrong.json"

# ---- curl

curl_put() { curl -sS --fail-with-body -u "admin:$admin_password" -T "$1" "$base$2"; }

succeeds "curl -T puts an entry" curl_put "$work/entry.json" "$schedule/by-curl.json"
succeeds "  which is kept byte for byte" holds "$work/entry.json" "$schedule/by-curl.json"
fails "curl -T of a wrong one fails" curl_put "$work/wrong.json" "$schedule/wrong.json"
expect_match "  and prints why" '/minutes' "$(cat "$work/out")"
succeeds "  nothing is stored" answers 404 GET "$schedule/wrong.json"

# ---- cadaver

# It always exits with 0; what failed says so.
cadaver_does() {
	printf '%s\n' "$@" quit | HOME=$work/home cadaver "$base/dav/Workflow/" 2>&1 | tr '\r' '\n'
}

if has cadaver cadaver; then
	mkdir -p "$work/home"
	(umask 077 && printf 'machine 127.0.0.1\nlogin admin\npassword %s\n' "$admin_password" >"$work/home/.netrc")
	out=$(cadaver_does ls 'cd Schedule' "put $work/entry.json by-cadaver.json" ls "get by-cadaver.json $work/got.json")
	expect_match "cadaver lists Workflow/" 'Coll:.*Schedule' "$out"
	expect_match "  puts an entry" 'Uploading .*by-cadaver\.json.*succeeded' "${out//$'\n'/ }"
	expect "  nothing of it failed" "" "$(grep failed <<<"$out" || true)"
	succeeds "  the server has it" holds "$work/entry.json" "$schedule/by-cadaver.json"
	succeeds "  it reads it back" cmp "$work/entry.json" "$work/got.json"
	out=$(cadaver_does 'cd Schedule' "put $work/wrong.json wrong.json")
	expect_match "  is told of a wrong one" 'failed' "$out"
	out=$(cadaver_does 'cd Schedule' 'delete by-cadaver.json')
	expect_match "  deletes the entry" "Deleting .*succeeded" "$out"
	succeeds "  it is gone" answers 404 GET "$schedule/by-cadaver.json"
fi

# ---- rclone

if has rclone rclone; then
	export RCLONE_CONFIG=/dev/null RCLONE_CONFIG_W_TYPE=webdav RCLONE_CONFIG_W_VENDOR=other \
		RCLONE_CONFIG_W_URL=$base/dav/ RCLONE_CONFIG_W_USER=admin
	RCLONE_CONFIG_W_PASS=$(rclone obscure "$admin_password")
	export RCLONE_CONFIG_W_PASS
	succeeds "rclone lists Workflow/" rclone lsf w:Workflow
	expect_match "  with its folders" 'Cases/.*Routes/.*Schedule/' "$(sort "$work/out" | tr '\n' ' ')"
	succeeds "  puts an entry" rclone copyto "$work/entry.json" w:Workflow/Schedule/by-rclone.json --retries 1
	succeeds "  the server has it" holds "$work/entry.json" "$schedule/by-rclone.json"
	succeeds "  finds nothing to do the second time" rclone copyto "$work/entry.json" w:Workflow/Schedule/by-rclone.json --retries 1
	succeeds "  reads it back" rclone cat w:Workflow/Schedule/by-rclone.json
	expect "    the same bytes" "$(cat "$work/entry.json")" "$(cat "$work/out")"
	fails "  is told of a wrong one" rclone copyto "$work/wrong.json" w:Workflow/Schedule/wrong.json --retries 1
	succeeds "    of which nothing is stored" answers 404 GET "$schedule/wrong.json"
	succeeds "  deletes the entry" rclone deletefile w:Workflow/Schedule/by-rclone.json
	succeeds "  it is gone" answers 404 GET "$schedule/by-rclone.json"
	mkdir -p "$work/sync" "$work/synced"
	printf 'first\n' >"$work/sync/a.txt"
	succeeds "  syncs a folder into Documents/" rclone sync "$work/sync" w:Documents/admin
	printf 'second and longer\n' >"$work/sync/a.txt"
	succeeds "    and what was changed" rclone sync "$work/sync" w:Documents/admin
	printf 'latest and longer\n' >"$work/sync/a.txt"
	touch -d '+1 minute' "$work/sync/a.txt" # rclone compares seconds
	# Only to a server of this kind rclone sends times.
	RCLONE_CONFIG_W_VENDOR=owncloud succeeds "    and what has the same size, as the manual says" rclone sync "$work/sync" w:Documents/admin
	succeeds "      the server has it" holds "$work/sync/a.txt" /dav/Documents/admin/a.txt
	succeeds "    back, without the history" rclone sync w:Documents/admin "$work/synced"
	expect "    which it does not see" a.txt "$(ls -A "$work/synced")"
	succeeds "    and so does not delete" rclone sync "$work/sync" w:Documents/admin
	rclone lsf w:Documents/admin/.history | sort | head -n 1 >"$work/out"
	expect_match "    it is there under its name" '^[0-9TZ]+ a\.txt$' "$(cat "$work/out")"
	succeeds "    and what was overwritten comes back" rclone copyto "w:Documents/admin/.history/$(cat "$work/out")" w:Documents/admin/back.txt
	expect "      as it was" first "$(rclone cat w:Documents/admin/back.txt)"
	mkdir -p "$work/both"
	for name in a b c d; do echo "$name one" >"$work/both/$name"; done
	export RCLONE_CONFIG_W_VENDOR=owncloud
	succeeds "  keeps two folders alike" rclone mkdir w:Documents/admin/both
	succeeds "    from the first time" rclone bisync "$work/both" w:Documents/admin/both --resync --workdir "$work/bisync"
	echo 'a two' >"$work/both/a"
	touch -d '+1 minute' "$work/both/a"
	request PUT /dav/Documents/admin/both/b --data-binary 'b two' -H "X-OC-Mtime: $(date -d '+1 minute' +%s)" # bisync compares seconds
	succeeds "    in both directions" rclone bisync "$work/both" w:Documents/admin/both --workdir "$work/bisync"
	succeeds "      the server has what was changed here" holds "$work/both/a" /dav/Documents/admin/both/a
	expect "      and what was changed there is here" 'b two' "$(cat "$work/both/b")"
	export RCLONE_CONFIG_W_VENDOR=other
	succeeds "  a folder of cases is not deletable" answers 403 DELETE /dav/Workflow/Cases/
fi

# ---- lftp

if has lftp lftp; then
	request MKCOL /dav/Documents/admin/large
	mkdir "$work/large"
	for i in {1..1200}; do printf 'upload-file = "%s"\nurl = "%s/dav/Documents/admin/large/%d"\n' "$work/entry.json" "$base" "$i"; done |
		curl -sS --fail -Z -u "admin:$admin_password" -K - >/dev/null
	succeeds "lftp mirrors a large folder" timeout 60 lftp -u "admin,$admin_password" -e "mirror Documents/admin/large $work/large; bye" "$base/dav/"
	expect "  whole" 1200 "$(find "$work/large" -type f | wc -l)"
fi

# ---- a mounted drive

# on_a_mount NAME MOUNTPOINT: what a person does with files there.
on_a_mount() {
	local name=$1 m=$2
	succeeds "  lists the tree" ls -R "$m/Workflow"
	expect_match "    with its folders" 'Cases.*Routes.*Schedule' "$(tr '\n' ' ' <"$work/out")"
	succeeds "  reads an entry" cmp "$work/entry.json" "$m/Workflow/Schedule/by-curl.json"
	succeeds "  reads an example route" grep -q 'collector' "$m/Workflow/Routes/collector.yaml"
	succeeds "  saves an entry" cp "$work/entry.json" "$m/Workflow/Schedule/by-$name.json"
	eventually "  the server has it" holds "$work/entry.json" "$schedule/by-$name.json"
	succeeds "  deletes it" rm "$m/Workflow/Schedule/by-$name.json"
	eventually "  it is gone" answers 404 GET "$schedule/by-$name.json"
	succeeds "  makes a folder in Documents/" mkdir "$m/Documents/admin/$name"
	succeeds "  copies a file into it" cp "$work/entry.json" "$m/Documents/admin/$name/a file"
	eventually "  the server has it" holds "$work/entry.json" "/dav/Documents/admin/$name/a%20file"
	succeeds "  deletes the folder whole" rm -r "$m/Documents/admin/$name"
	eventually "  it is gone" answers 404 GET "/dav/Documents/admin/$name/"
}

# documented COMMAND: the line of docs/mounting.md that begins so, for this server, with $m.
documented() {
	sed -n "s/.*\`\($1 [^\`]*\)\`.*/\1/p" "$root/docs/mounting.md" | head -n 1 |
		sed -e "s|http://127.0.0.1:8080|$base|g; s|/mnt/flow|$m|g; s|obscure secret|obscure $admin_password|; s|\$PWD|$work|g"
}

if has rclone 'rclone mount' && has fusermount3 'rclone mount' && has_fuse 'rclone mount'; then
	m=$work/rclone
	mkdir -p "$m"
	succeeds "rclone mounts the drive by the line of the manual" bash -c "$(documented 'rclone mount') \
		--cache-dir '$work/rclone-cache' --daemon --daemon-wait 10s --log-file '$work/rclone.log' --log-level INFO"
	on_a_mount rclone "$m"
	fails "  is told of a wrong entry" cp "$work/wrong.json" "$m/Workflow/Schedule/wrong.json"
	succeeds "    of which nothing is stored" answers 404 GET "$schedule/wrong.json"
	eventually "    and finds the reasons" sh -c "grep -q /minutes '$m'/Workflow/Schedule/Rejected/*wrong.json.txt"
	succeeds "  unmounts" fusermount3 -u "$m"
fi

if has mount.davfs davfs2 && has_fuse davfs2; then
	m=$work/davfs
	mkdir -p "$m"
	install -d -o root -g davfs2 -m 775 "$work/davfs-cache"
	chmod 711 "$work"
	# The settings of the manual, and what a script needs beside them.
	(
		umask 077
		printf '%s/dav/ admin %s\n' "$base" "$admin_password" >"$work/secrets"
		{
			printf '%s\n' "secrets $work/secrets" "cache_dir $work/davfs-cache" 'ask_auth 0'
			sed -n '/^`flow.conf` for davfs2/,/^`cp`/s/^    //p' "$root/docs/mounting.md"
		} >"$work/flow.conf"
	)
	expect "the manual has settings for davfs2" 5 "$(grep -c -E '^(dir_refresh|file_refresh|delay_upload|use_locks|buf_size) ' "$work/flow.conf")"
	succeeds "davfs2 mounts the drive by the line of the manual" bash -c "$(documented 'mount -t davfs')"
	on_a_mount davfs2 "$m"
	printf 'one\n' >"$m/Documents/admin/plan.txt"
	eventually "  saves a document" answers 200 GET /dav/Documents/admin/plan.txt
	succeeds "  deletes it" rm "$m/Documents/admin/plan.txt"
	eventually "  finds it in the history" sh -c "ls '$m/Documents/admin/.history/'*plan.txt"
	succeeds "  moves it back" sh -c "mv '$m/Documents/admin/.history/'*plan.txt '$m/Documents/admin/plan.txt'"
	eventually "    as it was" sh -c "grep -qx one '$m/Documents/admin/plan.txt'"
	# It tells the application nothing; what was refused for good lands in
	# lost+found, which is how its user finds out.
	cp "$work/wrong.json" "$m/Workflow/Schedule/wrong.json" || true
	eventually "  keeps a wrong entry in lost+found" sh -c "cmp '$work/wrong.json' '$m'/lost+found/wrong.json*"
	succeeds "    of which nothing is stored" answers 404 GET "$schedule/wrong.json"
	succeeds "  unmounts" umount "$m"
fi

stop
expect "the server stops in good order" 0 "$stopped"
finish
