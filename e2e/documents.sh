#!/usr/bin/env bash
# Documents, told with curl: an ordinary file area; a nightly entry whose
# document is edited between two firings; uploads that are cut off; a file of
# 3 GiB up and down in little memory. FLOWDRIVE_E2E_LARGE says how many MiB
# the large file has if 3072 take too long.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for tool in curl jq sha256sum cmp truncate; do
	if ! command -v "$tool" >/dev/null; then
		skip documents "there is no $tool"
		finish
	fi
done

documents=/dav/Documents
schedule=/dav/Workflow/Schedule

advance() { request POST /clock -H 'Content-Type: application/json' --data-binary "{\"advance\": \"$1\"}"; }

# upload PATH TEXT [curl option…]
upload() {
	local path=$1 text=$2
	shift 2
	request PUT "$path" --data-binary "$text" -H 'Content-Type:' "$@"
}

# stored prints how many contents are on disk, whole or half-written.
stored() { find "$data/contents" -type f ! -name pin | wc -l; }

stored_is() { [[ $(stored) == "$1" ]]; }

# names PATH prints the names in a folder, in the order in which they came.
names() {
	request GET "$1.ls"
	json '[.[].name] | join(" ")'
}

# property NAME PATH prints a property as PROPFIND has it.
property() {
	request PROPFIND "$2" -H 'Depth: 0' --data-binary "<propfind xmlns='DAV:'><prop><$1/></prop></propfind>"
	sed -n "s|.*<D:$1>\([^<]*\)</D:$1>.*|\1|p" "$work/body"
}

start --sandbox 2012-11-09T12:34:56Z --quota 1MiB
for person in ann bob; do
	passwords[$person]="the-password-of-$person"
	put "/dav/Admin/Users/$person.json" "{\"password\": \"${passwords[$person]}\"}"
done
put /dav/Admin/Teams/ops.json '{"members": ["admin", "ann"]}'
expect "two users and a team" 201 "$status"

# ---- files and folders

as_bob() { user=bob "$@"; }
expect "a root for each of one's contexts" "everyone bob" "$(as_bob names $documents/)"
upload $documents/ops/rates.csv 'a;1'
expect "PUT of a new file" "201 $documents/ops/rates.csv" "$status $(header Location)"
etag=$(header ETag)
request GET $documents/ops/rates.csv
expect "  its bytes, its type by the name" "200 text/csv a;1" "$status $(header Content-Type) $(body)"
expect "  the same ETag" "$etag" "$(header ETag)"
upload $documents/ops/rates.csv 'a;2' -H "If-Match: $etag"
expect "PUT over it" 204 "$status"
upload $documents/ops/rates.csv 'a;3' -H "If-Match: $etag"
expect "  over another version" 412 "$status"
request GET $documents/ops/rates.csv -H 'Range: bytes=2-2'
expect "GET of a range" "206 2" "$status $(body)"
upload $documents/ops/empty ''
request HEAD $documents/ops/empty --head
expect "an empty file is a file" "200 0" "$status $(header Content-Length)"
upload "$documents/ops/~\$caf%C3%A9%20%22x%22.tmp" 'any name'
expect "and so is one with any name" 201 "$status"
request MKCOL $documents/ops/2012
expect "MKCOL" 201 "$status"
request MKCOL $documents/ops/2012
expect "  of what exists" 405 "$status"
request MKCOL $documents/ops/gone/deeper
expect "  without a folder to be in" 409 "$status"
request MKCOL $documents/ops/with-body -H 'Content-Type: image/png' --data-binary 'x'
expect "  with a body" 415 "$status"
upload $documents/ops/gone/file x
expect "PUT without a folder to be in" 409 "$status"
upload $documents/ops/2012 x
expect "  over a folder" 405 "$status"
upload $documents/ops/rates.csv x -H 'Content-Range: bytes 0-0/3'
expect "  of a part" 400 "$status"
upload $documents/ops/2012/november.txt 'november'
request PROPFIND $documents/ops/ -H 'Depth: infinity' --data-binary '<propfind xmlns="DAV:"><prop><displayname/></prop></propfind>'
expect "PROPFIND of infinite depth" "207 6" "$status $(grep -o '<D:response>' "$work/body" | wc -l)"
request PROPFIND /dav/ -H 'Depth: infinity'
expect "  elsewhere" 403 "$status"
folder=$(property getetag $documents/ops/)
upload $documents/ops/rates.csv 'a;4'
expect "a folder's ETag moves with its members" moved "$([[ -n $folder && $folder != "$(property getetag $documents/ops/)" ]] && echo moved)"

as_bob request GET $documents/ops/rates.csv
expect "a stranger sees nothing" 404 "$status"
as_bob upload $documents/ops/new x
expect "  and writes nothing" 404 "$status"
as_bob upload $documents/everyone/new x
expect "everyone's is to be read" 403 "$status"

# ---- quota

for context in admin ops; do
	request DELETE $documents/$context/.history/
	expect "what $context had before is deleted" 204 "$status"
done
used=$(property quota-used-bytes $documents/)
expect "the quota" $((1048576 - used)) "$(property quota-available-bytes $documents/admin/)"
head -c 1000000 /dev/urandom >"$work/million"
request PUT $documents/admin/million --upload-file "$work/million"
expect "a file within it" 201 "$status"
request PUT $documents/admin/another --upload-file "$work/million"
expect "one too many" 507 "$status"
request PUT $documents/admin/another --upload-file "$work/million" -H 'Transfer-Encoding: chunked'
expect "  also without an announced length" 507 "$status"
expect "  nothing of it is there" "million 1" "$(names $documents/admin/) $(stored)"
request DELETE $documents/admin/million
expect "DELETE" 204 "$status"
expect "  keeps it for now" $((used + 1000000)) "$(property quota-used-bytes $documents/)"
request PUT $documents/admin/another --upload-file "$work/million"
expect "  and gives it up for what is saved" 201 "$status"
request DELETE $documents/admin/another
request DELETE $documents/admin/.history/
expect "  and when it is deleted there" 204 "$status"
expect "  which gives the bytes back" "$used" "$(property quota-used-bytes $documents/)"
eventually "  and the disk's" stored_is 0

