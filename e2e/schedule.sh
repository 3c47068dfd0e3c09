#!/usr/bin/env bash
# The main job, told with curl: schedule a route by PUT; cases are created at
# their time, seen by whom they concern, acted on, and kept. The clock is the
# sandbox's, so that days pass in no time.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for tool in curl jq; do
	if ! command -v "$tool" >/dev/null; then
		skip schedule "there is no $tool"
		finish
	fi
done

schedule=/dav/Workflow/Schedule
cases=/dav/Workflow/Cases

# advance DURATION and set_clock TIME move the sandbox's clock.
advance() { request POST /clock -H 'Content-Type: application/json' --data-binary "{\"advance\": \"$1\"}"; }
set_clock() { request POST /clock -H 'Content-Type: application/json' --data-binary "{\"set\": \"$1\"}"; }

# cases_of UUID prints the cases of a schedule entry as a JSON array.
cases_of() {
	request GET "$cases/.contents"
	jq -c --arg uuid "$1" '[.[] | select((.scheduleUUID // "" | gsub("[{}-]"; "")) == $uuid)]' "$work/body" 2>/dev/null || echo '[]'
}

# entries prints how many schedule entries the user sees, -1 if that is not known.
entries() {
	request GET "$schedule/.contents"
	jq length "$work/body" 2>/dev/null || echo -1
}

start --sandbox 2012-11-09T12:34:56Z
ok "the server starts over an empty folder"

# ---- what needs no log-in, and what does

request GET /healthz
expect "/healthz" 200 "$status"
status=$(curl -sS --max-time 10 -o "$work/body" -D "$work/headers" -w '%{http_code}' "$base$schedule/.contents")
expect "without a log-in: 401" 401 "$status"
expect_match "  it says how to log in" '^Basic ' "$(header WWW-Authenticate)"
expect "  the problem has its name" urn:flowdrive:problem:log-in "$(json .type)"

request PROPFIND /dav/Workflow/ -H 'Depth: 1'
expect "the tree answers PROPFIND" 207 "$status"
for folder in Schedule Routes Cases; do
	expect_match "  it lists $folder/" "/dav/Workflow/$folder/" "$(body)"
done
request GET /dav/Workflow/
expect "a folder in a browser is no 405" 200 "$status"

request GET /clock
expect "the clock stands where it was told" "2012-11-09T12:34:56Z sandbox" "$(json '"\(.now) \(.mode)"')"

request GET /dav/Workflow/Routes/collector.json
expect "the example route is there, in its complete form" "200 collector" "$status $(json .name)"
collector=$(json .id)
expect_match "  with its id" '^[0-9]+$' "$collector"

# ---- the session of the scheduler's documentation

cat >"$work/send-request.json" <<-JSON
	{"routeId":$collector,"priority":300,"repeat":1,"type":"interval","minutes":2}
JSON
request PUT "$schedule/request" --upload-file "$work/send-request.json"
expect "PUT of the entry" 201 "$status"
entry=$(header Location)
expect_match "  its identity is in Location" "^$schedule/[0-9a-f]{32}\.json$" "$entry"
uuid=$(basename "$entry" .json)
expect "  and in X-OpenGroupware-ScheduleEntryUUID" "$uuid" "$(header X-OpenGroupware-ScheduleEntryUUID)"

request GET "$entry"
expect "the entry: counters" "0 1 1" "$(json '"\(.iterationsPerformed) \(.iterationsRemaining) \(.repeat)"')"
expect "the entry: priority, type, period" "300 interval 2 120" "$(json '"\(.priority) \(.type) \(.minutes) \(.interval)"')"
expect "the entry: route" "$collector collector" "$(json '"\(.routeId) \(.route)"')"
expect "the entry: due in two minutes" 2012-11-09T12:36:56 "$(json .nextIteration)"
expect "the entry: its UUID with braces" "{${uuid:0:8}-${uuid:8:4}-${uuid:12:4}-${uuid:16:4}-${uuid:20}}" "$(json .UUID)"
etag=$(header ETag)
request GET "$entry" -H "If-None-Match: $etag"
expect "the entry: not modified" 304 "$status"
expect ".contents has it" 1 "$(entries)"
request PROPFIND "$schedule/" -H 'Depth: 1'
expect_match "PROPFIND lists it by its identity" "$uuid\.json" "$(body)"

