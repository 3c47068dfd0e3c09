#!/usr/bin/env bash
# What people do with files every day, done by every client in every folder:
# create, read, overwrite, append, rename, edit, delete; drag from Documents/
# into a drop folder, and from state to state on a board. The server's own
# answers to a script say what has come of it.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=e2e/with-clients.sh
. "$root/e2e/with-clients.sh"

schedule=/dav/Workflow/Schedule
routes=/dav/Workflow/Routes
cases=/dav/Workflow/Cases
documents=/dav/Documents/admin

if ! has curl everyday || ! has jq everyday; then
	finish
fi
start

printf '%s\n' 'title: Load' 'access: {start: [everyone]}' \
	'states: {waiting: {type: start}, loaded: {}, closed: {type: complete}}' \
	'actions:' \
	'  begin: {trigger: init}' \
	'  load: {in: [waiting], to: loaded, allowed: [everyone]}' \
	'  close: {in: [loaded], to: closed, allowed: [everyone]}' >"$work/load.yaml"
request PUT "$routes/load.yaml" -T "$work/load.yaml"
expect "a route is stored" 201 "$status"

# entry FILE NOTE and route FILE TITLE write a document.
entry() { printf '{"route": "collector", "type": "interval", "weeks": 500, "note": "%s"}\n' "$2" >"$1"; }
route() { sed "s/title: Load/title: $2/" "$work/load.yaml" >"$1"; }

# id NAME prints the identity of the entry of that name.
id() {
	request GET "$schedule/.ls"
	json ".[] | select(.name == \"$1\") | .id"
}

# many counts the cases of the route.
many() {
	request GET "$cases/.contents?route=load"
	json length
}
many_are() { [[ $(many) == "$1" ]]; }

# case_is FIELD VALUE: of the case $case.
case_is() {
	request GET "$cases/$case.json"
	[[ $(json ".$1") == "$2" ]]
}

in_schedule() {
	local c=$1 n=$2 uuid
	entry "$work/$n.1" "by $n"
	entry "$work/$n.2" "by $n again"
	succeeds "  Schedule/: creates" "${c}_put" "$work/$n.1" "Workflow/Schedule/$n.json"
	eventually "    the server has it" holds "$work/$n.1" "$schedule/$n.json"
	uuid=$(id "$n.json")
	succeeds "    reads" "${c}_get" "Workflow/Schedule/$n.json" "$work/$n.got"
	succeeds "    the same" cmp "$work/$n.1" "$work/$n.got"
	succeeds "    overwrites" "${c}_put" "$work/$n.2" "Workflow/Schedule/$n.json"
	eventually "    the server has it" holds "$work/$n.2" "$schedule/$n.json"
	edits "$c" "$n"
	succeeds "    renames" "${c}_rename" "Workflow/Schedule/$n.json" "Workflow/Schedule/$n-renamed.json"
	eventually "    the server has it" holds "$work/$n.2" "$schedule/$n-renamed.json"
	succeeds "    under no other name" answers 404 GET "$schedule/$n.json"
	expect "    it is still the same entry" "$uuid" "$(id "$n-renamed.json")"
	succeeds "    lists it" sees "$c" Workflow/Schedule "$n-renamed.json"
	succeeds "    deletes" "${c}_delete" "Workflow/Schedule/$n-renamed.json"
	eventually "    it is gone" answers 404 GET "$schedule/$n-renamed.json"
}

# sees CLIENT FOLDER NAME: does the client list it, once?
sees() { [[ $("$1_list" "$2" | grep -cFx -- "$3") == 1 ]]; }

# edits CLIENT NAME: as its editors do. What is on disk in $work/NAME.2 is what
# is stored before and after.
edits() {
	local c=$1 n=$2
	if [[ $c == mount ]]; then
		appends "$n" "Workflow/Schedule/$n.json"
		sed -i s/again/replaced/ "$work/$n.2"
		succeeds "    saves by a temporary file" cp "$work/$n.2" "$m/Workflow/Schedule/.$n.tmp"
		if [[ $n == rclone-* ]]; then
			# What is renamed before it was sent, rclone 1.60 renames for itself
			# and sends under its first name. It is busy with it for a moment after
			# the server has it, and says when it is done.
			eventually "      which is sent" rclone_sent "$n" ".$n.tmp"
		fi
		succeeds "    and a rename" mv "$m/Workflow/Schedule/.$n.tmp" "$m/Workflow/Schedule/$n.json"
		eventually "    the server has it" holds "$work/$n.2" "$schedule/$n.json"
	elif declare -F "${c}_edit" >/dev/null; then
		sed -i s/again/edited/ "$work/$n.2"
		succeeds "    saves as its editors do" "${c}_edit" "$work/$n.2" "Workflow/Schedule/$n.json"
		eventually "    the server has it" holds "$work/$n.2" "$schedule/$n.json"
	fi
}

# rclone_sent MOUNT NAME: rclone has sent the file, and the server has it.
rclone_sent() {
	grep -qF "/$2: Copied (" "$work/$1.log" && answers 200 GET "$schedule/$2"
}

# appends NAME PATH adds a line to what is stored at a path, and in $work/NAME.2.
# Without a cache rclone cannot, and says so.
appends() {
	local n=$1 path=$2 how=succeeds
	if [[ $n == rclone-off ]]; then
		how=fails
	else
		echo >>"$work/$n.2"
	fi
	$how "    appends (which $how)" sh -c "echo >>'$m/$path'"
	eventually "    the server has what was sent" holds "$work/$n.2" "/dav/$(url "$path")"
}

