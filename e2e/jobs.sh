#!/usr/bin/env bash
# What else people do with files, by every client: names of all kinds, large
# files, large folders, a folder that is renamed or deleted, a file that is saved as it is, two
# who edit at once, a server that dies under a save, a full quota. At its end it prints a table, and
# compares it with that of docs/reference/clients.md.
#
# FLOWDRIVE_E2E_LARGE says how many MiB the large file has, FLOWDRIVE_E2E_MANY how many files
# are deleted at once; five times as many are listed. For the table of the manual they
# are 1024 and 1000. E2E_CLIENTS names clients, if it is not to be all.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=e2e/with-clients.sh
. "$root/e2e/with-clients.sh"

schedule=/dav/Workflow/Schedule
cases=/dav/Workflow/Cases
documents=/dav/Documents/admin
large=${FLOWDRIVE_E2E_LARGE:-96}
many=${FLOWDRIVE_E2E_MANY:-250}

if ! has curl jobs || ! has jq jobs; then
	finish
fi
start

# ---- what cannot be done, and why no server can change it

declare -A cannot=(
	[lftp/question mark]='it takes what is behind it for a query'
	[perl/question mark]='it takes the name for a pattern'
	[kio/temporary file]='it asks for a move that overwrites nothing, which must fail'
)

# job CLIENT NAME COMMAND… does one job and writes it into the table.
job() {
	local name=$1 what=$2 began code=0 took
	shift 2
	began=$(date +%s%N)
	"$@" >"$work/out" 2>&1 </dev/null || code=$?
	took=$((($(date +%s%N) - began) / 1000000))
	printf '%s\t%s\t%s\t%s ms\n' "$name" "$what" "$( ((code)) && echo no || echo yes)" "$took" >>"$work/table"
	if [[ -n ${cannot[$name/$what]-} ]]; then
		expect "$name: $what: cannot: ${cannot[$name/$what]}" 1 "$((code != 0))"
	elif ((code)); then
		not_ok "$name: $what" "$*" "$(tail -n 5 "$work/out")"
	else
		ok "$name: $what ($took ms)"
	fi
}

# soon COMMAND… waits for the command to succeed.
soon() {
	local until=$((SECONDS + ${patience:-20}))
	while ((SECONDS < until)); do
		if "$@" >/dev/null 2>&1; then return; fi
		sleep 0.1
	done
	echo "not soon: $*"
	return 1
}

# sees CLIENT FOLDER NAME: does the client list it, once?
sees() { [[ $("$1_list" "$2" | sed 's|/$||' | grep -cFx -- "$3") == 1 ]]; }
counts() { [[ $("$1_list" "$2" | grep -c '^f[0-9]*$') == "$3" ]]; }
has_bytes() { holds "$1" "/dav/$(url "$2")"; }
gone() { answers 404 GET "/dav/$(url "$1")"; }

# ---- the jobs: each gets the client's verbs and a name of its own

opens() {
	local name
	for name in Cases Routes Schedule Worklist; do sees "$1" Workflow "$name" || return; done
	"$1_get" Workflow/README.txt "$work/$2.got" && grep -q . "$work/$2.got"
}

# named NAME: a file of this name is made, listed, read, renamed and deleted.
named() {
	local c=$1 folder=Documents/admin/$2 name=$3 file
	file=$work/$2.named
	printf 'of %s in %s\n' "$name" "$2" >"$file"
	"${c}_put" "$file" "$folder/$name" && soon has_bytes "$file" "$folder/$name" &&
		soon sees "$c" "$folder" "$name" &&
		"${c}_get" "$folder/$name" "$work/$2.got" && cmp "$file" "$work/$2.got" &&
		"${c}_rename" "$folder/$name" "$folder/new $name" && soon has_bytes "$file" "$folder/new $name" && gone "$folder/$name" &&
		"${c}_delete" "$folder/new $name" && soon gone "$folder/new $name"
}

# version NAME prints what identifies an entry: it changes with each save that changes it.
version() {
	request GET "$schedule/.ls"
	json ".[] | select(.name == \"$1\") | \"\(.id) \(.etag)\""
}

