# shellcheck shell=bash disable=SC2154 # lib.sh has work, base, root, port and admin_password
# The clients that mount or speak to a drive, each with the same verbs: after
# "rclone_ready" there are rclone_put FILE PATH, rclone_get PATH FILE,
# rclone_list PATH, rclone_rename FROM TO, rclone_delete PATH, rclone_rmdir PATH
# and rclone_mkdir PATH, likewise for curl, cadaver, gio, kio, lftp, wget, perl, python, npm, and for "mount",
# which is whatever is mounted at $m. Paths are those below /dav/. A script
# sources this after lib.sh, and after its server has started.
PATH=$PATH:/usr/sbin:/sbin

# url PATH prints a path below /dav/ as a URL has it.
url() {
	jq -rn --arg path "$1" '$path | split("/") | map(@uri) | join("/")' | tr -d '\n'
}

# unescaped prints lines of percent-encoded names as they are.
unescaped() {
	local line
	while IFS= read -r line; do printf '%b\n' "${line//%/\\x}"; done
}

# ---- curl

curl_ready() { has curl curl; }
curl_does() { curl -sS --fail-with-body --max-time 30 -u "admin:$admin_password" "$@"; }
curl_put() { curl_does -T "$1" "$base/dav/$(url "$2")"; }
curl_get() { curl_does -o "$2" "$base/dav/$(url "$1")"; }
curl_list() { curl_does -X PROPFIND -H 'Depth: 1' "$base/dav/$(url "$1")/" | grep -o '<D:href>[^<]*' | sed 's/.*\/\([^/]\)/\1/; s/&amp;/\&/g' | unescaped; }
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

# ---- a session of a desktop, for gio and KIO

# session_ready WHAT starts it if there is none.
session_ready() {
	[[ -z ${DBUS_SESSION_BUS_ADDRESS-} ]] || return 0
	has dbus-run-session "$1" || return
	export XDG_RUNTIME_DIR=$work/xdg GIO_HOME=$work/gio-home GIO_USE_VOLUME_MONITOR=unix
	mkdir -p -m 700 "$XDG_RUNTIME_DIR" "$GIO_HOME" "$XDG_RUNTIME_DIR/dbus-1/services"
	# There is no person who types a password or agrees to a cookie: without these
	# services KIO asks for neither.
	local service
	for service in kcookiejar5 kpasswdserver kwalletd5 kded5 kiod5; do
		printf '[D-BUS Service]\nName=org.kde.%s\nExec=/bin/false\n' "$service" >"$XDG_RUNTIME_DIR/dbus-1/services/org.kde.$service.service"
	done
	# The session ends with the script, however that ends.
	HOME=$GIO_HOME dbus-run-session -- sh -c \
		"echo \$\$ >'$work/session' && echo \"\$DBUS_SESSION_BUS_ADDRESS\" >'$work/bus.new' && mv '$work/bus.new' '$work/bus' && exec tail --pid=$$ -f /dev/null" >"$work/dbus.log" 2>&1 </dev/null &
	for _ in {1..100}; do
		[[ -s $work/bus ]] && break
		sleep 0.1
	done
	if [[ ! -s $work/bus ]]; then
		skip "$1" "there is no session of dbus: $(tail -n 1 "$work/dbus.log")"
		return 1
	fi
	DBUS_SESSION_BUS_ADDRESS=$(cat "$work/bus")
	export DBUS_SESSION_BUS_ADDRESS
}

# ---- gio

