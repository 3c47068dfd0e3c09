package davfs

import "testing"

// TestFolderOfAGivenName: what belongs to a case or a schedule entry is found below its
// given name, too (docs/contract/drive.md#identity-and-given-name; row e10).
func TestFolderOfAGivenName(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		curl GET Cases/bug/log.txt | | 200 | (?s:.*sam Created.*)
		curl GET Cases/BUG/Actions/ | | 200
		curl PUT Cases/bug/Labels/Note | text | 201
		curl:ann GET Cases/bug/log.txt | | 404
		curl GET Cases/bug/ | | 404
		curl GET Cases/other/log.txt | | 404
		curl GET Cases/other/Actions/x/y | | 404
		curl GET Cases/bug.json/log.txt | | 404
		curl PUT Schedule/nightly.yaml | {"route":"bug","type":"cron","hour":22} | 201
		curl GET Schedule/nightly/occurrences.json | | 200
		curl GET Schedule/none/occurrences.json | | 404
		davfs2 PUT Cases/.bug.swp | x | 201
		davfs2 GET Cases/.bug.swp/log.txt | | 404
	`)
}
