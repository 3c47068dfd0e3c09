#!/usr/bin/env bash
# One's own account, told with curl: who I am, a new password, passwords for
# devices, a deputy, and what the audit log keeps of it all. The clock is the
# sandbox's, so that a deputy's days pass in no time.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for tool in curl jq; do
	if ! command -v "$tool" >/dev/null; then
		skip account "there is no $tool"
		finish
	fi
done

account=/dav/Account
cases=/dav/Workflow/Cases
audit=/dav/Admin/Audit/2012-11-09.jsonl

start --sandbox 2012-11-09T12:34:56Z
for name in ann dora sam; do
	passwords[$name]="a-password-of-$name"
	put "/dav/Admin/Users/$name.json" "{\"password\": \"${passwords[$name]}\"}"
done
put /dav/Admin/Teams/core.json '{"members": ["ann"]}'
ok "the server starts, with a team and three users"

# ---- who I am

as ann request GET $account/me.json
expect "me.json tells who I am" "200 ann" "$status $(json .name)"
expect "  and what I belong to" "ann core everyone" "$(json '[.contexts[].name] | sort | join(" ")')"
expect "  with ids" true "$(json '[.contexts[].id | type == "number"] | all')"
expect "  and no secret" "contexts deputy email emailPending fullName mail name notify timezone warnings watch" "$(json 'keys | join(" ")')"
etag=$(header ETag)
as ann put $account/me.json '{"fullName": "Ann Example", "email": "ann@example.org"}' -H "If-Match: $etag"
expect "a field can be changed" 204 "$status"
as ann put $account/me.json '{"fullName": "Somebody"}' -H "If-Match: $etag"
expect "  not on a version that has gone" 412 "$status"
as ann request GET $account/me.json
expect "  the others stay" "Ann Example ann@example.org" "$(json '"\(.fullName) \(.email)"')"
as ann put $account/me.json '{"name": "root", "admin": true, "email": "no address"}'
expect "what is not mine to change is told, all of it" "422 /admin /email /name" "$status $(json '[.errors[].pointer] | sort | join(" ")')"
as sam request GET $account/people.json
expect "people.json has the names for roles" "200 admin,ann,dora,sam" "$status $(json '[.users[].name] | sort | join(",")')"
expect "  and the teams" "core,everyone" "$(json '[.teams[].name] | sort | join(",")')"
as sam request GET /dav/Admin/Users/ann.json
expect "others see no more than that" 404 "$status"

# ---- a new password

as ann put $account/me.json '{"password": "a-new-password-of-ann"}'
expect "a new password needs the old one" "422 /oldPassword required" "$status $(json '.errors[0] | "\(.pointer) \(.code)"')"
as ann put $account/me.json '{"password": "a-new-password-of-ann", "oldPassword": "guessed"}'
expect "  the right one" "422 /oldPassword" "$status $(json '.errors[0].pointer')"
as ann put $account/me.json "{\"password\": \"a-new-password-of-ann\", \"oldPassword\": \"${passwords[ann]}\"}"
expect "  then it is changed" 204 "$status"
as ann request GET $account/me.json
expect "  and the old one is none at once" 401 "$status"
passwords[ann]=a-new-password-of-ann
as ann request GET $account/me.json
expect "  the new one is" 200 "$status"
for _ in 1 2 3 4 5 6; do
	as ann put $account/me.json '{"password": "x", "oldPassword": "guessed"}'
done
expect "guessing is slowed down as at a log-in" 429 "$status"
expect_match "  it says for how long" '^[0-9]+$' "$(header Retry-After)"

# ---- passwords for devices

