#!/usr/bin/env bash
# What five persons tried, row by row, by the commands alone: who looks after jobs (a), works in an
# office (b), runs the server (c), writes routes (d), writes programs (e). Each step begins with its
# row. habits.sh has what they do every day; the rows about mounts, pages, mails, metrics and
# generated clients are in clients.sh, monitoring.sh and generated.sh, and in the tests of the pages.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mkdir -p "$work/home" "$work/etc"
cat >"$work/etc/fails" <<'SH'
#!/bin/sh
echo 'disk full' >&2
exit 3
SH
printf '#!/bin/sh\nsleep 30\n' >"$work/etc/slow"
chmod +x "$work/etc/fails" "$work/etc/slow"
cat >"$work/etc/config.yaml" <<YAML
commands:
  fails: {path: $work/etc/fails}
  slow: {path: $work/etc/slow, timeout: PT1S}
  hours: {path: $work/etc/slow, timeout: PT2H}
allow-host: [api.example.org, hooks.example.org]
public-url: https://flow.example.org
notify:
  - {webhook: {secret: chat}, template: slack, severity: failure}
  - {webhook: "https://hooks.example.org/topic", template: ntfy}
YAML
export FLOWDRIVE_SECRET_CHAT=https://hooks.example.org/T000/B000/XXXX FLOWDRIVE_SECRET_API=hunter2
start --config "$work/etc/config.yaml"
fd=$binary
export HOME=$work/home XDG_CONFIG_HOME=$work/home/config

# says WHAT PATTERN COMMAND… wants the command to succeed and to print something like it.
says() {
	local what=$1 pattern=$2
	shift 2
	if "$@" >"$work/out" 2>&1 </dev/null; then expect_match "$what" "$pattern" "$(cat "$work/out")"; else not_ok "$what" "$*" "$(tail -n 5 "$work/out")"; fi
}

# exits WHAT CODE PATTERN COMMAND…
exits() {
	local what=$1 want=$2 pattern=$3 code=0
	shift 3
	"$@" >"$work/out" 2>&1 </dev/null || code=$?
	if [[ $code == "$want" ]]; then expect_match "$what" "$pattern" "$(cat "$work/out")"; else not_ok "$what" "$code and not $want of $*" "$(tail -n 5 "$work/out")"; fi
}

# waits_for PATTERN COMMAND… succeeds once the command prints something like it.
waits_for() {
	local pattern=$1
	shift
	[[ $("$@" 2>&1) =~ $pattern ]]
}

# route NAME reads a document, and stores it.
route() {
	cat >"$1.yaml"
	succeeds "$2" "$fd" route put "$1.yaml"
}

cd "$work/home"
printf 'admin\n%s\n' "$admin_password" | "$fd" login "$base" >/dev/null 2>&1

# ---- (a) who looks after jobs

route nightly "a5: a route catches what fails" <<'YAML'
title: Nightly
access: {start: [everyone]}
states: {running: {type: start}, done: {type: complete}, failed: {type: failed}}
actions:
  run: {trigger: init, sideEffects: [{exec: {command: fails, into: Answer}}], onError: {to: failed}}
  finish: {trigger: message, message: Answer, in: [running], to: done}
