#!/usr/bin/env bash
# What five persons tried, row by row, by the commands alone: who looks after jobs (a), works in an
# office (b), runs the server (c), writes routes (d), writes programs (e), who has curl as well. Each
# step begins with its row. habits.sh has what they do every day. Mounts, pages, generated clients
# and images are more than a command can show: see clients.sh, generated.sh, packages.sh and the
# tests of the pages.
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
# What services are told is kept, a JSON object a line: path, headers, body.
cat >"$work/etc/receiver.py" <<'PYTHON'
import http.server, json, sys


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with open(sys.argv[2], "a") as told:
            print(json.dumps({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body}), file=told)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
PYTHON
service=127.0.0.1:$(free_port)
: >"$work/told"
/usr/bin/python3 "$work/etc/receiver.py" "${service#*:}" "$work/told" &
receiver=$!
end_session() { kill "$receiver" 2>/dev/null || true; }

cat >"$work/etc/config.yaml" <<YAML
commands:
  fails: {path: $work/etc/fails}
  slow: {path: $work/etc/slow, timeout: PT1S}
  hours: {path: $work/etc/slow, timeout: PT2H}
allow-host: ["$service"]
public-url: https://flow.example.org
notify:
  - {webhook: {secret: chat}, template: slack, severity: failure}
  - {webhook: "http://$service/topic", template: ntfy, routes: [nightly]}
  - {webhook: "http://$service/standard", sign: {secret: sign}, kinds: [failure]}
YAML
signing=$(printf 'a key of twenty-four by' | base64)
export FLOWDRIVE_SECRET_CHAT=http://$service/T000/B000/XXXX FLOWDRIVE_SECRET_API=hunter2 FLOWDRIVE_SECRET_SIGN=whsec_$signing FLOWDRIVE_SECRET_GITHUB=known-to-both
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

# told FILTER prints what a jq filter yields for each request that the service got.
told() { jq -r "$1" "$work/told"; }

# admin COMMAND… does with the own password what an app password may not.
admin() { FLOWDRIVE_PASSWORD=$admin_password "$fd" "$@"; }

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
says "a14: three services, and no secret is shown" 'notify: .…, …, …. ' "$fd" config show --config "$work/etc/config.yaml"
route chat "a14: a route that tells a chat, whose address is a secret" <<'YAML'
access: {start: [everyone]}
states: {asked: {type: start}, done: {type: complete}}
actions:
  ask: {trigger: init, sideEffects: [{http: {method: POST, url: {secret: chat}, value: {text: Hello}, into: Answer}}]}
  end: {trigger: message, message: Answer, in: [asked], to: done}