as sam put $account/AppPasswords/phone.json '{}'
expect "a password for a device" "201 $account/AppPasswords/phone.json" "$status $(header Location)"
expect_match "  its secret is told once" '^fd-[a-z2-7]{32}$' "$(json .secret)"
passwords[sam]=$(json .secret)
own='a-password-of-sam'
as sam request GET $account/AppPasswords/phone.json
expect "  it logs in" "200 phone" "$status $(json .label)"
expect "  the secret is not told again" null "$(json .secret)"
as sam put $account/AppPasswords/tablet.json '{}'
expect "  it cannot change the account" "403 urn:flowdrive:problem:not-allowed" "$status $(json .type)"
secret=${passwords[sam]}
passwords[sam]=$own
# shellcheck disable=SC2317 # eventually calls it
used() { as sam request GET "$account/AppPasswords/phone.json" && [[ $(json .lastUsed) == 2012-11-09T12:34:56Z ]]; }
eventually "  its last use is shown" used
as sam put $account/AppPasswords/Phone.json '{}'
expect "a label names one" "409 urn:flowdrive:problem:name-taken" "$status $(json .type)"
as dora request GET $account/AppPasswords/phone.json
expect "  which only its user sees" 404 "$status"
as sam request DELETE $account/AppPasswords/phone.json
expect "it can be revoked" 204 "$status"
passwords[sam]=$secret
as sam request GET $account/me.json
expect "  at once" 401 "$status"
passwords[sam]=$own

# ---- a deputy

as sam put $cases/new.json '{"route": "bug", "title": "The printer is on fire"}'
number=$(header Location | sed 's/.*\///; s/\.json$//')
expect_match "a case is there for ann's team" '^[0-9]+$' "$number"
as dora request GET "$cases/$number.json"
expect "dora does not see it" 404 "$status"
put /dav/Admin/Users/ann.json '{"deputy": {"user": "dora", "from": "2012-11-10T00:00:00Z", "to": "2012-11-12T00:00:00Z"}}'
expect "dora stands in for ann, from the next day on" 204 "$status"
as dora request GET "$cases/$number.json"
expect "  not before" 404 "$status"
request POST /clock -H 'Content-Type: application/json' --data-binary '{"advance": "P1D"}'
as dora request GET "$cases/$number.json"
expect "  the next day she sees the case" 200 "$status"
as dora request GET "$cases/.contents"
expect "  in lists as well" "$number" "$(json '[.[].id | tostring] | join(" ")')"
as dora put "$cases/$number/Actions/resolve.json" '{"comment": "Put out."}'
expect "  and acts for ann" 204 "$status"
request GET "$cases/$number/log.json"
expect "  the log names both" "dora ann" "$(json '[.[] | select(.action == "resolve")][0] | "\(.actor) \(.onBehalfOf)"')"
request POST /clock -H 'Content-Type: application/json' --data-binary '{"advance": "P2D"}'
as dora request GET "$cases/$number.json"
expect "  until her time is over" 404 "$status"

# ---- a user who has left

put /dav/Admin/Users/sam.json '{"disabled": true}'
as sam request GET $account/me.json
expect "a disabled user is out at once" 401 "$status"

# ---- the audit log

request GET $audit
expect "the audit log of the day" "200 application/x-ndjson" "$status $(header Content-Type)"
rows() { jq -r "select($1) | \"\(.actor) \(.target) \(.outcome)\"" "$work/body" | sort -u; }
expect "  who changed a password" "ann ann done" "$(rows '.action == "password-change" and .actor == "ann" and .outcome == "done"')"
expect "  and who could not" "ann ann refused" "$(rows '.action == "password-change" and .outcome == "refused"')"
expect "  who got and revoked a device's" "sam sam/phone done" "$(rows '.action == "app-password-add"')"
expect "  who was refused" "sam PUT $account/AppPasswords/tablet.json refused" "$(rows '.action == "request"')"
expect "  who became a deputy" "admin ann done" "$(rows '.action == "deputy-change"')"
expect_match "  what log-ins failed" 'ann ann refused' "$(rows '.action == "log-in"')"
fails "  and no secret" grep -e "$secret" -e "$own" -e guessed -e a-new-password "$work/body"
size=$(header Content-Length)
request GET $audit -H "Range: bytes=$size-"
expect "  its end can be waited for" 416 "$status"
as dora request GET $audit
expect "  nobody else reads it" 404 "$status"
request DELETE $audit
expect "  nobody changes it" 405 "$status"
request GET /dav/Admin/Audit/2012-11-12.jsonl
expect "  each day has its own" "user-disable" "$(jq -r 'select(.action == "user-disable") | .action' "$work/body")"
stop
expect "the server stops" 0 "$stopped"
start --sandbox 2012-11-09T12:34:56Z
request GET $audit
expect "what was written is kept" "200 $size" "$status $(header Content-Length)"

finish