in_routes() {
	local c=$1 n=$2
	route "$work/$n.1" "By $n"
	route "$work/$n.2" "By $n again"
	succeeds "  Routes/: creates" "${c}_put" "$work/$n.1" "Workflow/Routes/$n.yaml"
	eventually "    the server has it" holds "$work/$n.1" "$routes/$n.yaml"
	succeeds "    overwrites" "${c}_put" "$work/$n.2" "Workflow/Routes/$n.yaml"
	eventually "    the server has it" holds "$work/$n.2" "$routes/$n.yaml"
	succeeds "    deletes" "${c}_delete" "Workflow/Routes/$n.yaml"
	eventually "    it is gone" answers 404 GET "$routes/$n.yaml"
}

in_documents() {
	local c=$1 n=$2
	printf 'first\n' >"$work/$n.1"
	printf 'the second\n' >"$work/$n.2"
	succeeds "  Documents/: makes a folder" "${c}_mkdir" "Documents/admin/$n"
	succeeds "    creates" "${c}_put" "$work/$n.1" "Documents/admin/$n/a file"
	eventually "    the server has it" holds "$work/$n.1" "$documents/$n/a%20file"
	succeeds "    overwrites" "${c}_put" "$work/$n.2" "Documents/admin/$n/a file"
	eventually "    the server has it" holds "$work/$n.2" "$documents/$n/a%20file"
	if [[ $c == mount ]]; then
		appends "$n" "Documents/admin/$n/a file"
	fi
	succeeds "    renames" "${c}_rename" "Documents/admin/$n/a file" "Documents/admin/$n/another"
	eventually "    the server has it" holds "$work/$n.2" "$documents/$n/another"
	succeeds "    under no other name" answers 404 GET "$documents/$n/a%20file"
	succeeds "    reads" "${c}_get" "Documents/admin/$n/another" "$work/$n.got"
	succeeds "    the same" cmp "$work/$n.2" "$work/$n.got"
	succeeds "    deletes the folder whole" "${c}_rmdir" "Documents/admin/$n"
	eventually "    it is gone" answers 404 GET "$documents/$n/"
}

with_cases() {
	local c=$1 n=$2 before
	before=$(many)
	printf 'dropped by %s\n' "$n" >"$work/$n.csv"
	succeeds "  Routes/load/: drops a file" "${c}_put" "$work/$n.csv" "Workflow/Routes/load/$n.csv"
	eventually "    which starts a case" many_are $((before + 1))
	succeeds "    with it as input" holds "$work/$n.csv" "$routes/load/$n.csv"
	request PUT "$documents/$n.csv" -T "$work/$n.csv"
	mounted_sees "$c" "Documents/admin/$n.csv"
	succeeds "    drags one from Documents/" "${c}_rename" "Documents/admin/$n.csv" "Workflow/Routes/load/$n-dragged.csv"
	eventually "    which starts another" many_are $((before + 2))
	eventually "    and takes it from there" answers 404 GET "$documents/$n.csv"

	request PUT "$cases/new.json" -d "{\"route\": \"load\", \"title\": \"Of $n\"}"
	case=$(header Location | grep -o '[0-9]*')
	mounted_sees "$c" "Workflow/Routes/load/Board/waiting/$case Of $n.json"
	succeeds "  Board/: drags a case to the next state" "${c}_rename" \
		"Workflow/Routes/load/Board/waiting/$case Of $n.json" "Workflow/Routes/load/Board/loaded/$case Of $n.json"
	eventually "    which it has then" case_is status loaded
	succeeds "    and is listed in" sees "$c" Workflow/Routes/load/Board/loaded "$case Of $n.json"
	mounted_sees "$c" "Workflow/Cases/$case/Actions/close.json"
	printf '{"comment": "by %s"}\n' "$n" >"$work/$n.action"
	succeeds "  Actions/: performs one" "${c}_put" "$work/$n.action" "Workflow/Cases/$case/Actions/close.json"
	eventually "    it is performed" case_is status closed
	request GET "$cases/$case/log.json"
	expect "    once" 1 "$(json "[.[] | select(.comment == \"by $n\")] | length")"
	expect "    and nothing has come of it besides" $((before + 3)) "$(many)"
}

# mounted_sees CLIENT PATH waits for a mount to look again.
mounted_sees() {
	if [[ $1 == mount ]]; then
		eventually "    sees ${2##*/}" test -e "$m/$2"
	fi
}

# day CLIENT NAME
day() {
	printf '%s\n' "--- $2"
	in_schedule "$@"
	in_routes "$@"
	with_cases "$@"
	in_documents "$@"
}

for client in curl wget cadaver lftp rclone gio kio npm perl python; do
	if "${client}_ready"; then
		day "$client" "$client"
	fi
done
if [[ -n ${kio_remote-} ]] && kio_mounts; then
	day mount kio-fuse
fi
if command -v rclone >/dev/null; then
	for mode in off minimal writes full; do
		if rclone_mounts "$mode"; then
			day mount "rclone-$mode"
			succeeds "  unmounts" fusermount3 -u "$m"
		fi
	done
fi
for locks in 1 0; do
	if davfs_mounts "locks-$locks" "$locks" 0; then
		day mount "davfs2-locks-$locks"
		expect "  nothing was lost" "" "$(ls "$m/lost+found")"
		succeeds "  unmounts" umount "$m"
	fi
done

stop
expect "the server stops in good order" 0 "$stopped"
finish