YAML
entry=$("$fd" schedule add nightly --cron '30 2 * * *' --zone Europe/Berlin -t Backup 2>/dev/null)
succeeds "a8: an entry by a crontab line, fired now" "$fd" schedule trigger "$entry"
eventually "a1: a job that fails is listed as failed" waits_for nightly "$fd" cases --state failed
failed=$("$fd" cases --state failed --route nightly -o name)
says "a1: with the reason" 'disk full' "$fd" log "$failed"
says "a1: and on its entry" 'failed' "$fd" schedule list
says "a4: what it wrote is kept" 'disk full' "$fd" cat "Workflow/Cases/$failed/log.txt"
exits "a1: a program learns it by the exit code" 5 'has failed' "$fd" start nightly --wait
sed -e 's/command: fails/command: slow/' -e 's/title: Nightly/title: Slow/' nightly.yaml >slow.yaml
succeeds "a2: a command that is too slow" "$fd" route put slow.yaml
exits "a2: is ended, and not tried again" 5 'has failed' "$fd" start slow --wait
says "a3: hours are allowed" '' env -u FLOWDRIVE_BIN "$fd" config check --config "$work/etc/config.yaml"
route table "a6: a table is expected to be JSON" <<'YAML'
access: {start: [everyone]}
states: {read: {type: start}, done: {type: complete}}
actions: {take: {trigger: init, onFire: [{jq: {from: InputMessage, filter: ., to: Rows}}]}, end: {trigger: auto, in: [read], to: done}}
YAML
printf 'a,b\n1,2\n' >table.csv
exits "a6: and who gives CSV is told" 5 'failed' "$fd" start table --input table.csv --wait
printf 'route: collector\ntype: interval\nseconds: 1\nrepeat: 1\n' >once.yaml
succeeds "a7: an entry for once" "$fd" schedule add --file once.yaml --name once.yaml
eventually "a7: what became of it can be asked afterwards" waits_for finished "$fd" schedule show once
exits "a8: an entry without its line" 1 'crontab line' sh -c 'printf "route: bug\ntype: crontab\n" | "$0" schedule add --file -' "$fd"
says "a9: 7 is Sunday" 'Sunday' "$fd" schedule add bug --cron '30 2 * * 7' --dry-run
says "a10: ninety minutes are no step of an hour" 'warning' "$fd" schedule add bug --cron '*/90 * * * *' --dry-run
printf 'route: bug\ntype: crontab\nspec: "30 2 * * mon"\ntimezone: Europe/Berlin\ntitle: Monday $__TODAY__;\n' >monday.yaml
says "a11: an entry in YAML, looked at" 'Monday' "$fd" schedule next monday.yaml -n 2
says "a12: its instants, in UTC and as clocks show them" 'Z Mon  Mon .* 02:30:00 CES?T' "$fd" schedule next monday.yaml
succeeds "a13: a title with the day" "$fd" schedule add --file monday.yaml --name monday.yaml
succeeds "a13: fired" "$fd" schedule trigger monday
says "a13: is the title of the case" 'Monday 20[0-9]{2}-' "$fd" cases --route bug
says "a12: an entry of the server, by its name" 'CES?T' "$fd" schedule next monday
says "a14: two chats, and no secret is shown" 'notify: .…, …. ' "$fd" config show --config "$work/etc/config.yaml"
exits "a15: a script that fails fails" 1 'spec' "$fd" schedule add bug --cron 'x 2 * * *'
printf '%s\n' 'MAILTO=ops@example.org' '30 2 * * * /usr/local/bin/backup' '@reboot x' >crontab
exits "a16: a whole crontab, and what is left of it" 1 'left out' "$fd" import crontab crontab --route nightly
printf 'title: Late\naccess: {start: [everyone]}\nroles: {owner: {assign: [starter]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, do: {in: [open], role: owner, to: done, dueIn: P1D, onDue: [{warn: It is late.}]}}\n' >late.yaml
printf 'as: sam\nusers: [sam]\nsteps:\n- start: {title: A}\n- advance: P2D\n  expect: {warnings: [It is late.]}\n' >late.scenario.yaml
says "a17: what happens when a task is late, tried" 'ok' "$fd" route check late.yaml

# ---- (b) who works in an office

