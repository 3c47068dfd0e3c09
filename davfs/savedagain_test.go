package davfs

import (
	"strings"
	"testing"
)

// TestTemporaryFileOfSedInADropFolder: sed -i writes a file of its own and renames it. That
// starts nothing, and the file that it is renamed to starts a case, of which its user is told.
func TestTemporaryFileOfSedInADropFolder(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 PUT Routes/bug/screen.csv | first | 201
		+70
		davfs2 PUT Routes/bug/sed7kS6JV | second | 201
		curl GET Cases/20.json | | 404
		davfs2 GET Routes/bug/Rejected/@sed7kS6JV.txt | | 404
		davfs2 MOVE Routes/bug/sed7kS6JV -> Routes/bug/screen.csv | | 20.
		curl GET Cases/20.json | | 200
		davfs2 GET Routes/bug/sed7kS6JV | | 404
		davfs2 GET Routes/bug/Rejected/Case~~20~~was~~started,~~too.txt | | 200 | (?s:.*screen.csv was saved again.*another case, 20.*Case 19, .* goes on.*)
	`, "@", "20261120T120000Z~~"))
}

// TestDeletedDropGoesOn: who deletes a file that was dropped by mistake is told that its
// case goes on, and how to end it.
func TestDeletedDropGoesOn(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Routes/bug/wrong.csv | first | 201
		davfs2 DELETE Routes/bug/wrong.csv | | 204
		davfs2 GET Routes/bug/Rejected/Case~~19~~goes~~on.txt | | 200 | (?s:.*wrong.csv was deleted here.*the case 19,.*goes on.*delete Cases/19.json.*)
	`)
}

// TestDropOfFailedCaseIsTriedAgain: who corrects a file whose case has failed finds a note
// that says what has become of it, and no second case; a script has that in the answer.
func TestDropOfFailedCaseIsTriedAgain(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Routes/load.yaml | {access: {start: [sam]}, states: {open: {type: start}, done: {type: complete}}, actions: {begin: {trigger: init}, finish: {trigger: auto, in: [open], to: done, onFire: [{set: {n: {cel: 'int(message["InputMessage"].n)'}}}]}}} | 201
		davfs2 PUT Routes/load/rates.json | {"n": "x"} | 201
		davfs2 LIST Routes/load/ | | 207 | (?s:.*rates.json.*)
		curl PUT Routes/load/rates.json | {"n": "y"} | 200 | {"warnings":."Case 20 had failed. This file is its input now .*
		davfs2 PUT Routes/load/rates.json | {"n": "8"} | 204
		davfs2 GET Routes/load/Rejected/Case~~20~~is~~tried~~again.txt | | 200 | (?s:.*rates.json was saved again.*Case 20 had failed.*tried again with it.*Status/cases/20.txt.*)
		curl GET Cases/20.json | | 200 | (?s:.*"state": "completed".*)
		curl GET Cases/21.json | | 404
		davfs2 PUT Routes/load/other.json | {"n": "x"} | 201
		davfs2 DELETE Routes/load/other.json | | 204
		davfs2 GET Routes/load/Rejected/Case~~21~~stays~~failed.txt | | 200 | (?s:.*other.json was deleted here.*the case 21,.*stays failed.*)
	`)
}

// TestMoveOfEqualBytesLeavesNothing: a program that writes what is stored and renames it
// leaves neither its temporary file nor a note about that.
func TestMoveOfEqualBytesLeavesNothing(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Routes/own.yaml | {access: {start: [everyone]}, states: {open: {type: start}, done: {type: complete}}, actions: {begin: {trigger: init}, end: {in: [open], allowed: everyone, to: done}}} | 201
		davfs2 PUT Routes/own.new | {access: {start: [everyone]}, states: {open: {type: start}, done: {type: complete}}, actions: {begin: {trigger: init}, end: {in: [open], allowed: everyone, to: done}}} | 201
		davfs2 MOVE Routes/own.new -> Routes/own.yaml | | 20.
		davfs2 GET Routes/own.new | | 404
		davfs2 LIST Routes/Rejected/ | | 404
	`)
}

