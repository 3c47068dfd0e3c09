#!/usr/bin/env bash
# The drive behind proxies of Debian, with the configurations of contrib/proxies: litmus,
# rclone and davfs2 through each. The proxies are unpacked and not installed: installed
# they would run as services.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin

proxy_pid=
end_session() {
	if [[ -n $proxy_pid ]]; then
		kill -TERM "$proxy_pid" 2>/dev/null || true
		wait "$proxy_pid" 2>/dev/null || true
	fi
}

programs=$work/programs
mkdir -p "$programs"
if ! (cd "$programs" && apt-get download -q nginx caddy apache2-bin libapr1 libaprutil1 && for d in ./*.deb; do dpkg -x "$d" .; done) >"$work/out" 2>&1; then
	skip proxies "apt-get cannot download them: $(tail -n 1 "$work/out")"
	finish
fi
export LD_LIBRARY_PATH=$programs/usr/lib/x86_64-linux-gnu:$programs/usr/lib/aarch64-linux-gnu
chmod 755 "$work"

start --trusted-proxy 127.0.0.1/32
direct=$base
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
	-keyout "$work/flow.key" -out "$work/flow.pem" 2>"$work/out" || die "a certificate is made"

# fitted FILE prints a configuration with the addresses and files of this test.
fitted() {
	sed -e "s|127.0.0.1:8080|127.0.0.1:$port|; s|/etc/ssl/flow|$work/flow|; s|flow.example.org|127.0.0.1|" \
		-e "s|listen 443 ssl;|listen 127.0.0.1:$secure ssl;|; s|<VirtualHost \*:443>|<VirtualHost 127.0.0.1:$secure>|" "$1"
}

run_nginx() {
	{
		printf 'daemon off; worker_processes 1; pid %s/nginx.pid; error_log %s/proxy.log; user root;\nevents {}\nhttp {\naccess_log off;\n' "$work" "$work"
		for kind in client_body proxy fastcgi uwsgi scgi; do printf '%s_temp_path %s/nginx-%s;\n' "$kind" "$work" "$kind"; done
		# With plain HTTP as well, for litmus.
		fitted "$root/contrib/proxies/nginx.conf" | sed "s|^\tlisten .*|&\n\tlisten 127.0.0.1:$plain;|"
		echo '}'
	} >"$work/nginx.conf"
	exec "$programs/usr/sbin/nginx" -c "$work/nginx.conf" -p "$work"
}

run_apache() {
	{
		for module in mpm_event authz_core ssl socache_shmcb proxy proxy_http; do
			if [[ -e $programs/usr/lib/apache2/modules/mod_$module.so ]]; then
				printf 'LoadModule %s_module %s/usr/lib/apache2/modules/mod_%s.so\n' "$module" "$programs" "$module"
			fi
		done
		printf 'ServerRoot %s\nServerName 127.0.0.1\nPidFile %s/apache.pid\nDefaultRuntimeDir %s\nErrorLog %s/proxy.log\nListen 127.0.0.1:%s\nListen 127.0.0.1:%s\n' \
			"$work" "$work" "$work" "$work" "$secure" "$plain"
		fitted "$root/contrib/proxies/apache.conf"
		# With plain HTTP as well, for litmus.
		fitted "$root/contrib/proxies/apache.conf" | sed "/^\tSSL/d; s|^<VirtualHost .*|<VirtualHost 127.0.0.1:$plain>|"
	} >"$work/apache.conf"
	exec "$programs/usr/sbin/apache2" -f "$work/apache.conf" -DFOREGROUND
}

run_caddy() {
	{
		printf '{\n\tadmin off\n\tauto_https off\n\tstorage file_system %s/caddy\n}\n' "$work"
		fitted "$root/contrib/proxies/Caddyfile" | sed "s|^127.0.0.1 {|https://127.0.0.1:$secure {\n\tbind 127.0.0.1\n\ttls $work/flow.pem $work/flow.key|"
		# With plain HTTP as well, for litmus.
		fitted "$root/contrib/proxies/Caddyfile" | sed "s|^127.0.0.1 {|http://127.0.0.1:$plain {\n\tbind 127.0.0.1|"
	} >"$work/Caddyfile"
	HOME=$work exec "$programs/usr/bin/caddy" run --config "$work/Caddyfile" --adapter caddyfile
}

declare -A tests=([basic]=16 [copymove]=13 [props]=30 [locks]=41 [http]=4)
through() {
	local name=$1
	secure=$(free_port)
	plain=$(free_port)
	"run_$name" >"$work/proxy.out" 2>&1 </dev/null &
	proxy_pid=$!
	eventually "$name runs with its configuration" curl -sf -o /dev/null --max-time 2 "http://127.0.0.1:$plain/healthz"

	base=https://127.0.0.1:$secure
	head -c 3000000 /dev/urandom >"$work/large"
	request PUT "/dav/Documents/admin/50%25%2F.bin" --cacert "$work/flow.pem" -T "$work/large"
	slash=$status
	request PUT "/dav/Documents/admin/$name.bin" --cacert "$work/flow.pem" -T "$work/large"
	expect "  by TLS: a large document comes" 201 "$status"
	request MOVE "/dav/Documents/admin/$name.bin" --cacert "$work/flow.pem" -H "Destination: $base/dav/Documents/admin/$name%20moved%23.bin"
	expect "    is moved to a name that has to be escaped" 201 "$status"
	request GET "/dav/Documents/admin/$name%20moved%23.bin" --cacert "$work/flow.pem"
	succeeds "    and is the same there" cmp "$work/large" "$work/body"
	base=$direct
	request PUT "/dav/Documents/admin/50%25%2F.bin" -T "$work/large"
	expect "    a slash in a name is answered as without the proxy" "$status" "$slash"
	expect_match "  the server knows who calls" '"remote":"127.0.0.1"' "$(grep "$name.bin" "$work/server.log" | tail -n 1)"
	base=http://127.0.0.1:$plain

	if has litmus "litmus through $name"; then
		mkdir -p "$work/litmus"
		for suite in basic copymove props locks http; do
			out=$(cd "$work/litmus" && TESTS=$suite litmus -k "$base/dav/Documents/admin/" admin "$admin_password" </dev/null 2>&1 | tr '\r' '\n') || true
			expect "  litmus, $suite" "of ${tests[$suite]} tests run: ${tests[$suite]} passed, 0 failed. 100.0%" "$(sed -n "s/^<- summary for .$suite': //p" <<<"$out")"
		done
	fi
	if has rclone "rclone through $name"; then
		export RCLONE_CONFIG_P_TYPE=webdav RCLONE_CONFIG_P_VENDOR=other RCLONE_CONFIG_P_URL=$base/dav/ RCLONE_CONFIG_P_USER=admin RCLONE_CONFIG=$work/none
		RCLONE_CONFIG_P_PASS=$(rclone obscure "$admin_password")
		export RCLONE_CONFIG_P_PASS
		mkdir -p "$work/tree/in"
		printf 'one' >"$work/tree/a b.txt"
		printf 'two' >"$work/tree/in/ü.txt"
		succeeds "  rclone brings a tree" rclone sync "$work/tree" "p:Documents/admin/$name" --retries 1
		succeeds "    which is there as it was" rclone check "$work/tree" "p:Documents/admin/$name" --download --retries 1
		succeeds "    and moves it" rclone moveto "p:Documents/admin/$name" "p:Documents/admin/$name-moved" --retries 1
	fi
	if has mount.davfs "davfs2 through $name" && has_fuse "davfs2 through $name"; then
		m=$work/mount-$name
		mkdir -p "$m"
		install -d -o root -g davfs2 -m 775 "$work/davfs-$name"
		(
			umask 077
			printf '%s/dav/ admin %s\n' "$base" "$admin_password" >"$work/secrets"
			printf '%s\n' "secrets $work/secrets" "cache_dir $work/davfs-$name" 'ask_auth 0' 'delay_upload 0' 'buf_size 1024' 'gui_optimize 0' >"$work/davfs2.conf"
		)
		succeeds "  davfs2 mounts the drive" mount -t davfs -o "conf=$work/davfs2.conf,uid=0,gid=0,file_mode=644,dir_mode=755" "$base/dav/" "$m"
		printf 'by davfs2' >"$m/Documents/admin/by-$name.txt"
		eventually "    saves a document" answers 200 GET "/dav/Documents/admin/by-$name.txt"
		succeeds "    renames it" mv "$m/Documents/admin/by-$name.txt" "$m/Documents/admin/by $name.txt"
		eventually "    which is there" answers 200 GET "/dav/Documents/admin/by%20$name.txt"
		succeeds "    unmounts" umount "$m"
	fi
	kill -TERM "$proxy_pid"
	wait "$proxy_pid" || true
	proxy_pid=
	base=$direct
}

through nginx
through apache
through caddy
finish
