#!/usr/bin/env bash
# Attachments, told with curl: upload a file, let a nightly entry take it as
# the input of its cases, see that it can neither be deleted under the entry
# nor read by others, and that what expires is gone. The clock is the
# sandbox's.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for tool in curl jq sha256sum cmp; do
	if ! command -v "$tool" >/dev/null; then
		skip attachments "there is no $tool"
		finish
	fi
done

schedule=/dav/Workflow/Schedule
cases=/dav/Workflow/Cases

advance() { request POST /clock -H 'Content-Type: application/json' --data-binary "{\"advance\": \"$1\"}"; }

# upload PATH FILE [curl option…] stores an attachment; its UUID is in $uuid.
upload() {
	local path=$1 file=$2
	shift 2
	request PUT "$path" --upload-file "$file" "$@"
	uuid=$(header X-OpenGroupware-AttachmentUUID)
}

# stored prints how many contents are on disk, whole or half-written.
stored() { find "$data" -type f -path '*/[0-9a-f][0-9a-f]/*' | wc -l; }

start --sandbox 2012-11-09T12:34:56Z
for person in ann bob; do
	passwords[$person]="the-password-of-$person"
	put "/dav/Admin/Users/$person.json" "{\"password\": \"${passwords[$person]}\"}"
done
put /dav/Admin/Teams/ops.json '{"members": ["admin", "ann"]}'
expect "two users and a team" 201 "$status"

# ---- upload, view, download

head -c 3000000 /dev/urandom >"$work/rates.ods"
upload /attachfs/rates.ods "$work/rates.ods"
expect "PUT of a file" 201 "$status"
expect_match "  its UUID" '^[0-9a-f]{32}$' "$uuid"
expect "  is the ETag" "\"$uuid\"" "$(header ETag)"
expect "  and in Location" "/attachfs/view/$uuid" "$(header Location)"
request GET "/attachfs/view/$uuid"
expect "GET view" "200 application/vnd.oasis.opendocument.spreadsheet" "$status $(header Content-Type)"
succeeds "  the same bytes" cmp "$work/rates.ods" "$work/body"
expect "  in a sandbox" "sandbox; default-src 'none' nosniff" "$(header Content-Security-Policy) $(header X-Content-Type-Options)"
request HEAD "/attachfs/view/$uuid" --head
expect "HEAD view" "200 3000000" "$status $(header Content-Length)"
request GET "/attachfs/download/$uuid" -H 'Range: bytes=2999990-'
expect "GET download, a range of it" "206 10" "$status $(wc -c <"$work/body")"
expect_match "  for saving" "^attachment; filename\*=UTF-8''rates\.ods" "$(header Content-Disposition)"
request GET "/attachfs/view/$uuid" -H "If-None-Match: \"$uuid\""
expect "GET view, not modified" 304 "$status"
for form in "{${uuid:0:8}-${uuid:8:4}-${uuid:12:4}-${uuid:16:4}-${uuid:20}}" "${uuid^^}"; do
	request GET "/attachfs/view/$form" --globoff
	expect "the UUID as $form" 200 "$status"
done
rates=$uuid
upload /attachfs/copy.bin "$work/rates.ods" -H 'Content-Type: application/x-mine'
expect "the same bytes under another name: another attachment" "201 different" \
	"$status $([[ $uuid == "$rates" ]] && echo same || echo different)"
expect "  and one content" 1 "$(stored)"
request GET /attachfs/.contents
expect ".contents" "2 rates.ods 3000000 null 2012-12-09T12:34:56Z" \
	"$(json '"\(length) \(.[0].name) \(.[0].size) \(.[0].boundTo) \(.[0].expires)"')"
expect "  with the digest" "$(sha256sum <"$work/rates.ods" | cut -d' ' -f1)" "$(json '.[0].sha256')"
request PROPFIND /attachfs/ -H 'Depth: 1'
expect "PROPFIND lists it" "207 1" "$status $(grep -o "/attachfs/$rates<" "$work/body" | sort -u | wc -l)"
request DELETE "/attachfs/download/$uuid"
expect "DELETE of the second" 204 "$status"
request GET "/attachfs/view/$rates"
succeeds "  leaves the first" cmp "$work/rates.ods" "$work/body"

as bob request GET "/attachfs/view/$rates"
expect "for others it is not there" 404 "$status"
as bob request DELETE "/attachfs/$rates"
expect "  nor to delete" 404 "$status"

# ---- a body that breaks off

before=$(stored)
printf 'PUT /attachfs/broken.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\nContent-Length: 1000000\r\n\r\nthe beginning' \
	"$(printf '%s' "admin:$admin_password" | base64 -w0)" >"$work/broken"
(exec 3<>"/dev/tcp/127.0.0.1/$port" && cat "$work/broken" >&3) || true
gone() { [[ $(find "$data" -type f -path '*spool*' | wc -l) == 0 ]]; }
eventually "a body that breaks off leaves nothing half-written" gone
expect "  nor anything whole" "$before" "$(stored)"
request GET /attachfs/.contents
expect "  nor in the list" 1 "$(json length)"

# ---- a nightly entry takes it

