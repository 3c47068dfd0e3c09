package davfs

import "testing"

// TestRemarkOnAMount: a text that is saved as comment.txt is a remark, as davfs2 and rclone
// send it. What they repeat is said once, and who decides sees the last one.
func TestRemarkOnAMount(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		curl LIST Cases/18/ | | 207 | .*comment.txt.*
		davfs2 PUT Cases/18/comment.txt | '' | 204
		davfs2 LIST Cases/Rejected/ | | 404
		davfs2 PUT Cases/18/comment.txt | When is it due? | 204
		davfs2 PUT Cases/18/comment.txt | When is it due? | 204
		+120
		davfs2 PUT Cases/18/comment.txt | When is it due? | 204
		rclone PUT Cases/18/comment.txt | It is urgent. | 204
		rclone GET Cases/18/comment.txt | | 200 | It is urgent.
		curl GET Cases/18/log.txt | | 200 | [^?]*Remarked: When is it due.\n[^?]*Remarked: It is urgent.
		curl GET Worklist/Offered/18.resolve.json | | 200 | .*"text": "It is urgent.".*
		curl GET Status/cases/18.txt | | 200 | .*“It is urgent.” by sam.*
		curl GET Cases/18/comment.txt | | 200 |
		curl PUT Cases/18/comment.txt | '' | 422
		curl PUT Cases/99/comment.txt | Hello. | 404
		curl DELETE Cases/18/comment.txt | | 405
	`)
}
