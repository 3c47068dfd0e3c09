package davfs

import "testing"

// TestDeleteWhileASaveIsRepeated: who deletes the file of a case to be rid of a refused save that
// rclone sends again and again does not cancel the case. The next one does.
func TestDeleteWhileASaveIsRepeated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.play(`
		rclone PUT Cases/buy.yaml | route: tip | 201
		+100
		rclone PUT Cases/buy.yaml | state: no | 422
		rclone DELETE Cases/buy.yaml | | 204
		+300
		rclone PUT Cases/buy.yaml | state: no | 422
		rclone DELETE Cases/buy.yaml | | 204
		+30
		rclone DELETE Cases/buy.yaml | | 204
		rclone GET Cases/Rejected/Case~~19~~goes~~on.txt | | 200 | (?s:.*buy.yaml was deleted.*only that save was given up: the case 19 goes on.*)
		curl GET Cases/19.json | | 200 | (?s:.*"state": "active".*)
		+30
		rclone DELETE Cases/buy.yaml | | 204
		curl GET Cases/19.json | | 200 | (?s:.*"state": "canceled".*)
		# One that is accepted ends it, and so do ten minutes.
		rclone PUT Cases/a.yaml | route: tip | 201
		rclone PUT Cases/b.yaml | route: tip | 201
		rclone PUT Cases/c.yaml | route: tip | 201
		+100
		rclone PUT Cases/a.yaml | state: no | 422
		rclone PUT Cases/a.yaml | title: T | 204
		rclone PUT Cases/b.yaml | state: no | 422
		davfs2 PUT Cases/c.yaml | state: no | 4..
		+100
		rclone DELETE Cases/a.yaml | | 204
		davfs2 DELETE Cases/c.yaml | | 204
		+600
		rclone DELETE Cases/b.yaml | | 204
		curl GET Cases/.ls?state=canceled | | 200 | (?s:.*19.json.*20.json.*21.json.*22.json.*)
	`)
}
