#!/usr/bin/env bash
# Files dropped into the folder of a route start cases: with curl as scripts
# for OpenGroupware Coils do it, with cadaver and with rclone. What comes of
# them stands on the board, and a dry run says what would.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

routes=/dav/Workflow/Routes
cases=/dav/Workflow/Cases

start --sandbox 2012-11-09T12:34:56Z

# Its cases wait for a person; those of the route collector do not.
printf '%s\n' 'title: Load' 'access: {start: [everyone]}' \
	'states: {waiting: {type: start}, loaded: {}, closed: {type: complete}}' \
	'actions:' \
	'  begin: {trigger: init}' \
	'  load: {in: [waiting], to: loaded, allowed: [everyone]}' \
	'  close: {in: [loaded], to: closed, allowed: [everyone]}' >"$work/load.yaml"
request PUT "$routes/load.yaml" -T "$work/load.yaml"
expect "a route is stored" 201 "$status"

# many FILTER counts what a filter selects of all cases.
many() {
	request GET "$cases/.contents?route=load"
	json "[.[] | select($1)] | length"
}

# ---- as scripts for OpenGroupware Coils start a case

head -c 300000 /dev/urandom >"$work/load.bin"
request PUT "$routes/load/InputMessage?update=2019-04-03&effective=2019-04-03&taskid=1063257439&batchid=v200-04/19" \
	-T "$work/load.bin" -H 'Expect: 100-continue'
expect "a file put into a route's folder starts a case" 201 "$status"
case_id=$(header X-COILS-WORKFLOW-PROCESS-ID)
expect_match "  its number" '^[0-9]+$' "$case_id"
expect "  Location" "$routes/load/$case_id/input" "$(header Location)"
expect_match "  X-COILS-WORKFLOW-MESSAGE-UUID" '^[0-9a-f]{32}$' "$(header X-COILS-WORKFLOW-MESSAGE-UUID)"
uuid=$(header X-COILS-WORKFLOW-MESSAGE-UUID)
expect "  X-COILS-WORKFLOW-MESSAGE-LABEL" InputMessage "$(header X-COILS-WORKFLOW-MESSAGE-LABEL)"
expect "  X-COILS-WORKFLOW-OUTPUT-URL" "$routes/load/$case_id/output" "$(header X-COILS-WORKFLOW-OUTPUT-URL)"
if grep -q '^X-COILS-WORKFLOW-PROCESS-ID: ' "$work/headers"; then
	ok "  spelled as they always were"
else
	not_ok "  spelled as they always were" "$(cat "$work/headers")"
fi
etag=$(header ETag)
request GET "$routes/load/$case_id/input"
expect "  its input" 200 "$status"
succeeds "    the same bytes" cmp "$work/load.bin" "$work/body"
expect "    their type" application/octet-stream "$(header Content-Type)"
request GET "$cases/$case_id/Messages/$uuid"
succeeds "    also by the message's UUID" cmp "$work/load.bin" "$work/body"
request GET "$cases/$case_id.json"
expect "  its XATTRs" '{"batchid":"v200-04/19","effective":"2019-04-03","taskid":"1063257439","update":"2019-04-03"}' "$(json '.xattrDict | tojson')"
request PROPFIND "$cases/$case_id.json" -H 'Depth: 0' \
	-d '<propfind xmlns="DAV:"><prop><xattr_update xmlns="http://www.opengroupware.us/oie"/></prop></propfind>'
expect_match "    as WebDAV properties" '>2019-04-03</(n0:)?xattr_update>' "$(body)"

# ---- while the case is open

