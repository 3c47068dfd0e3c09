package davfs

import "testing"

// TestEmptiedFileIsNoted: who empties a document on a mount is told that it is in force, until
// the file has a text again. A program that renames before it sends the text leaves no note.
func TestEmptiedFileIsNoted(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Schedule/w.json | {"route":"tip","type":"cron","hour":22} | 201
		davfs2 PUT Schedule/w.json | '' | 204
		davfs2 GET Schedule/Rejected/w.json~~is~~empty.txt | | 200 | (?s:.*w.json was saved without any text.*in force.*)
		curl GET Schedule/w.json | | 200 | (?s:.*22.*)
		davfs2 PUT Schedule/w.json | {"route":"tip","type":"cron","hour":23} | 204
		davfs2 LIST Schedule/Rejected/ | | 404
		windows PUT Schedule/w.json | '' | 204
		davfs2 LIST Schedule/Rejected/ | | 404
		davfs2 PUT Schedule/w.json~ | '' | 201
		davfs2 MOVE Schedule/w.json~ -> Schedule/w.json | | 204
		davfs2 LIST Schedule/Rejected/ | | 404
		rclone PUT Routes/tip.yaml | '' | 204
		davfs2 GET Routes/Rejected/tip.yaml~~is~~empty.txt | | 200 | (?s:.*in force.*)
	`)
}