advance PT1M59S
expect "a second before its time nothing fires" "200 0 true" "$status $(json '"\(.fired) \(.complete)"')"
advance PT1S
expect "at its time it fires" "200 1 true 2012-11-09T12:36:56Z" "$status $(json '"\(.fired) \(.complete) \(.now)"')"
made=$(cases_of "$uuid")
expect "one case" 1 "$(jq length <<<"$made")"
expect "  with the entry's priority and instant" "collector 300 2012-11-09T12:36:56Z" \
	"$(jq -r '.[0] | "\(.route) \(.priority) \(.scheduledFor)"' <<<"$made")"
case_id=$(jq -r '.[0].id' <<<"$made")
request GET "$cases/$case_id.json"
expect "  at its own address" "200 $case_id" "$status $(json .id)"
first_case=$case_id
request GET "$entry"
expect "the entry has deleted itself" 404 "$status"
request GET "$schedule/$uuid/occurrences.json"
expect "  what became of it is still told" "200 2012-11-09T12:36:56Z fired $case_id" \
	"$status $(json '.[0] | "\(.instant) \(.outcome) \(.case)"')"
advance P7D
expect "  and it never fires again" 1 "$(cases_of "$uuid" | jq length)"

# ---- labels are read at the instant of firing

stop
expect "the server stops in good order" 0 "$stopped"
data=$work/labels
start --sandbox 2012-11-09T12:34:56Z
request GET /dav/Workflow/Routes/collector.json
collector=$(json .id)
cat >"$work/nightly.json" <<-JSON
	{ "type": "cron", "routeId": $collector, "weekday": "3,6", "hour": "23", "minute": "0",
	  "xattrDict": {"start": "\$__MONTHSTART__;", "end": "\$__TODAY__;"} }
JSON
request PUT "$schedule/nightly.json" --upload-file "$work/nightly.json"
expect "PUT under a name that is kept" 201 "$status"
nightly=$(header Location)
uuid=$(basename "$nightly" .json)
request GET "$schedule/nightly.json"
expect "  the name gives the bytes back" "$(cat "$work/nightly.json")" "$(body)"
request GET "$nightly"
expect "  Thursday and Sunday, first on Sunday the 11th" "3,6 2012-11-11T23:00:00 -1" \
	"$(json '"\(.dayOfWeek) \(.nextIteration) \(.iterationsRemaining)"')"
expect "  the labels stay labels" "\$__MONTHSTART__; \$__TODAY__;" "$(json '"\(.xattrDict.start) \(.xattrDict.end)"')"
set_clock 2012-11-11T23:00:00Z
expect "Sunday, 23:00" "200 1" "$status $(json .fired)"
made=$(cases_of "$uuid")
expect "the case's XATTRs" "2012-11-01 2012-11-11" "$(jq -r '.[0].xattrDict | "\(.start) \(.end)"' <<<"$made")"
case_id=$(jq -r '.[0].id' <<<"$made")
request GET "$nightly"
expect "the entry goes on" "1 -1 2012-11-15T23:00:00" "$(json '"\(.iterationsPerformed) \(.iterationsRemaining) \(.nextIteration)"')"
request POST /clock -H 'Content-Type: application/json' --data-binary '{"set": "2012-11-01T00:00:00Z"}'
expect "the clock does not run backwards" 422 "$status"

# ---- conditions, retries

request PUT "$schedule/nightly.json" --upload-file "$work/nightly.json" -H 'If-None-Match: *'
expect "If-None-Match: * where something is" "412 urn:flowdrive:problem:precondition" "$status $(json .type)"
request PUT "$schedule/nightly.json" --upload-file "$work/nightly.json" -H 'If-Match: "another"'
expect "If-Match of another version" 412 "$status"
request PUT "$schedule/nightly.json" --upload-file "$work/nightly.json"
expect "PUT again replaces" "204 $nightly" "$status $(header Location)"
request GET "$nightly"
expect "  and keeps what the server counts" 1 "$(json .iterationsPerformed)"

retry() { put "$schedule/request" "$1" -H 'Idempotency-Key: one-and-only'; }
before=$(entries)
retry "{\"route\": \"collector\", \"type\": \"interval\", \"weeks\": 1}"
first="$status $(header Location)"
retry "{\"route\": \"collector\", \"type\": \"interval\", \"weeks\": 1}"
expect "a retry with its Idempotency-Key: the first answer" "$first" "$status $(header Location)"
expect "  marked as such" true "$(header Idempotent-Replayed)"
expect "  and one entry" $((before + 1)) "$(entries)"
retry "{\"route\": \"collector\", \"type\": \"interval\", \"weeks\": 2}"
expect "  with another body" "422 urn:flowdrive:problem:idempotency-mismatch" "$status $(json .type)"

