# shellcheck shell=bash disable=SC2154 # lib.sh has work, binary, port and admin_password
# With FLOWDRIVE_NODES=3, "start" of lib.sh starts a PostgreSQL, three nodes on it, and before
# them an HAProxy that picks one of them at random for each request: a script then tests these.
# HAProxy is unpacked and not installed: installed it would run as a service.

cluster=  # the folder of PostgreSQL, which another user must reach
node_pids=()
haproxy_pid=

# database_start makes a PostgreSQL server and starts it.
database_start() {
	local programs
	programs=$(dirname "$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | tail -n 1)")
	cluster=$(mktemp -d)
	chown postgres "$cluster"
	setpriv --reuid postgres --regid postgres --clear-groups "$programs/initdb" -D "$cluster/data" -U flowdrive -A trust -E UTF8 --locale=C >"$work/initdb.log"
	setpriv --reuid postgres --regid postgres --clear-groups "$programs/postgres" -D "$cluster/data" -k "$cluster" -c listen_addresses= >"$work/postgres.log" 2>&1 </dev/null &
	database_pid=$!
	until psql -qXh "$cluster" -U flowdrive -d postgres -c 'CREATE DATABASE flow' >"$work/out" 2>&1; do
		kill -0 "$database_pid" 2>/dev/null || die "PostgreSQL starts" "$(tail -n 3 "$work/postgres.log")"
		sleep 0.1
	done
}

# balancer_fetch unpacks HAProxy below $work.
balancer_fetch() {
	mkdir -p "$work/haproxy"
	(cd "$work/haproxy" && apt-get download -q haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 && for d in ./*.deb; do dpkg -x "$d" .; done) >"$work/out" 2>&1
}

# balancer_start PORT… starts HAProxy on $port before nodes on these ports, with the lines of
# docs/operate/cluster.md.
balancer_start() {
	local p
	{
		printf 'defaults\n\tmode http\n\ttimeout connect 5s\n\ttimeout client 1m\n\ttimeout server 1m\n\toption forwardfor\n'
		printf 'frontend all\n\tbind 127.0.0.1:%s\n\tdefault_backend flowdrive\n' "$port"
		printf 'backend flowdrive\n\tbalance random(1)\n\toption httpchk GET /readyz\n\tdefault-server check inter 1s fall 2 rise 1\n'
		for p in "$@"; do printf '\tserver n%s 127.0.0.1:%s\n' "$p" "$p"; done
	} >"$work/haproxy.cfg"
	LD_LIBRARY_PATH=$(printf '%s:' "$work"/haproxy/usr/lib/*-linux-gnu) \
		"$work/haproxy/usr/sbin/haproxy" -db -f "$work/haproxy.cfg" >>"$work/haproxy.log" 2>&1 </dev/null &
	haproxy_pid=$!
}

# nodes_start FLAG… starts all.
nodes_start() {
	local i ports=()
	if [[ -z $cluster ]]; then
		if ((EUID != 0)) || ! balancer_fetch; then
			skip nodes "PostgreSQL runs as another user, which needs root, and apt-get must reach HAProxy: $(tail -n 1 "$work/out")"
			finish
		fi
		database_start
	fi
	for ((i = 1; i <= FLOWDRIVE_NODES; i++)); do
		ports+=("$(free_port)")
		FLOWDRIVE_ADMIN_PASSWORD=$admin_password "$binary" serve --db "postgres://flowdrive@/flow?host=$cluster" --node "n$i" \
			--addr "127.0.0.1:${ports[-1]}" --trusted-proxy 127.0.0.1/32 "$@" >>"$work/server.log" 2>&1 </dev/null &
		node_pids+=("$!")
	done
	balancer_start "${ports[@]}"
	for i in "${!ports[@]}"; do
		eventually "node $((i + 1)) of $FLOWDRIVE_NODES is ready" curl -sf -o /dev/null --max-time 5 "http://127.0.0.1:${ports[i]}/readyz"
	done
	eventually "the balancer answers" curl -sf -o /dev/null --max-time 5 "$base/readyz"
}

# nodes_stop asks the nodes to end, waits, and sets $stopped to the worst of their exit codes.
nodes_stop() {
	local pid code
	stopped=0
	kill -TERM "${node_pids[@]}"
	for pid in "${node_pids[@]}"; do
		code=0
		wait "$pid" || code=$?
		((code <= stopped)) || stopped=$code
	done
	node_pids=()
	kill -TERM "$haproxy_pid"
	wait "$haproxy_pid" || true
	haproxy_pid=
}

# nodes_end ends what still runs.
nodes_end() {
	local pid
	for pid in "${node_pids[@]}" $haproxy_pid ${database_pid:-}; do
		kill -QUIT "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	if [[ -n $cluster ]]; then
		rm -rf --one-file-system "$cluster"
	fi
}