unchanged_entry() {
	local c=$1 entry=$2-same.json before
	printf '{"route": "collector", "type": "interval", "weeks": 500, "note": "%s"}\n' "$2" >"$work/$2.same"
	request PUT "$schedule/$entry" -T "$work/$2.same"
	mounted_file "$c" "Workflow/Schedule/$entry" || return
	before=$(version "$entry")
	rm -f "$work/$2.got"
	"${c}_get" "Workflow/Schedule/$entry" "$work/$2.got" && cmp "$work/$2.same" "$work/$2.got" &&
		"${c}_put" "$work/$2.got" "Workflow/Schedule/$entry" && settled &&
		[[ -n $before && $(version "$entry") == "$before" ]]
}

# settled waits a moment: mounts send what is saved when it suits them.
settled() { sleep 1; }

# mounted_file CLIENT PATH waits for a mount to look again.
mounted_file() {
	if [[ $1 == mount ]]; then soon test -e "$m/$2"; fi
}

# task_of sets $case and $task: a new case, and the task in the worklist that closes it.
task_of() {
	request PUT "$cases/new.json" -d "{\"route\": \"bug\", \"title\": \"Of $1\", \"roles\": {\"assignee\": [\"admin\"]}}"
	case=$(header Location | grep -o '[0-9]*')
	task="Workflow/Cases/$case/Actions/resolve.json"
}
state_is() {
	request GET "$cases/$case.json"
	[[ $(json .status) == "$1" ]]
}

unchanged_task() {
	local c=$1 before
	task_of "$2"
	mounted_file "$c" "$task" || return
	request GET "$cases/$case.json"
	before=$(json .status)
	rm -f "$work/$2.got"
	"${c}_get" "$task" "$work/$2.got" || return
	"${c}_put" "$work/$2.got" "$task" || true # script clients are told to say what to do
	settled
	state_is "$before"
}

task() {
	local c=$1
	# The task of the last job: what GET gave, with what to do.
	sed 's/"do": ""/"do": "perform"/' "$work/$2.got" >"$work/$2.task"
	! cmp -s "$work/$2.got" "$work/$2.task" && "${c}_put" "$work/$2.task" "$task" && soon state_is resolved
}

by_rename() {
	local c=$1 entry=$2-same.json before
	before=$(version "$entry")
	sed 's/"note": "/&renamed /' "$work/$2.same" >"$work/$2.temp"
	"${c}_put" "$work/$2.temp" "Workflow/Schedule/.$entry.tmp" && soon has_scratch "$c" "$2" &&
		"${c}_rename" "Workflow/Schedule/.$entry.tmp" "Workflow/Schedule/$entry" &&
		soon has_bytes "$work/$2.temp" "Workflow/Schedule/$entry" && [[ $(version "$entry") == "${before%% *} "* ]]
}

# has_scratch: what was saved under the temporary name has arrived. rclone is busy with it for a
# moment after that.
has_scratch() {
	has_bytes "$work/$2.temp" "Workflow/Schedule/.$2-same.json.tmp" || return
	[[ $2 != rclone-* ]] || grep -qF "/.$2-same.json.tmp: Copied (" "$work/$2.log"
}

renames_folder() {
	local c=$1 folder=Documents/admin/$2
	"${c}_mkdir" "$folder/Fotos äöü" && "${c}_put" "$work/small" "$folder/Fotos äöü/a b" && soon has_bytes "$work/small" "$folder/Fotos äöü/a b" &&
		"${c}_rename" "$folder/Fotos äöü" "$folder/Bilder" && soon has_bytes "$work/small" "$folder/Bilder/a b" && gone "$folder/Fotos äöü/a b"
}

deletes_many() {
	request COPY "$documents/many/" -H "Destination: $base$documents/$2/many/"
	mounted_file "$1" "Documents/admin/$2/many/f$many" || return
	"$1_rmdir" "Documents/admin/$2/many" && soon gone "Documents/admin/$2/many/"
}

lists_many() { counts "$1" Documents/admin/all $((5 * many)); }

