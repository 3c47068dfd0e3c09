#!/usr/bin/env bash
# The calendar of what is to come, told with curl and read by another program's
# reader (python3-icalendar): by log-in and by its secret address; and holidays
# on which nothing happens.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for tool in curl jq icalendar; do
	if ! command -v "$tool" >/dev/null; then
		skip calendar "there is no $tool"
		finish
	fi
done

schedule=/dav/Workflow/Schedule
feed=/dav/Workflow/Calendar/upcoming.ics
links=/dav/Account/CalendarLinks

# events prints the events of the last answer, "start summary" each.
events() {
	/usr/bin/python3 - "$work/body" <<'PY'
import sys, icalendar
with open(sys.argv[1], "rb") as file:
    calendar = icalendar.Calendar.from_ical(file.read())
if calendar.errors:
    sys.exit(f"errors: {calendar.errors}")
for event in calendar.walk("VEVENT"):
    if event.errors or not event["UID"] or not event["DTSTAMP"]:
        sys.exit(f"errors: {event.errors}")
    print(event["DTSTART"].dt.isoformat(), event["SUMMARY"])
PY
}

start --sandbox 2012-11-09T12:34:56Z

# ---- what is to come

request GET $feed
expect "an empty calendar is read" "200 0" "$status $(events | wc -l)"
put $schedule/once.json '{"type": "simple", "route": "collector", "date": "2012-11-12T08:00:00", "title": "Rates; once, at \"eight\""}'
put $schedule/often.json '{"type": "interval", "route": "collector", "minutes": 5, "end": "2012-11-10T12:00:00", "title": "Ümläute, die länger sind als eine Zeile eines Kalenders sein darf, und noch etwas länger"}'
request GET $feed
expect "it has a type" "text/calendar; charset=utf-8" "$(header Content-Type)"
expect "what comes once has its time" '2012-11-12T08:00:00+00:00 Rates; once, at "eight"' "$(events | grep once)"
expect "what comes often has its days" "2012-11-09 2012-11-10" "$(events | grep Zeile | cut -d' ' -f1 | tr '\n' ' ' | sed 's/ $//')"
etag=$(header ETag)
size=$(header Content-Length)
request GET $feed -H "If-None-Match: $etag"
expect "it stays as it is" 304 "$status"
request PROPFIND $feed -H 'Depth: 0'
expect_match "  and a listing says the same" "$size.*$etag|$etag.*$size" "$(body | tr -d '\n' | sed 's/&quot;/"/g')"

# ---- by its secret address

request PUT $links/phone.json -d '{}'
expect "a link is made" 201 "$status"
address=$(json .url)
request GET $links/phone.json
expect "  and told once" null "$(json .url)"
get() { status=$(curl -sS -o "$work/body" -D "$work/headers" -w '%{http_code}' "$base$1"); }
get "$address"
expect "it needs no log-in" "200 3" "$status $(events | wc -l)"
get "${address%.ics}x.ics"
expect "another address is nobody's" 404 "$status"
request DELETE $links/phone.json
get "$address"
expect "a revoked one, too" 404 "$status"

# ---- holidays

printf '%s\r\n' BEGIN:VCALENDAR BEGIN:VEVENT 'DTSTART;VALUE=DATE:20091225' RRULE:FREQ=YEARLY END:VEVENT END:VCALENDAR >"$work/off.ics"
request PUT /dav/Documents/admin/off.ics --data-binary "@$work/off.ics"
put $schedule/daily.json '{"type": "cron", "route": "collector", "hour": "8", "minute": "0", "start": "2012-12-24", "excludeCalendar": "/dav/Documents/admin/off.ics"}'
expect "an entry takes a calendar" 201 "$status"
uuid=$(basename "$(header Location)" .json)
request GET "$schedule/$uuid.json"
expect "  and passes over its days" "2012-12-24T08:00:00 2012-12-26T08:00:00" "$(json '.upcoming[:2] | join(" ")')"
request POST /clock -H 'Content-Type: application/json' -d '{"set": "2012-12-26T09:00:00Z"}'
request GET "$schedule/$uuid/occurrences.json"
expect "  which it tells" "fired skipped fired" "$(json '[.[].outcome] | join(" ")')"
printf 'BEGIN:VCALENDAR\r\nhello\r\n' >"$work/off.ics"
request PUT /dav/Documents/admin/off.ics --data-binary "@$work/off.ics"
put $schedule/daily.json '{"type": "cron", "route": "collector", "hour": "9", "minute": "0", "excludeCalendar": "/dav/Documents/admin/off.ics"}'
expect_match "a calendar that is none is refused" "^422 .*line 2" "$status $(json '.errors[0].detail')"

finish