# ---- other people

passwords[eve]='a password of her own'
put /dav/Admin/Users/eve.json "{\"fullName\": \"Eve\", \"password\": \"${passwords[eve]}\"}"
expect "the administrator makes a user" 201 "$status"
request GET /dav/Admin/Users/eve.json
eve_id=$(json .id)
expect "  who is shown without password" "eve null" "$(json '"\(.name) \(.password)"')"

expect "she sees no entry in .contents" 0 "$(as eve entries)"
as eve request PROPFIND "$schedule/" -H 'Depth: 1'
expect "  nor in the folder" "207 0" "$status $(grep -c "$uuid\|nightly" "$work/body" || true)"
for path in "$nightly" "$schedule/nightly.json" "$schedule/$uuid/occurrences.json" "$cases/$case_id.json" "$cases/$case_id/log.txt"; do
	as eve request GET "$path"
	expect "  GET ${path#/dav/Workflow/}" 404 "$status"
done
as eve request DELETE "$nightly"
expect "  DELETE" 404 "$status"
as eve request GET /dav/Admin/
expect "  Admin/ is not there" 404 "$status"
as eve put "$nightly" '{"route": "collector", "type": "interval", "minutes": 5}'
expect "  PUT to its identity" 404 "$status"

as eve put "$schedule/mine.json" '{"route": "collector", "type": "interval", "minutes": 5}'
expect "her own entry" 201 "$status"
hers=$(header Location)
as eve request GET "$hers"
expect "  in her own context" "$eve_id" "$(json .contextId)"
admin_id=$(request GET "$nightly" && json .contextId)
for context in "$admin_id" 999999999; do
	as eve put "$schedule/request" "{\"route\": \"collector\", \"type\": \"interval\", \"minutes\": 5, \"contextId\": $context}"
	expect "a context that is not hers" "403 urn:flowdrive:problem:context-not-available" "$status $(json .type)"
done
put "$schedule/request" "{\"route\": \"collector\", \"type\": \"interval\", \"minutes\": 5, \"contextId\": $eve_id}"
expect "  an administrator is no exception" 403 "$status"

# ---- faults

before=$(entries)

# fault STATUS POINTERS DOCUMENT
fault() {
	put "$schedule/request" "$3"
	local got
	got=$(json '[.errors[]?.pointer] | sort | join(" ")')
	expect "refused: ${3:0:100}" "$1 $2" "$status $got"
}
put "$schedule/request" '{"routeId": 999999999, "priority": 70000, "type": "interval", "minutes": "soon", "bogus": 1}'
expect "several faults, one answer" "422 /bogus /minutes /priority /routeId" "$status $(json '[.errors[].pointer] | sort | join(" ")')"
expect "  a problem document" "application/problem+json urn:flowdrive:problem:invalid" "$(header Content-Type) $(json .type)"
expect_match "  the first member is the detail" '^[[:space:]]*\{[[:space:]]*"detail"' "$(body)"