up_and_down() {
	local c=$1 path=Documents/admin/$2/large
	"${c}_put" "$work/large" "$path" && patience=120 soon has_size "$path" $((large * 1048576)) || return
	rm -f "$work/$2.large"
	"${c}_get" "$path" "$work/$2.large" && cmp "$work/large" "$work/$2.large"
	local code=$?
	rm -f "$work/$2.large"
	request DELETE "/dav/$path"
	return $code
}
has_size() {
	request HEAD "/dav/$(url "$1")" --head
	[[ $(header Content-Length) == "$2" ]]
}

# two: another saves what this client has read. Whatever the client then does, both texts are found.
two() {
	local c=$1 path=Documents/admin/$2/shared
	printf 'at first\n' >"$work/$2.first"
	printf 'by another, longer\n' >"$work/$2.another"
	printf 'by %s itself\n' "$2" >"$work/$2.mine"
	request PUT "/dav/$path" -T "$work/$2.first"
	mounted_file "$c" "$path" && "${c}_get" "$path" "$work/$2.got" || return
	request PUT "/dav/$path" -T "$work/$2.another"
	"${c}_put" "$work/$2.mine" "$path" || true
	soon both_found "$2" "$path"
}

# both_found: each text is the document or a version in its history, or with the one who wrote it.
both_found() {
	: >"$work/$1.found"
	request GET "/dav/$2"
	body >>"$work/$1.found"
	local href
	request PROPFIND "/dav/${2%/*}/.history/" -H 'Depth: 1'
	for href in $(grep -o '<D:href>[^<]*shared[^<]*' "$work/body" | sed 's/.*>//'); do
		request GET "$href"
		body >>"$work/$1.found"
	done
	if [[ -d ${m:-/nowhere}/lost+found ]]; then cat "$m"/lost+found/shared* >>"$work/$1.found" 2>/dev/null || true; fi
	grep -qFf "$work/$1.another" "$work/$1.found" && grep -qFf "$work/$1.mine" "$work/$1.found"
}

# dies: the server dies under an upload. What was there stays. What is saved again arrives.
dies() {
	local c=$1 path=Documents/admin/$2/cut saving seen
	request PUT "/dav/$path" -T "$work/small"
	mounted_file "$c" "$path" || return
	touch "$work/begun"
	"${c}_put" "$work/big" "$path" >"$work/$2.cut" 2>&1 </dev/null &
	saving=$!
	for _ in {1..2000}; do
		! uploading || break
	done
	uploading || return
	kill -KILL "$server_pid"
	wait "$server_pid" 2>/dev/null || true
	server_pid=
	seen=0
	if [[ $c != mount ]]; then
		wait "$saving" || seen=$?
		shown "$2" 'server dies' "$seen" "$work/$2.cut"
	fi
	start
	# A mount sends it again by itself, perhaps by now, and in the mode full rclone may have sent
	# a part before.
	if ! has_bytes "$work/small" "$path" && ! { [[ $c == mount ]] && in_history "$work/small" "$path"; }; then
		echo "what was there is not there"
		return 1
	fi
	if [[ $c == mount ]]; then
		wait "$saving" || seen=$?
		shown "$2" 'server dies' "$seen" "$work/$2.cut"
		if ((seen == 0)); then
			patience=60 soon has_bytes "$work/big" "$path" && return
		fi
	fi
	"${c}_put" "$work/big" "$path" && soon has_bytes "$work/big" "$path"
}
# in_history FILE PATH: are its bytes what was at the path before?
in_history() {
	local href
	request PROPFIND "/dav/${2%/*}/.history/" -H 'Depth: 1'
	for href in $(grep -o "<D:href>[^<]*%20${2##*/}<" "$work/body" | sed 's/.*>//; s/<//'); do
		if holds "$1" "$href"; then return; fi
	done
	return 1
}
# uploading: some of a content lies on the disk, and is not stored yet.
uploading() { [[ -n $(find "$data/contents" -type f -size +256k -newer "$work/begun" -print -quit) ]]; }

# ---- the rounds