request GET "$routes/load/InputMessage"
expect "the author finds the file under its name" "200 $etag" "$status $(header ETag)"
succeeds "  the same bytes" cmp "$work/load.bin" "$work/body"
request PROPFIND "$routes/load/" -H 'Depth: 1'
expect_match "  listed with its size" 'InputMessage.*300000' "$(body)"
request PUT "$routes/load/InputMessage" -T "$work/load.bin" -H 'If-None-Match: *'
expect "  which a condition sees" 412 "$status"
request PUT "$routes/load/InputMessage" -d 'another' -H 'Content-Type: text/plain'
expect "another file of the name starts another case" 201 "$status"
expect "  of which there are two" 2 "$(many true)"
request GET "$routes/load/InputMessage"
expect "  and takes the name" another "$(body)"
request DELETE "$routes/load/InputMessage"
expect "deleting the file" 204 "$status"
request GET "$routes/load/InputMessage"
expect "  takes it out of the folder" 404 "$status"
expect "  and leaves the cases" 2 "$(many '.state == "active"')"

# ---- what a query can say

request PUT "$routes/load/rates.csv?.priority=300&.title=Rates&urgent&start=\$__MONTHSTART__;" -d '1,2' -H 'Content-Type:'
expect "options and labels" 201 "$status"
third=$(header X-COILS-WORKFLOW-PROCESS-ID)
request GET "$cases/$third.json"
expect "  priority, title, XATTR without a value" '300 Rates YES' "$(json '"\(.priority) \(.title) \(.xattrDict.urgent)"')"
expect "  a label" 2012-11-01 "$(json .xattrDict.start)"
request GET "$routes/load/rates.csv"
expect "  a type by the name" text/csv "$(header Content-Type)"
request PUT "$routes/load/x?.unknown=1" -d x
expect "an unknown option" 400 "$status"
request PUT "$routes/load/x?.startAt=soon" -d x
expect "an option that cannot be read" 400 "$status"
request PUT "$routes/load/later.csv?.startAt=2099-01-01T00:00:00Z" -d x
expect "one that starts later" 201 "$status"
request GET "$cases/$(header X-COILS-WORKFLOW-PROCESS-ID).json"
expect "  is queued until then" "queued 2099-01-01T00:00:00Z" "$(json '"\(.state) \(.startAt)"')"
for name in Board Versions Rejected diagram.svg 17; do
	request PUT "$routes/load/$name" -d x
	expect "the name $name is refused" '422 urn:flowdrive:problem:name-not-allowed' "$status $(json .type)"
done
request PUT "$routes/nothing/x" -d x
expect "a route that is not there" 404 "$status"

# ---- dry runs

before=$(many true)
request PUT "$routes/load/try.csv?.dryRun&.title=Try" -d '1,2'
expect "a dry run" '200 Try waiting' "$status $(json '"\(.title) \(.status)"')"
request PUT "$cases/new.json?dryRun" -d '{"route": "load", "title": "Try"}'
expect "  of a case" '200 Try' "$status $(json .title)"
would=$(json .id)
request PUT "$cases/$third/Actions/load.json?dryRun" -d '{}'
expect "  of an action" '200 loaded' "$status $(json .status)"
request PUT "$cases/new.json?dryRun" -d '{"route": "nothing"}'
expect "  that would fail" 422 "$status"
expect "  nothing has come of them" "$before" "$(many true)"
expect "    nor of the action" 0 "$(many '.status == "loaded"')"
put "$cases/new.json" '{"route": "load", "title": "Done"}'
expect "  in earnest" "201 $cases/$would.json" "$status $(header Location)"

# ---- the same request twice

request PUT "$routes/load/once.csv?day=1" -d '1,2' -H 'Idempotency-Key: once'
expect "with a key" 201 "$status"
location=$(header Location)
request PUT "$routes/load/once.csv?day=1" -d '1,2' -H 'Idempotency-Key: once'
expect "  again" "201 $location true" "$status $(header Location) $(header Idempotent-Replayed)"
request PUT "$routes/load/once.csv?day=1" -d '1,3' -H 'Idempotency-Key: once'
expect "  with another body" 422 "$status"

# ---- the board

put "$cases/$third/Actions/load.json" '{}'
request PROPFIND "$routes/load/Board/" -H 'Depth: 1'
expect "the board has the states that actions lead to" "closed loaded waiting" \
	"$(grep -oE 'Board/[a-z]+/' "$work/body" | sort -u | cut -d/ -f2 | tr '\n' ' ' | sed 's/ $//')"