YAML
succeeds "a14: it tells it" "$fd" start chat --wait
expect "a14: the chat has it" '{"text":"Hello"}' "$(told 'select(.path == "/T000/B000/XXXX").body' | grep -x '{"text":"Hello"}')"
says "a14: the log of the case names the secret" 'http POST \{secret: chat\}' "$fd" log "$("$fd" cases --all --route chat -o name)"
expect "a14: and does not have the address" 0 "$(grep -c XXXX "$work/out" || true)"
failure_in_chat() { told 'select(.path == "/T000/B000/XXXX").body | fromjson.text' | grep 'Failed: Backup: .*disk full'; }
eventually "a14: a failure is told to the chat in its own form" failure_in_chat
failure_on_phone() { told 'select(.path == "/").body | fromjson | select(.topic == "topic").message' | grep 'disk full'; }
eventually "a14: and to a phone, of the routes that it asks for" failure_on_phone
exits "a15: a script that fails fails" 1 'cron' "$fd" schedule add bug --cron 'x 2 * * *'
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
draft=$("$fd" cases --route purchase --state draft -o name)
succeeds "b6: which is given" "$fd" do "$draft" start --set amount:=20 --set supplier=Sit
says "b6: and the case begins with the file" 'Quote.pdf' "$fd" ls "Workflow/Cases/$draft/Files"
says "b6: like any other" "$draft +purchase +Quote +active +requested" "$fd" cases --route purchase
says "b7: a board has the states that cases end in" 'ordered' "$fd" ls Workflow/Routes/purchase/Board
exits "b8: refused without a reason" 1 'resolution' "$fd" do "$chair" refuse
expect "b8: said once" 1 "$(grep -c resolution "$work/out")"
succeeds "b9: approved" "$fd" do "$chair" approve
says "b9: and what was done is listed" "$chair" "$fd" ls Workflow/Worklist/Done
printf 'access: {start: [everyone]}\nroles: {cfo: {assign: ["team:nobody"]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, approve: {type: approve, in: [open], role: cfo, to: done}}\n' >cfo.yaml
says "b10: a team that there is not" 'nobody' "$fd" route put cfo.yaml
waits=$("$fd" start cfo 2>/dev/null)
says "b10: a case says that nobody can do it" '[Nn]obody' "$fd" show "$waits"
says "b10: and so does what is late" 'Nobody' "$fd" cat Workflow/Status/late.txt
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
exits "c8: a certificate that is not there is a wrong setting" 78 'none.pem' "$fd" serve --data "$work/tls" --addr 127.0.0.1:0 --tls-cert "$work/none.pem" --tls-key "$work/none.pem"
exits "c8: makes no data folder" 1 '' test -e "$work/tls"
exits "c8: and is found before" 78 'none.pem' "$fd" config check --tls-cert "$work/none.pem" --tls-key "$work/none.pem"
logged() { grep '^{' "$work/server.log" | jq -r "$1"; }
expect "c9: the log says what runs, where, and over which data" "$("$fd" version --json | jq -r .version) 127.0.0.1:$port $data" "$(logged 'select(.message == "server: ready") | "\(.version) \(.address) \(.data)"' | head -n 1)"
succeeds "c10: containers ask whether it is ready" env FLOWDRIVE_DATA="$data" FLOWDRIVE_ADDR="127.0.0.1:$port" "$fd" healthcheck
request GET /metrics
expect "c11: what has failed is counted" 1 "$(body | grep -c '^flowdrive_cases_ended_total{state="failed"} [1-9]')"
expect "c11: a counter is there before its first event" 'flowdrive_schedule_firings_total{outcome="failed"} 0' "$(body | grep '^flowdrive_schedule_firings_total{outcome="failed"}')"
for gauge in 'cases{state="queued"}' outbox_pending outbox_oldest_seconds sweeper_behind_seconds 'database_bytes{file="database"}' 'logins_refused_total{reason="wrong"}'; do
	expect "c11: there is $gauge" 1 "$(body | grep -v '^#' | grep -cF "flowdrive_$gauge ")"
done
succeeds "c12: somebody has another name" admin mv Admin/Users/ann.json Admin/Users/anna.json
says "c12: by which their cases have them" 'Started by +anna' "$fd" show "$chair"
exits "c12: who has something is not simply deleted" 8 'Chairs' admin rm Admin/Users/anna.json
succeeds "c12: but hands it over" admin rm Admin/Users/anna.json --hand-over a.smith
says "c12: to whom it is then" 'Started by +anna \(handed over to a.smith\)' "$fd" show "$chair"
printf 'a-password-of-the-first-start\n' >first-password
chmod 600 first-password
says "c14: the first password comes from a file, and is not shown" 'is the one in FLOWDRIVE_ADMIN_PASSWORD_FILE' env FLOWDRIVE_ADMIN_PASSWORD_FILE=first-password "$fd" init --data "$work/silent"
expect "c14: nowhere" 0 "$(grep -c a-password-of "$work/out" || true)"
says "c14: without one it is made up, and shown once" 'password of admin is [0-9a-f]{20} ' "$fd" init --data "$work/told-once"
says "c15: one address for all links" 'https://flow.example.org' "$fd" config show --config "$work/etc/config.yaml"