r='"route": "collector"'
fault 422 "/type" "{$r}"
fault 422 "/route" '{"route": "no-such-route", "type": "interval", "minutes": 2}'
fault 422 "/type" "{$r, \"type\": \"sometimes\"}"
fault 422 "/date" "{$r, \"type\": \"simple\"}"
fault 422 "/date" "{$r, \"type\": \"simple\", \"date\": \"2011-11-09 12:00:00\"}"
fault 422 "/date" "{$r, \"type\": \"simple\", \"date\": \"tomorrow\"}"
fault 422 "/minutes" "{$r, \"type\": \"interval\", \"minutes\": true}"
fault 422 "/repeat" "{$r, \"type\": \"interval\", \"minutes\": 2, \"repeat\": 0}"
fault 422 "/priority" "{$r, \"type\": \"interval\", \"minutes\": 2, \"priority\": -1}"
fault 422 "/xattrDict/a" "{$r, \"type\": \"interval\", \"minutes\": 2, \"xattrDict\": {\"a\": null}}"
fault 422 "/xattrDict/a" "{$r, \"type\": \"interval\", \"minutes\": 2, \"xattrDict\": {\"a\": [1]}}"
fault 422 "/xattrDict/a" "{$r, \"type\": \"interval\", \"minutes\": 2, \"xattrDict\": {\"a\": {}}}"
fault 422 "/priority" "{$r, \"type\": \"interval\", \"minutes\": 2, \"priority\": 65536}"
fault 422 "/priority" "{$r, \"type\": \"interval\", \"minutes\": 2, \"priority\": true}"
fault 422 "/repeat" "{$r, \"type\": \"interval\", \"minutes\": 2, \"repeat\": -1}"
fault 422 "/repeat" "{$r, \"type\": \"simple\", \"date\": \"2013-01-01\", \"repeat\": 2}"
fault 422 "/minutes" "{$r, \"type\": \"interval\", \"minutes\": -2}"
fault 422 "/minutes" "{$r, \"type\": \"interval\", \"minutes\": 1.5}"
fault 422 "/timezone" "{$r, \"type\": \"interval\", \"minutes\": 2, \"timezone\": \"Europe/Berlin\"}"
fault 422 "/graceSeconds /misfire" "{$r, \"type\": \"interval\", \"minutes\": 2, \"misfire\": \"maybe\", \"graceSeconds\": -1}"
fault 422 "/spec" "{$r, \"type\": \"crontab\", \"spec\": \"TZ=UTC 0 0 * * *\"}"
fault 422 "/spec" "{$r, \"type\": \"crontab\", \"spec\": \"0 0 * *\"}"
fault 422 "/spec" "{$r, \"type\": \"crontab\"}"
fault 422 "/date" "{$r, \"type\": \"cron\", \"hour\": \"1\", \"date\": \"2013-01-01\"}"
fault 422 "/day" "{$r, \"type\": \"cron\", \"day\": \"0\"}"
fault 422 "/month" "{$r, \"type\": \"cron\", \"month\": \"13\"}"
fault 422 "/week" "{$r, \"type\": \"cron\", \"week\": \"54\"}"
fault 422 "/minute" "{$r, \"type\": \"cron\", \"minute\": \"*/0\"}"
fault 422 "/hour" "{$r, \"type\": \"cron\", \"hour\": \"25\"}"
fault 422 "/weekday" "{$r, \"type\": \"cron\", \"weekday\": \"7\"}"
fault 422 "/weekday" "{$r, \"type\": \"cron\", \"weekday\": \"3,\"}"
fault 422 "/weekday" "{$r, \"type\": \"cron\", \"weekday\": \"fri-mon\"}"
fault 422 "/spec" "{$r, \"type\": \"crontab\", \"spec\": \"@every 5m\"}"
fault 400 "" '{"route": "collector", '
fault 422 "/timezone" "{$r, \"type\": \"cron\", \"hour\": \"2\", \"timezone\": \"Europe/Berlinn\"}"
fault 422 "/excludeCalendar" "{$r, \"type\": \"cron\", \"hour\": \"2\", \"excludeCalendar\": \"/dav/Documents/sam/holidays.ics\"}"
expect "  which says that there is no such document" not-found "$(json '.errors[0].code')"
# Where the pointer of a fault that concerns several fields stands is the
# server's choice; that it is one fault and 422 is not.
for document in "{$r, \"type\": \"interval\"}" "{$r, \"type\": \"interval\", \"minutes\": 0}" "{$r, \"type\": \"cron\"}" \
	"{$r, \"type\": \"cron\", \"year\": \"2011\"}" "{$r, \"type\": \"cron\", \"month\": \"2\", \"day\": \"30\"}" \
	"{$r, \"type\": \"cron\", \"hour\": \"1\", \"weekday\": \"1\", \"dayOfWeek\": \"2\"}" \
	'{"type": "interval", "minutes": 2}' '[]' 'null' '"text"'; do
	put "$schedule/request" "$document"
	expect "refused: $document" 422 "$status"
done
request PUT "$schedule/request" --data-binary ''
expect "an empty document" "422 urn:flowdrive:problem:empty-document" "$status $(json .type)"
expect "nothing of it is stored" "$before" "$(entries)"

put "$schedule/nightly.json" '{"route": "collector"}'
request GET "$schedule/nightly.json"
expect "a refusal leaves the stored entry as it was" "$(cat "$work/nightly.json")" "$(body)"

# ---- hostile paths; methods of later days

