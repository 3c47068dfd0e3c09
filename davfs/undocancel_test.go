package davfs

import (
	"testing"

	"flowdrive/engine"
)

// TestCaseThatIsCanceledByMistake: who deletes the file of a case on a mount is told that the
// case is canceled, finds it, and reopens it by a save as davfs2 and rclone send it: they see
// no such file.
func TestCaseThatIsCanceledByMistake(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"davfs2", "rclone"} {
		s := newScene(t)
		save := client + `:ann PUT Cases/19.json If-None-Match: * | {"state":"active"}`
		s.play(client + `:ann PUT Cases/buy.yaml | route: bug | 201
			+11
			` + client + `:ann DELETE Cases/buy.yaml | | 204
			` + client + `:ann LIST Cases/ | | 207 | .history Rejected
			` + client + `:ann GET Cases/Rejected/Case~~19~~is~~canceled.txt | | 200 | (?s:.*buy.yaml was deleted on .*canceled the case 19.*reopen it until 2012-11-09 12:49 UTC: save .* as Cases/19.json.*\{"state": "active"\}.*)
			` + client + `:ann LIST Worklist/Done/ | | 207 | 19.cancel%20.*.json
			` + client + `:ann GET Worklist/Done/19.cancel.json | | 200 | (?s:.*"text": "Canceled",.*"undo": "Until 2012-11-09T12:49:56Z: save .*Cases/19.json.*)
			` + client + `:ann LIST Status/cases/ | | 207 | 19.json 19.txt
			` + client + `:sam PUT Cases/19.json If-None-Match: * | {"state":"active"} | 40[34]
			curl:ann PUT Cases/19.json If-None-Match: * | {"state":"active"} | 412
			` + save + ` | 204
			` + client + `:ann LIST Cases/ | | 207 | .history 19 19.json
			curl:ann GET Cases/19.json | | 200 | (?s:.*"state": "active".*)
			` + client + `:ann GET Cases/Rejected/Case~~19~~is~~canceled.txt | | 404
			curl:ann PUT Cases/19.json | {"state":"canceled"} | 204
		`)
		s.clock.Set(s.clock.Now().Add(engine.UndoCancel))
		s.play(`
			+61
			` + save + ` | 403
			` + client + `:ann GET Cases/Rejected/20261120T120112Z~~19.json.txt | | 200 | (?s:.*who canceled it within 15 minutes.*)
		`)
	}
}