printf 'a-good-password-of-ann\n' | "$fd" user add ann --data "$data" >/dev/null
succeeds "b13: a team" "$fd" team join core ann --data "$data"
succeeds "b1: an example is taken" "$fd" route new --from purchase
sed -i 's/team:core/user:admin/' purchase.yaml
succeeds "b1: and stored" "$fd" route put purchase.yaml
chair=$(FLOWDRIVE_URL=$base FLOWDRIVE_USER=ann FLOWDRIVE_PASSWORD=a-good-password-of-ann "$fd" start purchase -t Chairs --set amount:=90 --set supplier=Sit 2>/dev/null)
says "b2: a task has the title of its case" "$chair.approve Chairs" "$fd" ls Workflow/Worklist/Offered
says "b3: and says what it is about" 'Sit' "$fd" cat "Workflow/Worklist/Offered/$chair.approve.json"
"$fd" cat "Workflow/Worklist/Offered/$chair.approve.json" >task.json 2>/dev/null
"$fd" put task.json "Workflow/Worklist/Offered/$chair.approve.json" >/dev/null 2>&1 || true
says "b1: saved as it is, it approves nothing" 'Chairs +active +requested' "$fd" cases --route purchase
says "b4: how to mount it with davfs2" 'buf_size 1024' "$fd" mount-help
says "b5: and with rclone" 'dir-cache-time' "$fd" mount-help
printf '%%PDF-1.4\n' >Quote.pdf
says "b6: a file without what is required becomes a draft" 'Workflow/Cases/' "$fd" put Quote.pdf Workflow/Routes/purchase/
says "b6: which says what is missing" 'amount' "$fd" show "$(basename "$(tail -n 1 "$work/out")" .json)"
says "b7: a board has the states that cases end in" 'ordered' "$fd" ls Workflow/Routes/purchase/Board
exits "b8: refused without a reason" 1 'resolution' "$fd" do "$chair" refuse
expect "b8: said once" 1 "$(grep -c resolution "$work/out")"
succeeds "b9: approved" "$fd" do "$chair" approve
says "b9: and what was done is listed" "$chair" "$fd" ls Workflow/Worklist/Done
printf 'access: {start: [everyone]}\nroles: {cfo: {assign: ["team:nobody"]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, approve: {type: approve, in: [open], role: cfo, to: done}}\n' >cfo.yaml
says "b10: a team that there is not" 'nobody' "$fd" route put cfo.yaml
waits=$("$fd" start cfo 2>/dev/null)
says "b10: a case says that nobody can do it" '[Nn]obody' "$fd" show "$waits"
says "b13: what a team has to do" 'CASE|nothing' "$fd" tasks --for core

# ---- (c) who runs the server

kill -HUP "$server_pid"
succeeds "c1: SIGHUP does not end it" "$fd" status
exits "c2: a mistyped folder" 1 'typo' "$fd" user list --data "$work/typo"
exits "c2: is no installation" 1 '' test -e "$work/typo"
succeeds "c3: a backup while it runs" "$fd" backup "$work/backups" --data "$data"
succeeds "c3: restored" "$fd" restore "$work"/backups/2* --data "$work/restored"
succeeds "c3: and sound" "$fd" check --data "$work/restored"
succeeds "c4: a name with a dot" sh -c 'echo a-good-password-of-smith | "$0" user add a.smith --data "$1"' "$fd" "$data"
says "c5: commit and date of the program" 'go1' "$fd" version
succeeds "c5: man pages" "$fd" man "$work/man"
printf 'quota: lots\ndatta: x\naddr: 1\n' >bad.yaml
exits "c6: every fault of the settings, with its line" 78 'bad.yaml:2' "$fd" config check --config bad.yaml
expect "c6: at once" 3 "$(grep -c 'bad.yaml:[0-9]' "$work/out")"
says "c7: users for programs" '"name": "a.smith"' "$fd" user list --data "$data" -o json
exits "c8: a certificate that is not there" 1 'none.pem' "$fd" serve --data "$work/tls" --addr 127.0.0.1:0 --tls-cert "$work/none.pem" --tls-key "$work/none.pem"
exits "c8: makes no data folder" 1 '' test -e "$work/tls"
expect_match "c9: the log begins with what it is" 'listening|started|ready' "$(tr '\n' ' ' <"$work/server.log")"
succeeds "c10: containers ask whether it is ready" env FLOWDRIVE_DATA="$data" FLOWDRIVE_ADDR="127.0.0.1:$port" "$fd" healthcheck
says "c12: what somebody has goes to another when they are deleted" '' env FLOWDRIVE_URL="$base" FLOWDRIVE_USER=admin FLOWDRIVE_PASSWORD="$admin_password" "$fd" rm Admin/Users/a.smith.json
says "c15: one address for all links" 'https://flow.example.org' "$fd" config show --config "$work/etc/config.yaml"