# ---- (d) who writes routes

helps() { "$fd" help "$1" >"$work/out" 2>&1 && for word in "${@:2}"; do grep -qE "^\| \`$word\`" "$work/out" || { echo "help $1 lacks $word"; return 1; }; done; }
succeeds "d1: the language, on a terminal" helps route access roles states actions xattrs timers
succeeds "d1: the verbs of steps" helps steps exec set assign setTimer start suspend mail http
succeeds "d1: the variables of expressions" helps expressions case xattr actor now input message tasks timers children
sed '0,/^title:/s//titel:/' purchase.yaml >misspelt.yaml
exits "d1: a misspelled word has its place and a hint" 1 'misspelt.yaml:[0-9]+:1: /titel: .*did you mean "title"' "$fd" route check misspelt.yaml

# mistake ROW PATTERN OLD NEW makes a mistake in a route, which is found or warned of.
mistake() {
	local row=$1 pattern=$2 code=0
	sed "s^$3^$4^" purchase.yaml >wrong.yaml
	if cmp -s purchase.yaml wrong.yaml; then not_ok "$row" "the example has no $3"; return; fi
	"$fd" route check wrong.yaml >"$work/out" 2>&1 || code=$?
	expect_match "$row" "$pattern" "$(tr '\n' ' ' <"$work/out")"
}
mistake "d2: names of users as everywhere" 'user:' 'assign: .*admin.*' 'assign: ["admin"]'
mistake "d2: and of teams in access, which names them alone" 'write "core"' 'start: .everyone.$' 'start: ["team:core"]'
mistake "d3: an action that is called as a type" 'write type: approve' '    type: approve$' '    # no type'
mistake "d4: a misspelled XATTR" 'ammount' 'xattr.amount >' 'xattr.ammount >'
mistake "d5: a number compared with a text" 'number|overload|text' 'xattr.amount > 500' 'xattr.amount > "500"'
mistake "d9b: where an action is possible" 'are its in' '    in: .requested.$' '    from: [requested]'
mistake "d11: words in place of signs" '&&' 'xattr.amount > 500' 'xattr.amount > 500 and true'
printf 'access: {start: [everyone]}\nstates: {a: {type: start, complete: true}}\nactions: {begin: {trigger: init, sideEffects: [{mail: {to: [starter], subject: "$__TITEL__;", text: x}}]}}\n' >label.yaml
says "d6: an unknown label" 'TITEL' "$fd" route check label.yaml
printf 'access: {start: [everyone]}\nroles: {cfo: {assign: ["user:admin"]}}\nstates: {a: {type: start, complete: true}}\nactions: {begin: {trigger: init, sideEffects: [{mail: {to: [cfo], subject: x, text: x}}]}}\n' >bare.yaml
says "d7: a mail to the name of a role" 'did you mean "role:cfo"' "$fd" route check bare.yaml
says "d7: the same when it is stored" 'bare.yaml:4:[0-9]+: warning: .*did you mean "role:cfo"' "$fd" route put bare.yaml
says "d8: warnings of what is stored are printed" 'TITEL' "$fd" route put label.yaml
printf 'access: {start: []}\nroles: {worker: {}}\nstates: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, do: {in: [open], role: worker, to: done}}\n' >chore.yaml
says "d10: a route that only others start, checked alone" 'ok' "$fd" route check chore.yaml
expect "d10: is warned of nothing" 0 "$(grep -c warning "$work/out" || true)"
cat >twins.yaml <<'YAML'
access: {start: [everyone]}
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  left: {in: [open], child: {route: chore, roles: {worker: {from: worker}}}}
  right: {in: [open], child: {route: chore, roles: {worker: {from: worker}}}}
  end: {in: [open], role: worker, to: done}
