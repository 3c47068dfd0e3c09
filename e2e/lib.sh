# shellcheck shell=bash
# What the scripts of this folder share: a server of their own on 127.0.0.1
# with a temporary data folder, requests with curl, and steps that are printed
# a line each ("ok 3 - …"). A script sources this file and ends with "finish".
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(cd "$(mktemp -d)" && pwd -P)
data=$work/data
script=$(basename "$0")

binary=${FLOWDRIVE_BIN:-${E2E_PROGRAM:-$work/flowdrive}} # built at the first start if neither is given

# No blanks: .netrc files cannot quote them.
admin_password='an-administrator-for-a-moment'
declare -A passwords=([admin]=$admin_password)
user='admin' # who makes the requests; "as eve request …" changes it for one

server_pid=
port=
base=
steps=0
failures=0
skips=0

# shellcheck source=e2e/cluster.sh
. "$root/e2e/cluster.sh"

# ---- steps

ok() {
	steps=$((steps + 1))
	printf 'ok %d - %s\n' "$steps" "$1"
}

not_ok() {
	steps=$((steps + 1))
	failures=$((failures + 1))
	printf 'not ok %d - %s\n' "$steps" "$1"
	shift
	if (($#)); then
		printf '  # %s\n' "$@"
	fi
}

# expect WHAT WANT GOT
expect() {
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "want: $2" "got:  $3" "the last answer was ${status:-none}: $(head -c 600 "$work/body" 2>/dev/null | tr '\n' ' ')"
	fi
}

# expect_match WHAT REGEX GOT
expect_match() {
	if [[ $3 =~ $2 ]]; then
		ok "$1"
	else
		expect "$1" "something like $2" "$3"
	fi
}

# succeeds WHAT COMMAND… and fails WHAT COMMAND… keep what the command printed
# in $work/out and show it if it was not expected.
succeeds() {
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1 </dev/null; then ok "$what"; else not_ok "$what" "$*" "$(tail -n 5 "$work/out")"; fi
}

fails() {
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1 </dev/null; then not_ok "$what" "$*" "$(tail -n 5 "$work/out")"; else ok "$what"; fi
}

# eventually WHAT COMMAND… waits up to thirty seconds for the command to
# succeed: mounts send what is written when it suits them.
eventually() {
	local what=$1
	shift
	for _ in {1..300}; do
		if "$@" >"$work/out" 2>&1 </dev/null; then
			ok "$what"
			return
		fi
		sleep 0.1
	done
	not_ok "$what" "$*" "$(tail -n 5 "$work/out")"
}

# skip WHAT WHY
skip() {
	skips=$((skips + 1))
	printf 'SKIPPED %s: %s\n' "$1" "$2"
	printf 'e2e/%s %s: %s\n' "$script" "$1" "$2" >>"${E2E_SKIPS:-/dev/null}"
}

# die WHY: for what the rest cannot do without
die() {
	not_ok "$@"
	finish
}

finish() {
	printf '%s: %d passed, %d failed, %d skipped\n' "$script" "$((steps - failures))" "$failures" "$skips"
	exit $((failures > 0))
}

# ---- the server

clean_up() {
	local code=$?
	if declare -F end_session >/dev/null; then
		end_session
	fi
	unmount_all
	nodes_end
	if [[ -n $server_pid ]]; then
		kill -KILL "$server_pid" 2>/dev/null || true
		wait "$server_pid" 2>/dev/null || true
	fi
	if ((code != 0)) && [[ -s $work/server.log ]]; then
		echo "# the end of the server's log:"
		tail -n 20 "$work/server.log" | sed 's/^/# /'
	fi
	# What could not be unmounted is left, and so is what lies in it.
	rm -rf --one-file-system "$work" || echo "# left behind: $work"
	exit "$code"
}
trap clean_up EXIT

# free_port prints a port that is not in use. It lies below those that
# the kernel gives to clients.
free_port() {
	local p
	for _ in {1..100}; do
		p=$((20000 + RANDOM % 10000))
		if ! (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then
			echo "$p"
			return
		fi
	done
	return 1
}

# start FLAG… starts the server over $data and waits until it is ready. What is
# started again has its port again, for what is mounted.
start() {
	if [[ ! -x $binary ]]; then
		go -C "$root" build -o "$binary" ./cmd/flowdrive
	fi
	port=${port:-$(free_port)}
	base=http://127.0.0.1:$port
	if [[ -n ${FLOWDRIVE_NODES:-} ]]; then
		nodes_start "$@"
		return
	fi
	FLOWDRIVE_ADMIN_PASSWORD=$admin_password \
		"$binary" serve --addr "127.0.0.1:$port" --data "$data" "$@" >>"$work/server.log" 2>&1 </dev/null &
	server_pid=$!
	for _ in {1..300}; do
		if curl -sf -o /dev/null --max-time 2 "$base/readyz"; then
			return
		fi
		if ! kill -0 "$server_pid" 2>/dev/null; then
			break
		fi
		sleep 0.05
	done
	die "the server starts" "flowdrive serve --addr 127.0.0.1:$port --data $data $*"
}

# stop asks the server to end, waits, and sets $stopped to its exit code.
stop() {
	if [[ -n ${FLOWDRIVE_NODES:-} ]]; then
		nodes_stop
		return
	fi
	# shellcheck disable=SC2034 # the script that asked reads it
	stopped=0
	kill -TERM "$server_pid"
	# shellcheck disable=SC2034
	wait "$server_pid" || stopped=$?
	server_pid=
}

# ---- requests

# request METHOD PATH [curl option…] sets $status; the answer's body is in
# $work/body, its headers in $work/headers.
request() {
	local method=$1 path=$2
	shift 2
	# What was there before must not be taken for the answer.
	: >"$work/body"
	status=$(curl -sS --max-time 30 --path-as-is -u "$user:${passwords[$user]}" \
		-X "$method" -o "$work/body" -D "$work/headers" -w '%{http_code}' "$@" "$base$path") || true
}

# put PATH JSON [curl option…]
put() {
	local path=$1 document=$2
	shift 2
	request PUT "$path" -H 'Content-Type: application/json' --data-binary "$document" "$@"
}

# as USER COMMAND… makes the requests of COMMAND as another user.
as() {
	local user=$1
	shift
	"$@"
}

# header NAME prints a header of the last answer.
header() {
	tr -d '\r' <"$work/headers" | awk -v name="${1,,}" -F': ' 'tolower($1) == name {value = substr($0, length($1) + 3)} END {print value}'
}

# json FILTER prints what a jq filter makes of the last answer's body.
json() { jq -r "$1" "$work/body" 2>/dev/null || echo "no JSON"; }

body() { cat "$work/body"; }

# ---- clients

# has COMMAND WHAT: is the client here?
has() {
	if command -v "$1" >/dev/null; then
		return 0
	fi
	skip "$2" "there is no $1 here (make deps installs it)"
	return 1
}

# has_fuse WHAT: can this machine mount?
has_fuse() {
	if [[ -c /dev/fuse ]] && ((EUID == 0)); then
		return 0
	fi
	skip "$1" "mounting needs /dev/fuse and root"
	return 1
}

# mounted prints what is mounted below $work, what was mounted last first.
mounted() { awk -v under="$work/" 'index($5, under) == 1 {print $5}' /proc/self/mountinfo | tac; }

# unmount_all unmounts it, whoever mounted it. What is busy goes when it is no
# longer in use.
unmount_all() {
	local m how
	while read -r m; do
		for how in 'fusermount3 -u' umount 'fusermount3 -u -z' 'umount -l'; do
			# shellcheck disable=SC2086 # a command and its options
			if timeout 30 $how "$m" 2>/dev/null; then
				break
			fi
		done
	done < <(mounted)
}

# answers STATUS METHOD PATH: does the server, asked by curl, answer so?
answers() {
	request "$2" "$3"
	[[ $status == "$1" ]]
}

# holds FILE PATH: does the server have these bytes there?
holds() {
	request GET "$2"
	[[ $status == 200 ]] && cmp "$1" "$work/body"
}