// TestStoredWithWarnings: who stores a route, a schedule entry or a new case with warnings on a mount
// finds a note with them, until it is stored without.
func TestStoredWithWarnings(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Routes/leave.yaml | {states: {open: {type: start}, lost: {}}, actions: {begin: {trigger: init}}} | 201
		davfs2 GET Routes/Rejected/leave.yaml~~has~~warnings.txt | | 200 | (?s:.*is in force, but .*/states/open: is a dead end.*)
		rclone PUT Routes/leave.yaml | {access: {start: [everyone]}, states: {open: {type: start}, done: {type: complete}}, actions: {begin: {trigger: init}, end: {in: [open], allowed: everyone, to: done}}} | 20.
		davfs2 GET Routes/Rejected/leave.yaml~~has~~warnings.txt | | 404
		rclone PUT Schedule/odd.json | {"type": "crontab", "route": "bug", "spec": "*/7 * * * *"} | 201
		davfs2 GET Schedule/Rejected/odd.json~~has~~warnings.txt | | 200 | (?s:.*begins anew with each hour.*)
		rclone PUT Cases/other.json | {"route": "tip", "id": 7, "state": "active"} | 201
		davfs2 GET Cases/Rejected/other.json~~has~~warnings.txt | | 200 | (?s:.* has started case [0-9]+ on .*, but .*/id: this has made a new case, .*Cases/7.json.*)
	`)
}

// TestWordsForMounts: what cannot be saved says where to save it, without the words of the
// protocol.
func TestWordsForMounts(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 PUT Status/overview.txt | mine | 403
		davfs2 PUT Cases/18/log.txt | mine | 405
		davfs2 GET Cases/18/Rejected/@log.txt.txt | | 200 | (?s:.*shows how things stand and cannot be changed by saving it.*)
		davfs2 DELETE Routes/tip.yaml | | 409
		davfs2 GET Routes/Rejected/@tip.yaml.txt | | 200 | (?s:.*flowdrive rm --force.*)
	`, "@", "20261120T120000Z~~"))
}

