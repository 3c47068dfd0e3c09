#!/usr/bin/env bash
# A save that is refused destroys nothing, with any client: what
# is stored stays in force byte for byte, what is new does not come to be, no
# lock stays behind, and the refused text lies readable beside its reasons.
# And a server that is restarted under an open file takes what is saved.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=e2e/with-clients.sh
. "$root/e2e/with-clients.sh"

if ! has curl refusals || ! has jq refusals; then
	finish
fi
start

# What is stored, and what is refused: a document with faults, one that is none,
# and an empty one.
names=(Schedule/kept.json Routes/kept.yaml Cases/kept.json)
printf '{"route": "collector", "type": "interval", "weeks": 500}\n' >"$work/Schedule.good"
printf '%s\n' 'access: {start: [everyone]}' 'states: {open: {type: start}, shut: {type: complete}}' \
	'actions: {begin: {trigger: init}, close: {in: [open], to: shut, allowed: [everyone]}}' >"$work/Routes.good"
printf '{"route": "bug", "title": "Fire"}\n' >"$work/Cases.good"
for name in "${names[@]}"; do
	request PUT "/dav/Workflow/$name" -T "$work/${name%%/*}.good"
	expect "$name is stored" 201 "$status"
done

# contents prints everything that a script finds in the folders. What was
# deleted by a client before it sent what was refused is back as it was, but
# for the time.
contents() {
	local folder
	for folder in Schedule Routes Cases; do
		request GET "/dav/Workflow/$folder/.contents"
		json 'map(del(.modified, .version))'
	done
}
before=$(contents)

# untouched: is all as it was, and nothing new?
untouched() {
	local name
	for name in "${names[@]}"; do
		holds "$work/${name%%/*}.good" "/dav/Workflow/$name" || return
	done
	[[ $(contents) == "$before" ]]
}

# refused NAME prints the name of the latest that was refused under it.
refused() {
	request PROPFIND "/dav/Workflow/${1%%/*}/Rejected/" -H 'Depth: 1'
	grep -o "<D:href>[^<]*%20${1##*/}<" "$work/body" | sed 's/.*\///; s/<$//; s/%20/ /g' | sort | tail -n 1 || true
}
explained() { [[ $(refused "$1") > $2 ]]; }

# wrong NOTE writes $work/wrong: a document with a fault, different each time.
wrong() { printf '{"route": "collector", "type": "interval", "minutes": "soon", "note": "%s"}\n' "$1" >"$work/wrong"; }