gio_ready() {
	[[ -z ${gio_remote-} ]] || return 0
	has gio gio || return
	if [[ ! -f /usr/libexec/gvfsd-dav ]]; then
		skip gio "gvfs has no backend for dav:// here (make deps installs it)"
		return 1
	fi
	session_ready gio || return
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
	if [[ -n ${kio_login-} ]]; then
		kill "$kio_login" 2>/dev/null || true
	fi
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

gio_does() { HOME=$GIO_HOME timeout 300 gio "$@" </dev/null; }
gio_put() { gio_does copy "$1" "$gio_remote/$(url "$2")"; }
gio_get() { gio_does cat "$gio_remote/$(url "$1")" >"$2"; }
gio_list() { gio_does list "$gio_remote/$(url "$1")"; }
gio_rename() { gio_does move "$gio_remote/$(url "$1")" "$gio_remote/$(url "$2")"; }
gio_delete() { gio_does remove "$gio_remote/$(url "$1")"; }
gio_rmdir() { # as a desktop does: what is in it, then it
	local inside
	mapfile -t inside < <(gio_list "$1" | jq -Rr --arg at "$gio_remote/$(url "$1")/" '$at + @uri')
	gio_does remove "${inside[@]}" "$gio_remote/$(url "$1")"
}
gio_mkdir() { gio_does mkdir "$gio_remote/$(url "$1")"; }
gio_edit() { HOME=$GIO_HOME timeout 300 gio save "$gio_remote/$(url "$2")" <"$1"; }

# ---- KIO, as Dolphin uses it

# kio_ready puts a program in front that logs in: KIO would ask a person.
kio_ready() {
	[[ -z ${kio_remote-} ]] || return 0
	has kioclient5 KIO || return
	has python3 KIO || return
	session_ready KIO || return
	# Dolphin has a display, kioclient5 needs none.
	kio_port=$(free_port)
	DAV_PORT=$port DAV_USER=admin DAV_PASSWORD=$admin_password python3 "$root/e2e/login.py" "$kio_port" >"$work/login.log" 2>&1 </dev/null &
	kio_login=$!
	for _ in {1..100}; do
		if (exec 3<>"/dev/tcp/127.0.0.1/$kio_port") 2>/dev/null; then
			kio_remote=webdav://127.0.0.1:$kio_port/dav
			return
		fi
		sleep 0.1
	done
	skip KIO "no program logs in for it: $(tail -n 1 "$work/login.log")"
	return 1
}
kio_does() { QT_QPA_PLATFORM=offscreen HOME=$GIO_HOME timeout 300 kioclient5 --noninteractive "$@" </dev/null 2>&1; }
kio_put() { kio_does --overwrite copy "file://$(url "$1")" "$kio_remote/$(url "$2")"; }
kio_get() { kio_does --overwrite copy "$kio_remote/$(url "$1")" "file://$(url "$2")"; }
kio_list() { kio_does ls "$kio_remote/$(url "$1")"; }
kio_rename() { kio_does move "$kio_remote/$(url "$1")" "$kio_remote/$(url "$2")"; }
kio_delete() { kio_does remove "$kio_remote/$(url "$1")"; }
kio_rmdir() { kio_delete "$1"; }
kio_mkdir() { # kioclient5 has no verb for it: a folder is copied
	mkdir -p "$work/kio-folder"
	kio_does copy "file://$work/kio-folder" "$kio_remote/$(url "$1")"
}

# kio_mounts mounts the drive at $m, as KDE does for programs that do not know KIO.
kio_mounts() {
	if [[ ! -f /usr/share/dbus-1/services/org.kde.KIOFuse.service ]]; then
		skip kio-fuse "there is no kio-fuse here (make deps installs it)"
		return 1
	fi
	has gdbus kio-fuse || return
	has_fuse kio-fuse || return
	m=$(HOME=$GIO_HOME timeout 30 gdbus call --session --dest org.kde.KIOFuse --object-path /org/kde/KIOFuse \
		--method org.kde.KIOFuse.VFS.mountUrl "$kio_remote/" 2>"$work/out" | sed "s/^('//; s/',)$//") || true
	succeeds "kio-fuse mounts the drive" test -d "${m:-/nowhere}/Workflow"
}

# ---- lftp

lftp_ready() {
	has lftp lftp || return
	mkdir -p "$work/lftp"
}
lftp_does() {
	HOME=$work/lftp timeout 300 lftp -u "admin,$admin_password" -e "set net:max-retries 1; set cmd:fail-exit yes; $*; bye" "$base/dav/" </dev/null
}
lftp_put() { lftp_does "put \"$1\" -o \"$2\""; }
lftp_get() { lftp_does "set xfer:clobber yes; get \"$1\" -o \"$2\""; }
lftp_list() { lftp_does "cls -1 \"$1/\"" | sed 's|/$||; s|.*/||'; }
lftp_rename() { lftp_does "mv \"$1\" \"$2\""; }
lftp_delete() { lftp_does "rm \"$1\""; }
lftp_rmdir() { lftp_does "rm -r \"$1/\""; }
lftp_mkdir() { lftp_does "mkdir \"$1\""; }

# ---- wget, which has the methods by option

wget_ready() {
	has wget wget || return
	(umask 077 && printf 'user = admin\npassword = %s\n' "$admin_password" >"$work/wgetrc")
}
wget_does() { WGETRC=$work/wgetrc timeout 300 wget -nv --tries 1 --content-on-error "$@"; }
wget_put() { wget_does --method PUT --body-file "$1" -O - "$base/dav/$(url "$2")"; }
wget_get() { wget_does -O "$2" "$base/dav/$(url "$1")"; }
wget_list() { wget_does -O - "$base/dav/$(url "$1")/.ls" | jq -r '.[].name'; }
wget_rename() { wget_does --method MOVE --header "Destination: $base/dav/$(url "$2")" -O - "$base/dav/$(url "$1")"; }
wget_delete() { wget_does --method DELETE -O - "$base/dav/$(url "$1")"; }
wget_rmdir() { wget_delete "$1/"; }
wget_mkdir() { wget_does --method MKCOL -O - "$base/dav/$(url "$1")/"; }

# ---- HTTP::DAV of Perl

perl_ready() {
	if ! perl -MHTTP::DAV -e 1 2>/dev/null; then
		skip 'HTTP::DAV of Perl' "Perl has no HTTP::DAV here (make deps installs it)"
		return 1
	fi
}
perl_does() {
	DAV_URL=$base/dav DAV_USER=admin DAV_PASSWORD=$admin_password timeout 300 perl "$root/e2e/client.pl" "$@"
}
perl_put() { perl_does put "$1" "/$(url "$2")"; }
perl_get() { perl_does get "/$(url "$1")" "$2"; }
perl_list() { perl_does list "/$(url "$1")/"; }
perl_rename() { perl_does rename "/$(url "$1")" "/$(url "$2")"; }
perl_delete() { perl_does delete "/$(url "$1")"; }
perl_rmdir() { perl_does delete "/$(url "$1")/"; }
perl_mkdir() { perl_does mkdir "/$(url "$1")/"; }
perl_edit() { perl_does edit "$1" "/$(url "$2")"; }

# ---- easywebdav of Python

python_ready() {
	if ! /usr/bin/python3 -c 'import easywebdav' 2>/dev/null; then
		skip 'easywebdav of Python' "Python has no easywebdav here (make deps installs it)"
		return 1
	fi
}
python_does() {
	DAV_PORT=$port DAV_USER=admin DAV_PASSWORD=$admin_password timeout 300 /usr/bin/python3 "$root/e2e/client.py" "$@"
}
python_put() { python_does put "$1" "/$(url "$2")"; }
python_get() { python_does get "/$(url "$1")" "$2"; }
python_list() { python_does list "/$(url "$1")/"; }
python_rename() { python_does rename "/$(url "$1")" "/$(url "$2")"; }
python_delete() { python_does delete "/$(url "$1")"; }
python_rmdir() { python_does delete "/$(url "$1")/"; }
python_mkdir() { python_does mkdir "/$(url "$1")/"; }

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
npm_does() { DAV_URL=$base/dav DAV_USER=admin DAV_PASSWORD=$admin_password timeout 300 node "$work/npm/client.mjs" "$@"; }
npm_put() { npm_does put "$1" "/$2"; }
npm_get() { npm_does get "/$1" "$2"; }
npm_list() { npm_does list "/$1"; }
npm_rename() { npm_does rename "/$1" "/$2"; }
npm_delete() { npm_does delete "/$1"; }
npm_rmdir() { npm_does delete "/$1"; }
npm_mkdir() { npm_does mkdir "/$1"; }
npm_edit() { npm_does edit "$1" "/$2"; }

# ---- what is mounted at $m

mount_put() { cp --sparse=never "$1" "$m/$2"; }
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