// TestTimesOfNotes: the times in a note are those of its reader's zone, which is named.
func TestTimesOfNotes(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	const agent = "User-Agent: davfs2/1.6.1"
	for _, tt := range []struct{ user, zone, want string }{
		{"sam", "Europe/Berlin", "was not saved on 2012-11-09 13:34 Europe/Berlin."},
		{"ann", "", "was not saved on 2012-11-09 12:34 UTC."},
	} {
		if tt.zone != "" {
			if rec := d.ask(t, tt.user+" PUT /dav/Account/me.json", `> {"timezone": "`+tt.zone+`"}`); rec.Code >= 300 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
		d.ask(t, tt.user+" PUT /dav/Workflow/Schedule/w.json", agent, "> {what")
		all := ""
		for _, text := range rejectedTexts(t, d, tt.user, "/dav/Workflow/Schedule/") {
			all += text
		}
		if !strings.Contains(all, tt.want) {
			t.Errorf("%s reads %q", tt.user, all)
		}
	}
}

// TestStartFormSavedAgain: who saves the file of a case again to start another one finds a
// note that it has changed the case, once, or reads in the refusal that the file is that case.
func TestStartFormSavedAgain(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		curl:eva PUT Routes/buy.yaml | {access: {start: [sam]}, xattrs: {amount: {type: number, edit: []}}, states: {open: {type: start}, done: {type: complete}}, actions: {begin: {trigger: init}, end: {in: [open], allowed: everyone, to: done}}} | 201
		davfs2 PUT Cases/new.yaml | {route: buy, title: Doc, xattrDict: {amount: 3}} | 201
		+70
		davfs2 PUT Cases/new.yaml | {route: buy, title: Chair, xattrDict: {amount: 3}} | 204
		davfs2 GET Cases/Rejected/Case~~20~~was~~changed.txt | | 200 | (?s:.*Cases/new.yaml was saved again.*the file of case 20, which it has started on 2012-11-09 12:34 UTC, so that this case was changed .title. and no other.*another name.*)
		davfs2 GET Status/refused.txt | | 200 | (?s:.*If you meant another case, save that under another name.*If you meant this case.*)
		+70
		davfs2 PUT Cases/new.yaml | {route: buy, title: Lamp, xattrDict: {amount: 3}} | 204
		davfs2 GET Cases/Rejected/Case~~20~~was~~changed.txt | | 200 | (?s:.*on 2026-11-20 12:01 UTC.*)
		davfs2 PUT Cases/new.yaml | {route: buy, title: Lamp, xattrDict: {amount: 4}} | 403 | .*administrators alone. This file is case 20 already, which is in .*another name. To give this one up, delete the file.*
		curl PUT Cases/20.json | {"title": "Mine"} | 204
		davfs2 DELETE Cases/Rejected/ | | 204
		davfs2 PUT Cases/20.json | {"title": "Mine, too"} | 204
		davfs2 LIST Cases/Rejected/ | | 404
		curl PUT Cases/20/Actions/end.json | {} | 204
		davfs2 PUT Cases/new.yaml | {route: buy, title: Lamp, xattrDict: {amount: 5}} | 403 | .*This file is case 20 already, which has ended in .*"done.*another name.*
	`)
}

// TestGivingACaseUp: who deletes a case where it only shows, or renames it there, is told which
// file to delete or to change, by the name under which it is listed; one note for a folder.
func TestGivingACaseUp(t *testing.T) {
	t.Parallel()
	newScene(t).play(strings.ReplaceAll(`
		davfs2 DELETE Routes/tip/Board/open/18~~tip.json | | 403 | .*shows where case 18 stands. To give the case up, move it to a state that ends it, or delete its file Cases/bug.json: that cancels an open case.*
		davfs2:ann DELETE Routes/tip/Board/open/18~~tip.json | | 404
		davfs2 DELETE Routes/tip/Board/open | | 403 | .*they are the states of the route.*delete its file in Cases/.*
		davfs2 MOVE Routes/tip/Board/open/18~~tip.json -> Routes/tip/Board/open/18~~lamp.json | | 409 | .*The case is in "open"; move it to another state.* To call it something else, change "title" in its file Cases/bug.json.*
		davfs2 DELETE Cases/18/Actions/resolve.json | | 403
		davfs2 DELETE Cases/18/Actions | | 403
		davfs2 DELETE Cases/18/log.txt | | 403
		davfs2 DELETE Cases/18 | | 403 | .*The folder of a case stays. To give the case up, delete its file Cases/bug.json.*
		davfs2 LIST Cases/Rejected/ | | 207 | The%20folder%20of%20case%2018%20stays.txt
		davfs2 LIST Cases/18/Rejected/ | | 404
		davfs2 LIST Cases/18/Actions/Rejected/ | | 404
		davfs2 GET Cases/Rejected/The~~folder~~of~~case~~18~~stays.txt | | 200 | (?s:/dav/Workflow/Cases/18 was not deleted on .*delete its file Cases/bug.json.*)
		davfs2 GET Status/refused.txt | | 200 | (?s:.*   /dav/Workflow/Cases/18\n  The folder of a case stays, .*)
		davfs2 MOVE Cases/18 -> Cases/lamp | | 403 | .*change "title" in its file Cases/bug.json.*
		davfs2 MOVE Cases/bug.json -> Cases/lamp.json | | 201
		davfs2 LIST Cases/ | | 207 | 18 Rejected lamp.json
		davfs2 GET Status/cases/18.txt | | 200 | (?s:.*The case is /dav/Workflow/Cases/18.json, which is listed there under the name that\nits file was given.*)
		davfs2 PUT Cases/18/Actions/start.json | {"do": "perform"} | 404 | .*"start" is the task of a draft, and case 18 has started: it is active, in "open".*
	`, "@", "20261120T120000Z~~"))
}