# ---- (d) who writes routes

says "d1: the language, on a terminal" 'guard' "$fd" help route
says "d1: the verbs of steps" 'exec' "$fd" help steps
says "d1: the variables of expressions" 'xattr' "$fd" help expressions

# mistake ROW PATTERN OLD NEW makes a mistake in a route, which is found or warned of.
mistake() {
	local row=$1 pattern=$2 code=0
	sed "s^$3^$4^" purchase.yaml >wrong.yaml
	if cmp -s purchase.yaml wrong.yaml; then not_ok "$row" "the example has no $3"; return; fi
	"$fd" route check wrong.yaml >"$work/out" 2>&1 || code=$?
	expect_match "$row" "$pattern" "$(tr '\n' ' ' <"$work/out")"
}
mistake "d2: names of users as everywhere" 'user:' 'assign: .*admin.*' 'assign: ["admin"]'
mistake "d4: a misspelled XATTR" 'ammount' 'xattr.amount >' 'xattr.ammount >'
mistake "d5: a number compared with a text" 'number|overload|text' 'xattr.amount > 500' 'xattr.amount > "500"'
mistake "d9b: where an action is possible" 'are its in' '    in: .requested.$' '    from: [requested]'
mistake "d11: words in place of signs" '&&' 'xattr.amount > 500' 'xattr.amount > 500 and true'
printf 'access: {start: [everyone]}\nstates: {a: {type: start, complete: true}}\nactions: {begin: {trigger: init, sideEffects: [{mail: {to: [starter], subject: "$__TITEL__;", text: x}}]}}\n' >label.yaml
says "d6: an unknown label" 'TITEL' "$fd" route check label.yaml
says "d8: warnings of what is stored are printed" 'TITEL' "$fd" route put label.yaml
says "d12: CSV is read without a script" 'csv' "$fd" help steps
printf '# yaml-language-server: $schema=x\n$schema: https://example.org/x\naccess: {start: [everyone]}\nstates: {a: {type: start, complete: true}}\nactions: {begin: {trigger: init}}\n' >schema.yaml
says "d14: a document may name its schema" 'ok' "$fd" route check schema.yaml
says "d15: a picture of a file" 'stateDiagram' "$fd" route graph purchase.yaml -o mermaid
says "d15: and one for a page" '<svg' "$fd" route graph purchase -o svg

# ---- (e) who writes programs

printf '{"route": "bug", "title": "The printer is on fire"}\n' >printer.json
succeeds "e10: a case under a name of one's own" "$fd" put printer.json Workflow/Cases/
says "e10: has its log under it" 'Created' "$fd" log printer
says "e13: an entry is named in one form" "^$entry" "$fd" schedule show "$entry" -o name
route api "e8: a secret in a header is named, not written" <<'YAML'
access: {start: [everyone]}
states: {asked: {type: start}, done: {type: complete}}
actions:
  ask: {trigger: init, sideEffects: [{http: {method: POST, url: "https://api.example.org/x", headers: {Authorization: {secret: api}}, into: Answer}}]}
  end: {trigger: message, message: Answer, in: [asked], to: done}
YAML
expect "e8: and is nowhere in the route" 0 "$("$fd" route get api | grep -c hunter2 || true)"
says "JSON is what the drive has" 'Chairs' sh -c '"$0" cases --all --route purchase -o json | jq -r ".[].title"' "$fd"

finish