# is_refused CLIENT LABEL NAME SAVE… has a save refused and looks what is left.
# SAVE is a command that saves $work/wrong.
is_refused() {
	local c=$1 label=$2 name=$3 folder=Workflow/${3%%/*} last
	shift 3
	wrong "$label $name"
	last=$(refused "$name")
	"$@" >"$work/save" 2>&1 </dev/null || true # some tell their user, some cannot
	if [[ $c == curl ]]; then
		expect_match "  $label: $name is refused with the reasons" '/minutes|not-parseable|unknown|name' "$(cat "$work/save")"
	else
		eventually "  $label: $name is refused" explained "$name" "$last"
	fi
	eventually "    no lock is left" unlocked "/dav/Workflow/$name"
	succeeds "    nothing is changed" untouched
	if [[ $c != curl && $name == Schedule/kept.json ]]; then
		last=$(refused "$name")
		eventually "    it is found on the drive" "${c}_get" "$folder/Rejected/$last" "$work/found"
		succeeds "      as it was sent" cmp "$work/wrong" "$work/found"
		eventually "      with the reasons" "${c}_get" "$folder/Rejected/$last.txt" "$work/found"
		expect_match "      in words" 'was not saved on' "$(cat "$work/found")"
	fi
}

# by_rename NAME saves by a temporary file and a rename.
by_rename() {
	local temporary=Workflow/${1%%/*}/.saving.tmp
	mount_put "$work/wrong" "$temporary"
	if [[ $m == *rclone* ]]; then
		# Else rclone 1.60 renames for itself, having deleted what was there. An
		# earlier file of that name may be there still: its bytes tell.
		for _ in {1..100}; do
			holds "$work/wrong" "/dav/$temporary" >/dev/null && break
			sleep 0.1
		done
	fi
	mount_rename "$temporary" "Workflow/$1"
}

by_vim() { timeout 30 vim -u NONE -es -c 'set nocompatible backup writebackup backupcopy=no' -c "%s#.*#$(cat "$work/wrong")#" -c 'wq' "$m/Workflow/$1"; }

# matrix CLIENT LABEL: every folder, over what is stored and as something new.
matrix() {
	local c=$1 label=$2 name
	for name in "${names[@]}" Schedule/new-name.json; do
		is_refused "$c" "$label" "$name" "${c}_put" "$work/wrong" "Workflow/$name"
	done
	if declare -F "${c}_edit" >/dev/null; then
		is_refused "$c" "$label as its editors save" Schedule/kept.json "${c}_edit" "$work/wrong" Workflow/Schedule/kept.json
	fi
}

mounted_matrix() {
	local label=$1
	matrix mount "$label"
	is_refused mount "$label by a rename" Schedule/kept.json by_rename Schedule/kept.json
	# vim does not save over a file that it cannot keep open, as on rclone.
	if [[ $label == davfs2-* ]] && has vim "vim on $label"; then
		is_refused mount "$label by vim" Schedule/kept.json by_vim Schedule/kept.json
	fi
}

for client in curl cadaver lftp rclone gio kio npm perl; do
	if "${client}_ready"; then
		matrix "$client" "$client"
	fi
done
if command -v rclone >/dev/null; then
	for mode in off writes; do
		if rclone_mounts "$mode"; then
			mounted_matrix "rclone-$mode"
			succeeds "  unmounts" fusermount3 -u "$m"
		fi
	done
fi
for locks in 1 0; do
	if davfs_mounts "locks-$locks" "$locks" 0; then
		mounted_matrix "davfs2-locks-$locks"
		expect_match "  its user's text is in lost+found, too" kept.json "$(ls "$m/lost+found")"
		succeeds "  unmounts" umount "$m"
	fi
done
succeeds "in the end all is as it was" untouched

# ---- a restart under an open file

# delayed: with its default delay, ten seconds, davfs2 renames before it sends.
if davfs_mounts delay 1 10; then
	sed 's/500/400/' "$work/Schedule.good" >"$work/edited"
	succeeds "  saves by sed -i" sed -i s/500/400/ "$m/Workflow/Schedule/kept.json"
	eventually "    the server has it" holds "$work/edited" /dav/Workflow/Schedule/kept.json
	expect "    nothing was lost" "" "$(ls "$m/lost+found")"
	succeeds "  unmounts" umount "$m"
fi
if davfs_mounts restart 1 0; then
	sed 's/500/300/' "$work/Schedule.good" >"$work/edited"
	exec 5>"$m/Workflow/Schedule/kept.json"
	eventually "  holds a lock" locked /dav/Workflow/Schedule/kept.json
	stop
	expect "    the server stops" 0 "$stopped"
	start 5>&- # else it would hold the file open
	succeeds "    and starts again; the lock is still there" locked /dav/Workflow/Schedule/kept.json
	request PUT /dav/Workflow/Schedule/kept.json -T "$work/Schedule.good"
	expect "    for others" 423 "$status"
	cat "$work/edited" >&5
	exec 5>&-
	eventually "    what is saved then is accepted" holds "$work/edited" /dav/Workflow/Schedule/kept.json
	eventually "    and the lock is gone" unlocked /dav/Workflow/Schedule/kept.json
	expect "    nothing was lost" "" "$(ls "$m/lost+found")"
	succeeds "  unmounts" umount "$m"
fi


stop
expect "the server stops in good order" 0 "$stopped"
finish