# ---- as the input of cases, read when they are created

put $schedule/nightly.json "{\"route\": \"collector\", \"type\": \"cron\", \"hour\": 23, \"minute\": 0, \"context\": \"ops\",
	\"document\": \"$documents/ops/rates.csv\"}"
expect "an entry with a document" 201 "$status"
put $schedule/wrong.json "{\"route\": \"collector\", \"type\": \"cron\", \"hour\": 23, \"minute\": 0, \"document\": \"$documents/ops/gone.csv\"}"
expect "  with none" "422 /document not-found" "$status $(json '.errors[0] | .pointer + " " + .code')"
advance P1D
upload $documents/ops/rates.csv 'a;5'
advance P1D
request GET "/dav/Workflow/Cases/.contents?route=collector"
read -r first second <<<"$(json '[.[].id] | join(" ")')"
request GET "/dav/Workflow/Cases/$first/input"
expect "the first case has what it held then" "text/csv a;4" "$(header Content-Type) $(body)"
request GET "/dav/Workflow/Cases/$second/input"
expect "the second what it held later" "text/csv a;5" "$(header Content-Type) $(body)"
request DELETE $documents/ops/rates.csv
expect_match "it is in use" '^409 .*"nightly.json"' "$status $(json .detail)"
request MOVE $documents/ops/rates.csv -H "Destination: $documents/ops/old.csv"
expect "  but can be moved" 201 "$status"
advance P1D
request GET $schedule/nightly.json
request GET "$schedule/.contents"
expect_match "without it no case, and the entry says why" "There is no document .*rates.csv" "$(json '.[0].lastError')"
upload $documents/ops/rates.csv 'a;6'
advance P1D
request GET "$schedule/.contents"
expect "with it again, a case again" "null" "$(json '.[0].lastError')"

# ---- whole trees

request DELETE $documents/ops/2012/
expect "DELETE of a tree" 204 "$status"
request GET $documents/ops/2012/november.txt
expect "  all of it is gone" 404 "$status"
request DELETE $documents/ops/
expect "a root stays" 403 "$status"
stop
expect "the server stops in good order" 0 "$stopped"

# ---- uploads that are cut off

data=$work/real
start
upload $documents/admin/stays 'as it was'
used=$(property quota-used-bytes $documents/) # it has the example routes, too
truncate -s 512M "$work/half"
for i in {1..40}; do
	target=new
	((i % 2)) || target=stays
	curl -s -u "admin:$admin_password" -o /dev/null --limit-rate $((RANDOM * 4096)) -T "$work/half" "$base$documents/admin/$target" &
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -KILL $! && wait $! 2>/dev/null || true
done
rm "$work/half"
cut=$(grep -c '"method":"PUT".*"status":400' "$work/server.log" || true)
expect "of 40 uploads many are cut off on the way ($cut)" yes "$( ((cut > 10)) && echo yes)"
eventually "  they leave nothing on disk" stored_is 0
expect "  nothing in lists" "stays" "$(names $documents/admin/)"
request GET $documents/admin/stays
expect "  and what was there as it was" "as it was" "$(body)"
expect "  nor do they count" "$used" "$(property quota-used-bytes $documents/)"

# ---- a large file in little memory

size=${FLOWDRIVE_E2E_LARGE:-3072}
free=$(($(df --output=avail -k "$work" | tail -n 1) / 1024))
if ((free < 2 * size + 1024)); then
	skip "a file of $size MiB" "the disk has $free MiB left; it is tried with 64 MiB"
	size=64
fi
truncate -s "${size}M" "$work/large"
for at in 0 $((size / 2)) $((size - 1)); do # sparse, but no two parts alike
	head -c 4096 /dev/urandom | dd of="$work/large" bs=1M seek="$at" conv=notrunc status=none
done
sum=$(sha256sum <"$work/large")
# memory NAME prints a figure of the server's memory, in KiB; the highest one is counted
# from here (proc(5), clear_refs).
memory() { awk -v name="$1:" '$1 == name {print $2}' "/proc/$server_pid/status"; }
echo 5 >"/proc/$server_pid/clear_refs"
before=$(memory VmRSS)
request PUT $documents/admin/large --upload-file "$work/large"
expect "PUT of $size MiB" "201 \"${sum:0:32}\"" "$status $(header ETag)"
got=$(curl -sS -u "admin:$admin_password" "$base$documents/admin/large" | sha256sum)
expect "  GET gives the same bytes" "$sum" "$got"
request GET $documents/admin/large -H "Range: bytes=$((size * 1048576 - 1048576))-"
expect "  and so does a range at its end" "206 $(tail -c 1048576 "$work/large" | sha256sum)" "$status $(sha256sum <"$work/body")"
rm "$work/large"
more=$(($(memory VmHWM) - before))
expect "  with less than 16 MiB more memory (it was $((more / 1024)) MiB above $((before / 1024)))" yes "$( ((more < 16384)) && echo yes)"
request DELETE $documents/admin/large
request DELETE $documents/admin/.history/
eventually "  DELETE gives the disk back" stored_is 0
stop
expect "the server stops in good order" 0 "$stopped"
finish