YAML
says "d9: children that would start again without end" 'twins.yaml:6:[0-9]+: warning: .*again, without end' "$fd" route check twins.yaml chore.yaml
sed -i 's/child: {/max: 1, child: {/' twins.yaml
says "d9: once is meant" 'twins.yaml: ok' "$fd" route check twins.yaml chore.yaml
expect "d9: and warned of no more" 0 "$(grep -c 'without end' "$work/out" || true)"
succeeds "d9: the child and its parent are stored" "$fd" route put chore.yaml twins.yaml
twins=$("$fd" start twins 2>/dev/null)
expect "d9: each has one child" 2 "$("$fd" cases --route chore -o name | wc -l)"
"$fd" do "$("$fd" cases --route chore -o name | head -n 1)" do >/dev/null 2>&1 || true
says "d9: that is done once, and the case goes on" 'active +open' "$fd" cases --route twins
expect "d9: it does not come again" 1 "$("$fd" cases --route chore -o name | wc -l)"
succeeds "d9: the end" "$fd" do "$twins" end
route rows "d12: CSV is read without a script" <<'YAML'
access: {start: [everyone]}
states: {read: {type: start}, done: {type: complete}}
actions: {take: {trigger: init, onFire: [{csv: {from: InputMessage, to: Rows}}, {jq: {from: Rows, filter: length, to: Count}}]}, end: {trigger: auto, in: [read], to: done}}
YAML
printf 'name;amount\nlamp;3\nchair;4\n' >rows.csv
succeeds "d12: a table is dropped" "$fd" put rows.csv Workflow/Routes/rows/
rows=$("$fd" cases --all --route rows -o name)
expect "d12: its rows are JSON" 'lamp 3,chair 4' "$("$fd" cat "Workflow/Cases/$rows/Labels/Rows" | jq -r 'map("\(.name) \(.amount)") | join(",")')"
expect "d12: and counted" 2 "$("$fd" cat "Workflow/Cases/$rows/Labels/Count")"
printf 'title: Closed\naccess: {start: [boss]}\nstates: {a: {type: start, complete: true}}\nactions: {begin: {trigger: init}}\n' >closed.yaml
printf 'as: sam\nusers: [sam, boss]\nsteps:\n- start: {title: A}\n' >closed.scenario.yaml
exits "d13: who may not start a route is told why" 1 'access.start' "$fd" route check closed.yaml
printf '# yaml-language-server: $schema=x\n$schema: https://example.org/x\naccess: {start: [everyone]}\nstates: {a: {type: start, complete: true}}\nactions: {begin: {trigger: init}}\n' >schema.yaml
says "d14: a document may name its schema" 'ok' "$fd" route check schema.yaml
says "d15: a picture of a file" 'stateDiagram' "$fd" route graph purchase.yaml -o mermaid
says "d15: and one for a page" '<svg' "$fd" route graph purchase -o svg

# ---- (e) who writes programs