request GET "$routes/load/Board/loaded/$third%20Rates.json"
expect "  with the cases in them" "200 $third" "$status $(json .id)"
request GET "$routes/load/Board/waiting/$third%20Rates.json"
expect "  and in no other" 404 "$status"
put "$cases/$third/Actions/close.json" '{}'
request GET "$routes/load/Board/closed/$third%20whatever.json"
expect "  also closed ones" "200 closed" "$status $(json .status)"
request GET "$routes/load/rates.csv"
expect "the end of a case takes its file out of the folder" 404 "$status"

# ---- cadaver and rclone

printf 'by a client\n' >"$work/file.txt"
if command -v cadaver >/dev/null; then
	mkdir -p "$work/home"
	(umask 077 && printf 'machine 127.0.0.1\nlogin admin\npassword %s\n' "$admin_password" >"$work/home/.netrc")
	before=$(many true)
	out=$(printf '%s\n' "put $work/file.txt by-cadaver.txt" ls "get by-cadaver.txt $work/got.txt" quit |
		HOME=$work/home cadaver "$base$routes/load/" 2>&1 | tr '\r' '\n')
	expect_match "cadaver puts a file" 'Uploading .*by-cadaver\.txt.*succeeded' "${out//$'\n'/ }"
	expect_match "  lists it" 'by-cadaver\.txt +12 ' "$out"
	succeeds "  and reads it back" cmp "$work/file.txt" "$work/got.txt"
	expect "  one case was started" $((before + 1)) "$(many true)"
else
	skip cadaver "there is no cadaver here (make deps installs it)"
fi
if command -v rclone >/dev/null; then
	export RCLONE_CONFIG=/dev/null RCLONE_CONFIG_W_TYPE=webdav RCLONE_CONFIG_W_VENDOR=other \
		RCLONE_CONFIG_W_URL=$base/dav/ RCLONE_CONFIG_W_USER=admin
	RCLONE_CONFIG_W_PASS=$(rclone obscure "$admin_password")
	export RCLONE_CONFIG_W_PASS
	before=$(many true)
	succeeds "rclone copies a file" rclone copyto "$work/file.txt" w:Workflow/Routes/load/by-rclone.txt --retries 1
	expect "  one case was started" $((before + 1)) "$(many true)"
	succeeds "  finds nothing to do the second time" rclone copyto "$work/file.txt" w:Workflow/Routes/load/by-rclone.txt --retries 1
	expect "  nor starts another" $((before + 1)) "$(many true)"
	succeeds "  reads it back" rclone cat w:Workflow/Routes/load/by-rclone.txt
	expect "    the same bytes" "$(cat "$work/file.txt")" "$(cat "$work/out")"
	succeeds "  deletes it" rclone deletefile w:Workflow/Routes/load/by-rclone.txt
	expect "  and leaves the case" $((before + 1)) "$(many true)"
else
	skip rclone "there is no rclone here (make deps installs it)"
fi

# ---- rights

request PUT "/dav/Admin/Users/eve.json" -d '{"password": "eves-own-password"}'
passwords[eve]=eves-own-password
as eve request PUT "$routes/load/hers.txt" -d 'by eve'
expect "another user may start cases too" 201 "$status"
request GET "$routes/load/hers.txt"
expect "  whose file is hers alone" 404 "$status"
printf '%s\n' 'states: {open: {type: start}}' 'actions: {begin: {trigger: init}}' >"$work/own.yaml"
request PUT "$routes/own.yaml" -T "$work/own.yaml"
as eve request PUT "$routes/own/x" -d x
expect "a route that she does not see" 404 "$status"
{ cat "$work/own.yaml" && echo 'access: {read: [eve]}'; } >"$work/read.yaml"
request PUT "$routes/own.yaml" -T "$work/read.yaml"
as eve request PUT "$routes/own/x" -d x
expect "one that she may only read" '403 urn:flowdrive:problem:not-allowed' "$status $(json .type)"

stop
expect "the server stops in good order" 0 "$stopped"
finish