: >"$work/seen"
: >"$work/table"
printf 'small\n' >"$work/small"
truncate -s "${large}M" "$work/large"
printf 'the end' | dd of="$work/large" bs=1 seek=$((large * 1048576 - 7)) conv=notrunc status=none
truncate -s 256M "$work/big"
mkdir "$work/files"
(cd "$work/files" && for ((i = 1; i <= 5 * many; i++)); do echo "$i" >"f$i"; done)
# fill FOLDER N puts the first N files there, many at once.
fill() {
	request MKCOL "$documents/$1"
	(cd "$work/files" && for ((i = 1; i <= $2; i++)); do printf 'upload-file = "f%d"\nurl = "%s%s/%s/f%d"\n' "$i" "$base" "$documents" "$1" "$i"; done |
		curl -sS --fail -Z --parallel-max 16 -u "admin:$admin_password" -K - >/dev/null)
}
succeeds "$many files are there" fill many "$many"
succeeds "and $((5 * many))" fill all $((5 * many))

# round CLIENT NAME
round() {
	local c=$1 n=$2
	printf '%s\n' "--- $n"
	"${c}_mkdir" "Documents/admin/$n" >"$work/out" 2>&1 </dev/null || not_ok "$n makes a folder" "$(tail -n 3 "$work/out")"
	job "$n" 'open, list' opens "$c" "$n"
	job "$n" 'umlauts' named "$c" "$n" 'Grüße Ærø.txt'
	job "$n" 'blank' named "$c" "$n" 'two  words.txt'
	job "$n" 'hash' named "$c" "$n" 'C# #1.txt'
	job "$n" 'percent' named "$c" "$n" '100 % %41.txt'
	job "$n" 'question mark' named "$c" "$n" 'who? & +;=.txt'
	job "$n" 'entry as it is' unchanged_entry "$c" "$n"
	job "$n" 'temporary file' by_rename "$c" "$n"
	job "$n" 'task as it is' unchanged_task "$c" "$n"
	job "$n" 'task' task "$c" "$n"
	job "$n" 'rename folder' renames_folder "$c" "$n"
	job "$n" "list $((5 * many))" lists_many "$c" "$n"
	job "$n" "delete $many" deletes_many "$c" "$n"
	job "$n" "$large MiB" up_and_down "$c" "$n"
	job "$n" 'two at once' two "$c" "$n"
	if [[ -z ${FLOWDRIVE_NODES:-} ]]; then
		job "$n" 'server dies' dies "$c" "$n"
	fi
	refused "$c" "$n"
	full "$c" "$n"
}

# shown NAME WHAT CODE FILE notes what the person is shown.
shown() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "exit code $3" "$(tr '\r\n' '  ' <"$4" | sed 's/  */ /g; s/.*\(.\{200\}\)$/\1/')" >>"$work/seen"; }

# refused: a document with a fault. Nothing of it is stored, and its text is in Rejected/ of those
# who mount.
refused() {
	local c=$1 n=$2 code=0
	printf '{"route": "collector", "type": "interval", "minutes": "%s"}\n' "$n" >"$work/$n.wrong"
	"${c}_put" "$work/$n.wrong" "Workflow/Schedule/$n-wrong.json" >"$work/out" 2>&1 </dev/null || code=$?
	shown "$n" refused "$code" "$work/out"
	settled
	expect "$n: a refused save: nothing of it is stored" "" "$(version "$n-wrong.json")"
}

# full: the quota is used up.
full() {
	local c=$1 n=$2 code=0
	stop
	start --quota 1MiB
	if [[ $c == mount ]]; then soon test -e "$m/Documents/admin/$n" || true; fi
	"${c}_put" "$work/big" "Documents/admin/$n/too much" >"$work/out" 2>&1 </dev/null || code=$?
	shown "$n" 'quota full' "$code" "$work/out"
	settled
	expect "$n: a full quota: nothing of it is stored" no "$(has_size "Documents/admin/$n/too much" $((256 * 1048576)) && echo yes || echo no)"
	stop
	start
}

wanted() { [[ -z ${E2E_CLIENTS-} || " $E2E_CLIENTS " == *" $1 "* ]]; }