for path in '/dav/%00' '/dav/Workflow/../../etc/passwd' '/dav/Workflow/%2e%2e/%2e%2e/x' '/dav//Workflow' '/davX' \
	"$schedule/$(printf 'x%.0s' {1..300}).json" "$cases/99999999999999999999.json" "$cases/-1/log.txt" '/dav/%ff%fe'; do
	for method in GET PUT DELETE PROPFIND; do
		request "$method" "$path" --data-binary '{}'
		if [[ $status == 000 || $status == 5* && $status != 501 ]]; then
			not_ok "$method ${path:0:60}" "answered $status"
		fi
	done
done
ok "no path gives a 5xx"

# ---- a case, by hand

put "$cases/new.json" '{"route": "bug", "title": "The printer burns", "input": "It burns.", "priority": 250}'
expect "a case by PUT" 201 "$status"
bug=$(header Location)
expect_match "  its identity" "^$cases/[0-9]+\.json$" "$bug"
folder=${bug%.json}
request GET "$folder/input"
expect "  its input" "It burns." "$(body)"
request GET "$bug"
expect "  is active at once" "active The printer burns 250" "$(json '"\(.state) \(.title) \(.priority)"')"
expect "  what people can do" "comment edit resolve" "$(json '.enabledActions | sort | join(" ")')"
version=$(json .version)
request GET "$folder/Actions/resolve.json"
expect "the task" "200 resolve offered" "$status $(json '"\(.action) \(.state)"')"
put "$folder/Actions/close.json" '{}'
expect "an action that is not enabled" "409 urn:flowdrive:problem:action-not-enabled" "$status $(json .type)"
put "$folder/Actions/explode.json" '{}'
expect "an action that does not exist" 404 "$status"
put "$folder/Actions/resolve.json" '{"comment": "Water helped."}' -H 'If-Match: "an-old-one"'
expect "resolve, on an old version" 412 "$status"
put "$folder/Actions/resolve.json" '{"comment": "Water helped."}'
expect "resolve" "204 $bug active resolved" "$status $(header Location) $(header X-Flowdrive-Case-State) $(header X-Flowdrive-Case-Status)"
expect_match "  its place in the log" '^[0-9]+$' "$(header X-Flowdrive-Log-Entry)"
put "$folder/Actions/close.json" ''
expect "an empty document performs" "204 resolved closed" "$status resolved $(header X-Flowdrive-Case-Status)"
request GET "$bug"
expect "the case is completed" "completed closed" "$(json '"\(.state) \(.status)"')"
expect "  its version has moved" true "$(json ".version > $version")"
request GET "$folder/log.json"
expect "the log says who did what" "resolve admin Water helped." \
	"$(json '[.[] | select(.action == "resolve")][0] | "\(.action) \(.actor) \(.comment)"')"
request GET "$folder/log.txt"
expect_match "  also for people" "Water helped." "$(body)"
put "$cases/new.json" '{"route": "no-such-route"}'
expect "a case of no route" "422 /route not-found" "$status $(json '.errors[0] | "\(.pointer) \(.code)"')"
as eve request GET "$bug"
expect "others see nothing of it" 404 "$status"

# ---- kept

all=$(entries)
stop
expect "the server stops in good order again" 0 "$stopped"
start --sandbox 2012-11-09T12:34:56Z
request GET /clock
expect "after a restart the clock goes on where it was" 2012-11-11T23:00:00Z "$(json .now)"
expect "  every entry is there" "$all" "$(entries)"
request GET "$schedule/nightly.json"
expect "  byte for byte" "$(cat "$work/nightly.json")" "$(body)"
request GET "$bug"
expect "  every case is there" "200 completed" "$status $(json .state)"
set_clock 2012-11-15T23:00:00Z
expect "  and what falls due fires" 2 "$(cases_of "$uuid" | jq length)"

request DELETE "$nightly"
expect "DELETE" 204 "$status"
request GET "$schedule/nightly.json"
expect "  both its names are gone" 404 "$status"
request GET "$cases/$case_id.json"
expect "  its cases are not" 200 "$status"

stop
data=$work/data
start --sandbox 2012-11-09T12:34:56Z
request GET "$cases/$first_case.json"
expect "the first folder still has its case" 200 "$status"
stop
code=0
timeout 10 "$binary" serve --addr "127.0.0.1:$(free_port)" --data "$data" >"$work/out" 2>&1 </dev/null || code=$?
expect "a sandbox's folder does not open as a real one" 1 "$code"

finish