printf '{"route": "bug", "title": "The printer is on fire"}\n' >printer.json
succeeds "e10: a case under a name of one's own" "$fd" put printer.json Workflow/Cases/
says "e10: has its log under it" 'Created' "$fd" log printer
says "e13: an entry is named in one form" "^$entry" "$fd" schedule show "$entry" -o name
request GET /openapi.json
expect "e1: generators find the drive as an HTTP API, e2: with a name for each operation" 0 "$(json '[.paths[][] | select(type == "object" and has("responses") and (has("operationId") | not))] | length')"
request POST /dav/Workflow/Cases/ -H 'Content-Type: application/json' -d '{"route": "bug", "title": "Posted"}'
expect "e3: a case by POST" 201 "$status"
says "e3: is there" 'Posted' "$fd" cases --route bug
request GET /dav/Workflow/Cases/ -H 'Accept: application/json'
expect "e4: a folder as JSON" 'application/json' "$(header Content-Type)"
expect "e4: has its documents" true "$(json 'map(.title) | contains(["Posted"])')"
says "e5: an app password is made, and shown this once" 'fd-[a-z2-7]+' sh -c 'echo {} | FLOWDRIVE_PASSWORD=$1 "$0" put - Account/AppPasswords/program.json' "$fd" "$admin_password"
token=$(grep '^fd-' "$work/out")
expect "e5: a program sends it as Bearer" 200 "$(curl -s -o "$work/body" -w '%{http_code}' -H "Authorization: Bearer $token" "$base/dav/Account/me.json")"
says "e5: or the commands as a password" 'admin' env FLOWDRIVE_URL="$base" FLOWDRIVE_USER=admin FLOWDRIVE_PASSWORD="$token" "$fd" cat Account/me.json
request GET /dav/Workflow/Cases/.contents -H 'Accept-Encoding: gzip'
expect "e6: a listing is sent compressed" 'gzip' "$(header Content-Encoding)"
expect "e6: and is the same" "$("$fd" cases --all -o name | sort -n | tail -n 1)" "$(gzip -dc <"$work/body" | jq -r 'map(.id) | max')"
# e7: a program that has the engine in it is Go, not a command: docs/contract/drive.md#10-embedding, TestScheduleOverNet.
says "e9: an address for others, shown this once" '/hook/[a-z2-7]+' sh -c 'echo "{\"verify\": {\"scheme\": \"github\", \"secret\": \"github\"}}" | FLOWDRIVE_PASSWORD=$1 "$0" put - Workflow/Routes/bug/Hooks/pushes.json' "$fd" "$admin_password"
hook=$base/hook/$(sed -n 's|.*/hook/||p' "$work/out")
pushed='{"action": "opened"}'
signature=$(printf %s "$pushed" | openssl dgst -sha256 -hmac "$FLOWDRIVE_SECRET_GITHUB" | sed 's/.* //')
push() { curl -s -o "$work/body" -w '%{http_code}' -d "$pushed" -H 'Content-Type: application/json' -H "X-GitHub-Delivery: 1" -H "X-Hub-Signature-256: sha256=$1" "$hook"; }
expect "e9: what is not signed is refused" 403 "$(push 0000)"
expect "e9: what is signed starts a case, without a log-in" 201 "$(push "$signature")"
hooked=$(json .case)
says "e9: with what was sent as its input" '"action": "opened"' "$fd" input "$hooked"
expect "e9: what is sent twice starts one" "201 $hooked" "$(push "$signature") $(json .case)"
succeeds "e9: the address is void" admin rm Workflow/Routes/bug/Hooks/pushes.json
expect "e9: for everyone" 404 "$(push "$signature")"
# e11: an image is built and run by e2e/packages.sh. A container has variables and no terminal:
says "e11: a server is set by variables alone" 'data: /data # FLOWDRIVE_DATA' env -i PATH="$PATH" FLOWDRIVE_DATA=/data FLOWDRIVE_ADDR=0.0.0.0:8080 FLOWDRIVE_INSECURE_HTTP=true "$fd" config show
failure_as_standard() { told 'select(.path == "/standard")' | jq -se 'first' >"$work/event"; }
eventually "e12: a webhook is told of a failure" failure_as_standard
expect "e12: as Standard Webhooks recommends" 'case.failed timestamp,type,data' "$(jq -r '.body | fromjson | "\(.type) \(["timestamp", "type", "data"] - (["timestamp", "type", "data"] - keys) | join(","))"' "$work/event")"
signed=$(jq -j '.headers["webhook-id"], ".", .headers["webhook-timestamp"], ".", .body' "$work/event" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(printf %s "$signing" | base64 -d | od -An -tx1 | tr -d ' \n')" -binary | base64)
expect "e12: and signed" "v1,$signed" "$(jq -r '.headers["webhook-signature"]' "$work/event")"
route api "e8: a secret in a header is named, not written" <<YAML
access: {start: [everyone]}
states: {asked: {type: start}, done: {type: complete}}
actions:
  ask: {trigger: init, sideEffects: [{http: {method: POST, url: "http://$service/api", headers: {Authorization: {secret: api}}, into: Answer}}]}
  end: {trigger: message, message: Answer, in: [asked], to: done}
YAML
expect "e8: and is nowhere in the route" 0 "$("$fd" route get api | grep -c hunter2 || true)"
succeeds "e8: the service is called" "$fd" start api --wait
expect "e8: and gets it" hunter2 "$(told 'select(.path == "/api").headers.authorization')"
called=$("$fd" cases --all --route api -o name)
"$fd" cat "Workflow/Cases/$called/log.txt" "Workflow/Cases/$called/log.json" "Workflow/Cases/$called.json" "Workflow/Cases/$called/Outbox/ask.3-1.json" >"$work/out"
expect "e8: nothing of the case has it" '0 and has its delivery' "$(grep -c hunter2 "$work/out" || true) and $(grep -q '"state": "delivered"' "$work/out" && echo 'has its delivery')"
says "JSON is what the drive has" 'Chairs' sh -c '"$0" cases --all --route purchase -o json | jq -r ".[].title"' "$fd"

# ---- mails and limits: a rehearsal, in which mails are kept

stop
data=$work/rehearsal
start --sandbox 2026-11-20T12:00:00Z --public-url https://flow.example.org --quota 1MiB
export FLOWDRIVE_URL=$base FLOWDRIVE_USER=admin FLOWDRIVE_PASSWORD=$admin_password
# mail SUBJECT prints the newest mail with that in its subject.
mail() {
	local name found=
	while IFS= read -r name; do
		if "$fd" cat "$name" >"$work/mail" && grep -q "^Subject: .*$1" "$work/mail"; then found=$name; fi
	done < <("$fd" ls Admin/Outbox -o name)
	[[ -n $found ]] && "$fd" cat "$found"
}
printf '{"email": "admin@example.org"}' | "$fd" put - Account/me.json >/dev/null
"$fd" route put purchase.yaml late.yaml >/dev/null 2>&1
printf 'a-good-password-of-ann\n' | "$fd" user add ann --data "$data" >/dev/null
asked=$(FLOWDRIVE_USER=ann FLOWDRIVE_PASSWORD=a-good-password-of-ann "$fd" start purchase -t Chairs --set amount:=90 --set supplier=Sit 2>/dev/null)
says "b11: a mail says what there is to do" 'To do: .*Approve.*Chairs' mail 'To do'
expect_match "b11: with an address that can be clicked, as a button" "<a href=3D\"https://flow.example.org/cases/$asked" "$(tr -d '\n' <"$work/out" | sed 's/=<a/<a/g')"
expect_match "b11: and what the case is about" 'Supplier: +Sit' "$(cat "$work/out")"
sed 's/, onDue: .*}}$/}}/' late.yaml >unhandled.yaml
"$fd" route put unhandled.yaml >/dev/null 2>&1
late=$("$fd" start unhandled -t 'late one' 2>/dev/null)
succeeds "a17: the limit of a task is moved" "$fd" timer "$late" do.due 2026-11-19
says "a17: it is late" 'late one' "$fd" cat Workflow/Worklist/Warnings/.ls
says "a17: which status says" "case $late: late one +do" "$fd" status
says "a17: and a mail, in words" 'Subject: Overdue: do \(late one\)' mail 'Overdue'
head -c 600000 /dev/zero >large
succeeds "c13: who has room stores" "$fd" put large Documents/admin/
exits "c13: who has used it up is told" 1 'more than the 1048576 bytes you may store' "$fd" put large Documents/admin/another
request PROPFIND /dav/Documents/admin/ -H 'Depth: 0' -d '<propfind xmlns="DAV:"><prop><quota-used-bytes/></prop></propfind>'
expect_match "c13: how much somebody has stored can be asked" 'quota-used-bytes>6[0-9]{5}<' "$(body)"
expect_match "b12: / is pages, whose tests have a browser: it asks who one is" '<input [^>]*type="?password' "$(curl -sL "$base/" | tr '\n' ' ')"

finish
