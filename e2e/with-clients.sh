# shellcheck shell=bash disable=SC2154 # lib.sh has work, base, root, port and admin_password
# The clients that mount or speak to a drive, each with the same verbs: after
# "rclone_ready" there are rclone_put FILE PATH, rclone_get PATH FILE,
# rclone_list PATH, rclone_rename FROM TO, rclone_delete PATH, rclone_rmdir PATH
# and rclone_mkdir PATH, likewise for curl, cadaver, gio, npm, and for "mount",
# which is whatever is mounted at $m. Paths are those below /dav/. A script
# sources this after lib.sh, and after its server has started.
PATH=$PATH:/usr/sbin:/sbin

# url PATH prints a path below /dav/ as a URL has it.
url() {
	local rest=${1//%/%25}
	rest=${rest// /%20}
	printf '%s' "$rest"
}

# ---- curl

curl_ready() { has curl curl; }
curl_does() { curl -sS --fail-with-body --max-time 30 -u "admin:$admin_password" "$@"; }
curl_put() { curl_does -T "$1" "$base/dav/$(url "$2")"; }
curl_get() { curl_does -o "$2" "$base/dav/$(url "$1")"; }
curl_list() { curl_does -X PROPFIND -H 'Depth: 1' "$base/dav/$(url "$1")/" | grep -o '<D:href>[^<]*' | sed 's/%20/ /g; s/.*\/\([^/]\)/\1/'; }
curl_rename() { curl_does -X MOVE -H "Destination: $base/dav/$(url "$2")" "$base/dav/$(url "$1")"; }
curl_delete() { curl_does -X DELETE "$base/dav/$(url "$1")"; }
curl_rmdir() { curl_delete "$1/"; }
curl_mkdir() { curl_does -X MKCOL "$base/dav/$(url "$1")/"; }

# ---- cadaver

cadaver_ready() {
	has cadaver cadaver || return
	mkdir -p "$work/home"
	(umask 077 && printf 'machine 127.0.0.1\nlogin admin\npassword %s\n' "$admin_password" >"$work/home/.netrc")
}

# cadaver_does COMMAND… runs its commands. It always exits with 0; what failed
# says so.
cadaver_does() {
	printf '%s\n' "$@" quit | HOME=$work/home cadaver "$base/dav/" 2>&1 | tr '\r' '\n' | tee "$work/cadaver"
	! grep -qi 'failed\|could not' "$work/cadaver"
}
cadaver_put() { cadaver_does "put \"$1\" \"$2\""; }
cadaver_get() { cadaver_does "get \"$1\" \"$2\""; }
cadaver_list() { cadaver_does "ls \"$1\"" | sed -n 's/^ *\(Coll:\)\? *\(.*[^ ]\)  *[0-9][0-9]*  .*/\2/p'; }
cadaver_rename() { cadaver_does "move \"$1\" \"$2\""; }
cadaver_delete() { cadaver_does "delete \"$1\""; }
cadaver_rmdir() { cadaver_does "rmcol \"$1\""; }
cadaver_mkdir() { cadaver_does "mkcol \"$1\""; }

# ---- rclone

rclone_ready() {
	has rclone rclone || return
	export RCLONE_CONFIG=/dev/null RCLONE_CONFIG_W_TYPE=webdav RCLONE_CONFIG_W_VENDOR=other \
		RCLONE_CONFIG_W_URL=$base/dav/ RCLONE_CONFIG_W_USER=admin
	RCLONE_CONFIG_W_PASS=$(rclone obscure "$admin_password")
	export RCLONE_CONFIG_W_PASS
}
rclone_put() { rclone copyto "$1" "w:$2" --retries 1 --ignore-times; }
rclone_get() { rclone copyto "w:$1" "$2" --retries 1; }
rclone_list() { rclone lsf "w:$1"; }
rclone_rename() { rclone moveto "w:$1" "w:$2" --retries 1; }
rclone_delete() { rclone deletefile "w:$1" --retries 1; }
rclone_rmdir() { rclone purge "w:$1" --retries 1; }
rclone_mkdir() { rclone mkdir "w:$1"; }

# rclone_mounts MODE mounts the drive at $m.
rclone_mounts() {
	has fusermount3 "rclone mount, cache mode $1" || return
	has_fuse "rclone mount, cache mode $1" || return
	m=$work/rclone-$1
	mkdir -p "$m"
	succeeds "rclone mounts the drive, cache mode $1" rclone mount w: "$m" --vfs-cache-mode "$1" --vfs-write-back 0s \
		--dir-cache-time 1s --attr-timeout 0s --cache-dir "$work/cache-$1" --daemon --daemon-wait 10s --log-file "$work/rclone-$1.log" --log-level INFO
}

# ---- gio, in a session of its own

gio_ready() {
	has gio gio || return
	has dbus-run-session gio || return
	if [[ ! -f /usr/libexec/gvfsd-dav ]]; then
		skip gio "gvfs has no backend for dav:// here (make deps installs it)"
		return 1
	fi
	export XDG_RUNTIME_DIR=$work/xdg GIO_HOME=$work/gio-home GIO_USE_VOLUME_MONITOR=unix
	mkdir -m 700 "$XDG_RUNTIME_DIR" "$GIO_HOME"
	# The session ends with the script, however that ends.
	HOME=$GIO_HOME dbus-run-session -- sh -c \
		"echo \$\$ >'$work/session' && echo \"\$DBUS_SESSION_BUS_ADDRESS\" >'$work/bus.new' && mv '$work/bus.new' '$work/bus' && exec tail --pid=$$ -f /dev/null" >"$work/dbus.log" 2>&1 </dev/null &
	for _ in {1..100}; do
		[[ -s $work/bus ]] && break
		sleep 0.1
	done
	if [[ ! -s $work/bus ]]; then
		skip gio "there is no session of dbus: $(tail -n 1 "$work/dbus.log")"
		return 1
	fi
	DBUS_SESSION_BUS_ADDRESS=$(cat "$work/bus")
	export DBUS_SESSION_BUS_ADDRESS
	gio_remote=dav://admin@127.0.0.1:$port/dav
	if ! printf '%s\n' "$admin_password" | HOME=$GIO_HOME timeout 60 gio mount "$gio_remote/" >"$work/out" 2>&1; then
		not_ok "gio mounts the drive" "$(cat "$work/out")"
		return 1
	fi
	ok "gio mounts the drive"
}

# in_session prints the processes that belong to the session: those that were
# started with its folder.
in_session() {
	(
		unset XDG_RUNTIME_DIR # grep would find itself
		grep -lzx "XDG_RUNTIME_DIR=$work/xdg" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3
	)
}

# end_session ends the session and waits for what it started: gvfsd serves the
# drive, gvfsd-fuse has it mounted at $XDG_RUNTIME_DIR/gvfs. Both would get in
# the way of the removal of that folder.
end_session() {
	[[ -s $work/session ]] || return 0
	HOME=$GIO_HOME timeout 5 gio mount -u "${gio_remote-}/" >/dev/null 2>&1 </dev/null || true
	unmount_all
	kill "$(cat "$work/session")" 2>/dev/null || true
	for _ in {1..100}; do
		[[ -z $(in_session) ]] && return
		sleep 0.1
	done
	# shellcheck disable=SC2046 # ids, one a word
	kill -KILL $(in_session) 2>/dev/null || true
}

gio_does() { HOME=$GIO_HOME timeout 60 gio "$@" </dev/null; }
gio_put() { gio_does copy "$1" "$gio_remote/$(url "$2")"; }
gio_get() { gio_does cat "$gio_remote/$(url "$1")" >"$2"; }
gio_list() { gio_does list "$gio_remote/$(url "$1")"; }
gio_rename() { gio_does move "$gio_remote/$(url "$1")" "$gio_remote/$(url "$2")"; }
gio_delete() { gio_does remove "$gio_remote/$(url "$1")"; }
gio_rmdir() { # as a desktop does: what is in it, then it
	local name
	gio_list "$1" | while read -r name; do gio_delete "$1/$name"; done
	gio_delete "$1"
}
gio_mkdir() { gio_does mkdir "$gio_remote/$(url "$1")"; }
gio_edit() { HOME=$GIO_HOME timeout 60 gio save "$gio_remote/$(url "$2")" <"$1"; }

# ---- npm webdav

npm_ready() {
	has node 'npm webdav' || return
	has npm 'npm webdav' || return
	cp -r "$root/e2e/npm" "$work/npm"
	if ! timeout 120 npm ci --prefix "$work/npm" --no-audit --no-fund --loglevel=error >"$work/out" 2>&1 </dev/null; then
		skip 'npm webdav' "npm ci: $(tail -n 1 "$work/out")"
		return 1
	fi
}
npm_does() { DAV_URL=$base/dav DAV_USER=admin DAV_PASSWORD=$admin_password timeout 60 node "$work/npm/client.mjs" "$@"; }
npm_put() { npm_does put "$1" "/$2"; }
npm_get() { npm_does get "/$1" "$2"; }
npm_list() { npm_does list "/$1"; }
npm_rename() { npm_does rename "/$1" "/$2"; }
npm_delete() { npm_does delete "/$1"; }
npm_rmdir() { npm_does delete "/$1"; }
npm_mkdir() { npm_does mkdir "/$1"; }
npm_edit() { npm_does edit "$1" "/$2"; }

# ---- what is mounted at $m

mount_put() { cp "$1" "$m/$2"; }
mount_get() { cp "$m/$1" "$2"; }
mount_list() { ls "$m/$1"; }
mount_rename() { mv "$m/$1" "$m/$2"; }
mount_delete() { rm "$m/$1"; }
mount_rmdir() { rm -r "${m:?}/$1"; }
mount_mkdir() { mkdir "$m/$1"; }

# davfs_mounts NAME USE_LOCKS DELAY mounts the drive at $m by davfs2.
davfs_mounts() {
	has mount.davfs "davfs2 $1" || return
	has_fuse "davfs2 $1" || return
	m=$work/davfs-$1
	mkdir -p "$m"
	install -d -o root -g davfs2 -m 775 "$work/davfs-cache-$1"
	chmod 711 "$work"
	# The readdir of newer kernels wants more than the default buf_size.
	(
		umask 077
		printf '%s/dav/ admin %s\n' "$base" "$admin_password" >"$work/secrets"
		printf '%s\n' "secrets $work/secrets" "cache_dir $work/davfs-cache-$1" 'ask_auth 0' "use_locks $2" "delay_upload $3" \
			'if_match_bug 0' 'buf_size 1024' 'dir_refresh 1' 'file_refresh 1' 'gui_optimize 0' >"$work/davfs2-$1.conf"
	)
	succeeds "davfs2 mounts the drive, use_locks $2, delay_upload $3" \
		mount -t davfs -o "conf=$work/davfs2-$1.conf,uid=0,gid=0,file_mode=644,dir_mode=755" "$base/dav/" "$m"
}

# ---- what the server has

# locked PATH: does a lock lie on it?
locked() {
	request PROPFIND "$1" -H 'Depth: 0' --data '<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>'
	grep -q activelock "$work/body"
}
unlocked() { ! locked "$1"; }