put "$schedule/nightly.json" "{\"type\": \"cron\", \"route\": \"collector\", \"hour\": \"23\", \"minute\": \"0\", \"attachmentUUID\": \"$rates\"}"
expect "PUT of an entry that names it" 201 "$status"
entry=$(basename "$(header Location)" .json)
advance P2D
expect "two nights" "200 2" "$status $(json .fired)"
request GET "$cases/.contents?route=collector"
expect "two cases" 2 "$(json length)"
for id in $(json '.[].id'); do
	request GET "$cases/$id/input"
	expect "the input of case $id" "200 application/vnd.oasis.opendocument.spreadsheet" "$status $(header Content-Type)"
	succeeds "  the same bytes" cmp "$work/rates.ods" "$work/body"
done
expect "no copies" 1 "$(stored)"
request DELETE "/attachfs/$rates"
expect "DELETE under an entry" "409 urn:flowdrive:problem:in-use" "$status $(json .type)"

put "$schedule/x.json" '{"type": "interval", "hours": 1, "route": "collector", "attachmentUUID": "00000000000000000000000000000001"}'
expect "an entry that names what is not there" "422 /attachmentUUID not-found" "$status $(json '.errors[0] | "\(.pointer) \(.code)"')"
as bob put "$schedule/x.json" "{\"type\": \"interval\", \"hours\": 1, \"route\": \"collector\", \"attachmentUUID\": \"$rates\"}"
expect "  or is another's" "422 /attachmentUUID not-found" "$status $(json '.errors[0] | "\(.pointer) \(.code)"')"

put "$cases/new.json" "{\"route\": \"collector\", \"attachmentUUID\": \"$rates\"}"
expect "a case that is started with it" 201 "$status"
request GET "$(header Location | sed 's/\.json$//')/output"
succeeds "  has it" cmp "$work/rates.ods" "$work/body"

# ---- missing at firing

printf 'of the team\n' >"$work/ours.txt"
as bob upload '/attachfs/ours.txt?context=ops' "$work/ours.txt"
expect "to a team that is not one's own" 403 "$status"
upload '/attachfs/ours.txt?context=ops' "$work/ours.txt"
expect "to one's team" 201 "$status"
as ann request GET "/attachfs/view/$uuid"
expect "  its members see it" "200 of the team" "$status $(body)"
as ann put "$schedule/ours.json" "{\"type\": \"cron\", \"route\": \"collector\", \"hour\": \"22\", \"attachmentUUID\": \"$uuid\", \"minute\": \"0\"}"
expect "  and may let an entry take it" 201 "$status"
ours=$(basename "$(header Location)" .json)
put /dav/Admin/Teams/ops.json '{"members": ["admin"]}'
advance P1D
as ann request GET "$schedule/$ours/occurrences.json"
expect "who has left the team: no case, and the reason" "failed null There is no attachment $uuid that ann may use." \
	"$(json '.[0] | "\(.outcome) \(.case) \(.reason)"')"
as ann request GET "$schedule/ours.json"
expect "  the entry goes on" 200 "$status"
put /dav/Admin/Teams/ops.json '{"members": ["admin", "ann"]}'
advance P1D
as ann request GET "$schedule/$ours/occurrences.json"
expect "  and fires when it is there again" fired "$(json '.[0].outcome')"

# ---- bound to a case

put "$cases/new.json" '{"route": "bug"}'
case_id=$(basename "$(header Location)" .json)
upload "/attachfs/$case_id/screen.html" "$work/ours.txt"
expect "an attachment of a case" 201 "$status"
request GET "/attachfs/$case_id/.contents"
expect "  in its list" "screen.html $case_id null" "$(json '.[0] | "\(.name) \(.boundTo) \(.expires)"')"
as bob request GET "/attachfs/view/$uuid"
expect "  who does not see the case does not see it" 404 "$status"
request GET "/attachfs/$uuid"
expect "HTML is for saving" attachment "$(header Content-Disposition)"
request GET "/attachfs/view/$uuid"
expect_match "  but below view/" '^inline; ' "$(header Content-Disposition)"

# ---- expiry

upload /attachfs/brief.txt "$work/ours.txt" -H 'X-Expires-In: PT1H'
brief=$uuid
upload /attachfs/brief.txt "$work/ours.txt" -H 'X-Expires-In: soon'
expect "X-Expires-In that is none" 400 "$status"
advance PT59M
request GET "/attachfs/view/$brief"
expect "before it expires" 200 "$status"
advance PT1M
request GET "/attachfs/view/$brief"
expect "when it has expired" 404 "$status"
advance P60D
request GET "/attachfs/view/$rates"
expect "what an entry names does not" 200 "$status"
request DELETE "$schedule/$entry.json"
request GET "/attachfs/view/$rates"
expect "  nor at once when none names it any more" "200" "$status"
advance P30D
request GET "/attachfs/view/$rates"
expect "  but thirty days later" 404 "$status"

# ---- a restart

stop
expect "the server stops in good order" 0 "$stopped"
start --sandbox 2012-11-09T12:34:56Z
request GET "/attachfs/$case_id/.contents"
expect "after a restart" "200 1" "$status $(json length)"
finish