for client in curl wget cadaver lftp rclone gio kio npm perl python; do
	if wanted $client && "${client}_ready"; then
		round "$client" "$client"
	fi
done
if wanted kio-fuse && kio_ready && kio_mounts; then
	round mount kio-fuse
fi
if wanted gvfs && gio_ready; then
	m=$(echo "$XDG_RUNTIME_DIR"/gvfs/dav*)/dav
	round mount gvfs
fi
for mode in off minimal writes full; do
	if wanted "rclone-$mode" && rclone_ready && rclone_mounts "$mode"; then
		round mount "rclone-$mode"
		succeeds "  unmounts" fusermount3 -u "$m"
	fi
done
for locks in 1 0; do
	if wanted "davfs2-locks-$locks" && davfs_mounts "locks-$locks" "$locks" 0; then
		round mount "davfs2-locks-$locks"
		succeeds "  unmounts" umount "$m"
	fi
done

# ---- the manual: its table says the same

# The row of each client in the table "Work with files" of docs/reference/clients.md.
# shellcheck disable=SC2016 # the backticks are those of the manual
declare -A row_of=(
	[curl]='curl, wget, cadaver' [wget]='curl, wget, cadaver' [cadaver]='curl, wget, cadaver' [lftp]=lftp [rclone]=rclone
	[gio]='`gio`' [gvfs]='gvfs, as programs see it' [kio]='`kioclient5`, behind a program that logs in' [kio-fuse]=kio-fuse
	[npm]='npm, Python' [python]='npm, Python' [perl]=Perl
)
for mode in off minimal writes full; do row_of[rclone-$mode]='rclone mount, all four modes'; done
# shellcheck disable=SC2016 # likewise
for locks in 0 1; do row_of[davfs2-locks-$locks]='davfs2, `use_locks 0` or `1`'; done

# column_of JOB prints the column of a job; nothing if it has none.
column_of() {
	case $1 in
	umlauts | blank | hash | percent | 'question mark') echo names ;;
	'entry as it is' | 'task as it is') echo 'as it is' ;;
	task) echo task ;;
	'temporary file' | 'rename folder') echo rename ;;
	'list '* | 'delete '*) echo many ;;
	*' MiB') echo large ;;
	'two at once') echo two ;;
	'server dies') echo crash ;;
	esac
}

# cell ROW COLUMN prints what the manual says there.
cell() {
	awk -F ' *[|] *' -v row="$1" -v column="$2" '
		$2 == "client" && $3 == "names" { for (i = 3; i < NF; i++) if ($i == column) at = i }
		at && $2 == row { print $at; exit }
		at && !NF { exit }' "$root/docs/reference/clients.md"
}

# as_in_manual compares what became of the jobs with the manual: a job that a client cannot do
# has no bare "yes" there, and what it can do has a "yes", perhaps with a note.
as_in_manual() {
	local name what went column failed said
	for name in $(cut -f 1 "$work/table" | sort -u); do
		declare -A did=() fails=()
		while IFS=$'\t' read -r _ what went _; do
			column=$(column_of "$what")
			[[ -n $column ]] || continue
			did[$column]=1
			[[ $went == yes ]] || fails[$column]+="$what; "
		done < <(grep -P "^\Q$name\E\t" "$work/table")
		failed=
		for column in "${!did[@]}"; do
			said=$(cell "${row_of[$name]-}" "$column")
			if [[ -z $said ]]; then
				failed+="$column: there is no such cell; "
			elif [[ -n ${fails[$column]-} && $said == yes ]]; then
				failed+="$column: yes, but not ${fails[$column]}"
			elif [[ -z ${fails[$column]-} && $said != yes* ]]; then
				failed+="$column: $said, but all is done; "
			fi
		done
		expect "$name: docs/reference/clients.md says the same" "" "$failed"
	done
}
as_in_manual

sort -s -k 1,1 -t $'\t' "$work/table" | awk -F '\t' '{print "# " $0}'
sort -s -k 1,1 -t $'\t' "$work/seen" | awk -F '\t' '{print "# " $0}'
stop
expect "the server stops in good order" 0 "$stopped"
finish
