#!/usr/bin/env bash
# What people do every day, by the commands alone: who looks after jobs, who works in an
# office, who runs the server, who writes routes, who writes programs. No curl, no grep over
# JSON.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

start --sandbox 2012-11-09T12:34:56Z
fd=$binary
unset "${!FLOWDRIVE_@}"

# at HOME COMMAND… does it as the user that is logged in there.
at() {
	local who=$1
	shift
	HOME=$work/$who XDG_CONFIG_HOME=$work/$who/config "$fd" "$@"
}

# says WHAT PATTERN COMMAND… wants the command to succeed and to print something like it.
says() {
	local what=$1 pattern=$2
	shift 2
	if "$@" >"$work/out" 2>&1 </dev/null; then expect_match "$what" "$pattern" "$(cat "$work/out")"; else not_ok "$what" "$*" "$(tail -n 5 "$work/out")"; fi
}

# exits WHAT CODE COMMAND…
exits() {
	local what=$1 want=$2 code=0
	shift 2
	"$@" >"$work/out" 2>&1 </dev/null || code=$?
	expect "$what" "$want" "$code"
}

# log_in NAME PASSWORD
log_in() {
	mkdir -p "$work/$1"
	printf '%s\n%s\n' "$1" "$2" | at "$1" login "$base" >"$work/out" 2>&1
}

# ---- who runs the server

for name in ann tom; do
	passwords[$name]=a-good-password-of-$name
	printf '%s\n' "${passwords[$name]}" | "$fd" user add "$name" --data "$data"
done
succeeds "a team" "$fd" team join core tom --data "$data"
says "who there is" 'tom' "$fd" user list --data "$data"
succeeds "somebody leaves" "$fd" user disable ann --data "$data"
succeeds "and comes back" "$fd" user enable ann --data "$data"
exits "a mistyped folder is no new installation" 1 "$fd" user list --data "$work/typo"
exits "and makes none" 1 test -e "$work/typo"
succeeds "a backup while it runs" "$fd" backup "$work/backups" --data "$data"
succeeds "the data is sound" "$fd" check --data "$data"
succeeds "the settings can be read" "$fd" config show
succeeds "man pages" "$fd" man "$work/man"

for name in admin ann tom; do
	succeeds "$name logs in" log_in "$name" "${passwords[$name]}"
done
exits "a wrong password is 6" 6 env FLOWDRIVE_URL="$base" FLOWDRIVE_USER=ann FLOWDRIVE_PASSWORD=wrong "$fd" tasks
exits "no server is 9" 9 env FLOWDRIVE_URL=http://127.0.0.1:1 FLOWDRIVE_USER=ann FLOWDRIVE_PASSWORD=x "$fd" tasks

# ---- who writes routes

cd "$work"
succeeds "an example is written" at admin route new --from purchase
says "it is checked, and its scenario played" 'purchase.yaml: ok' at admin route check purchase.yaml
sed 's/role: head/role: heads/' purchase.yaml >broken.yaml
exits "a mistake is found" 1 at admin route check broken.yaml
expect_match "with its place and a hint" 'broken.yaml:[0-9]+:.*did you mean "head"' "$(tr '\n' ' ' <"$work/out")"
succeeds "it is stored" at admin route put purchase.yaml purchase.scenario.yaml
says "and listed" 'purchase' at ann route list
says "and drawn" 'stateDiagram' at ann route graph purchase -o mermaid
succeeds "nothing differs" at admin route diff purchase.yaml
says "help has the language" 'distinct' "$fd" help route

# ---- who works in an office

case=$(at ann start purchase -t "A chair" --set amount:=180 --set supplier="Sit & Co" 2>/dev/null)
expect_match "ann asks for a chair" '^[0-9]+$' "$case"
says "tom has to decide" 'A chair' at tom tasks
says "and looks at it" 'Requested' at tom show "$case"
exits "ann may not approve her own" 6 at ann do "$case" approve
exits "an incomplete request is 1" 1 at ann start purchase -t "A lamp"
succeeds "tom approves" at tom do "$case" approve -m "fine"
says "who did what" 'fine' at ann log "$case"
exits "too late is 8" 8 at tom do "$case" refuse --resolution budget
exits "what is not there is 7" 7 at ann show 999999
printf 'the offer\n' >offer.txt
succeeds "a file" at ann put offer.txt Documents/ann/
says "is there" 'offer.txt' at ann ls Documents/ann
says "and can be read" 'the offer' at ann cat /Documents/ann/offer.txt
succeeds "it is renamed" at ann mv Documents/ann/offer.txt Documents/ann/offer-1.txt
succeeds "and deleted" at ann rm Documents/ann/offer-1.txt
again=$(at ann start purchase -t "A boat" --set amount:=90000 --set supplier="Sea" 2>/dev/null)
succeeds "one is canceled" at ann cancel "$again"
succeeds "and back" at admin reopen "$again"

# ---- who looks after jobs

printf '%s\n' 'CRON_TZ=Europe/Berlin' '30 2 * * 1-5 /usr/local/bin/backup' '@daily /usr/local/bin/tidy' >crontab
says "a crontab, tried" 'backup' at admin import crontab crontab --route collector --dry-run
succeeds "a crontab" at admin import crontab crontab --route collector
succeeds "a second time makes nothing twice" at admin import crontab crontab --route collector
expect "two entries" 2 "$(at admin schedule list -o name | wc -l)"
says "when they fire" '02:30' at admin schedule list
entry=$(at admin schedule add --every 15m collector -t Often 2>/dev/null)
expect_match "every quarter of an hour" '^[0-9a-f]{32}$' "$entry"
succeeds "once" at admin schedule add --at '2012-12-01 08:00' --zone Europe/Berlin collector
succeeds "paused" at admin schedule pause "$entry" -m "for now"
says "with its reason" 'for now' at admin schedule show "$entry"
succeeds "resumed" at admin schedule resume "$entry"
succeeds "fired now" at admin schedule trigger "$entry"
says "and what became of it" 'triggered' at admin schedule show "$entry"
printf 'route: collector\ntype: crontab\nspec: "0 6 * * 7"\n' >weekly.yaml
says "an entry in YAML, looked at" 'Sunday' "$fd" schedule next weekly.yaml
succeeds "and stored" at admin schedule add --file weekly.yaml
succeeds "deleted" at admin schedule rm "$entry"
succeeds "how the server stands" at admin status

# ---- who writes programs

expect "JSON is an array of documents" "$case" "$(at ann cases --all --route purchase -o json | jq -r '.[] | select(.title == "A chair") | .id')"
says "names are what commands take" "$case" at ann cases --all --route purchase -o name
says "YAML" 'title: A chair' at ann cases --all --route purchase -o yaml
says "completion asks the server" 'purchase' at ann __complete start purch

finish
