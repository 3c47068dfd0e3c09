package davfs

import (
	"strings"
	"testing"
)

// TestFilesOfACase: what is dropped keeps its name and gives the case its title;
// what is attached lies beside it under the names that it was given.
func TestFilesOfACase(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.play(`
		davfs2 PUT Routes/tip/Invoice~4711.pdf | paid | 201
		curl LIST Cases/19/Files/ | | 207 | Invoice~4711.pdf
		curl GET Cases/19/Files/Invoice~4711.pdf | | 200 | paid
		curl GET Cases/19.json | | 200 | (?s:.*"title": "Invoice~4711".*)
		davfs2 LIST Cases/19/ | | 207 | Actions Files Labels Messages Outbox Timers diagram.mmd diagram.svg diagram.txt input log.json log.txt
		davfs2 PUT Cases/19/Files/Invoice~4711.pdf | other | 403
		davfs2 DELETE Cases/19/Files/Invoice~4711.pdf | | 403
		curl GET Cases/19/Files/Invoice~4711.pdf | | 200 | paid

		davfs2 PUT Cases/19/Files/photo.jpg | '' | 201
		davfs2 PUT Cases/19/Files/photo.jpg | pixels | 201
		davfs2 HEAD Cases/19/Files/photo.jpg | | 200 | 6
		curl LIST Cases/19/Files/ | | 207 | Invoice~4711.pdf photo.jpg
		davfs2 PUT Cases/19/Files/photo.jpg | better pixels | 204
		curl GET Cases/19/Files/photo.jpg | | 200 | better pixels
		curl LIST Cases/19/Files/ | | 207 | Invoice~4711.pdf photo.jpg
		curl PUT Cases/19/Files/photo.jpg If-None-Match: * | x | 412
		rclone PUT Cases/19/Files/a:b.txt | x | 422
		rclone GET Cases/19/Rejected/20261120T120000Z~~a_b.txt | | 200 | x
		curl PUT Cases/99/Files/x.txt | x | 404
		curl:bob PUT Cases/19/Files/x.txt | x | 404
		curl:bob GET Cases/19/Files/photo.jpg | | 404
		curl DELETE Cases/19/Files/photo.jpg | | 204
		curl DELETE Cases/19/Files/photo.jpg | | 404
		curl LIST Cases/18/Files/ | | 207 |
		davfs2 PUT Routes/tip/no~ending?.title=Mine | x | 201
		curl GET Cases/20.json | | 200 | (?s:.*"title": "Mine".*)`)
	// Of two with one name the latest has it; /attachfs/ has the same.
	for _, body := range []string{"first", "second"} {
		if rec := s.ask(t, "sam PUT /attachfs/19/note.txt", "> "+body); rec.Code != 201 {
			t.Fatalf("attach: %d %s", rec.Code, rec.Body)
		}
	}
	s.play(`
		curl LIST Cases/19/Files/ | | 207 | Invoice~4711.pdf note%20%282%29.txt note.txt
		curl GET Cases/19/Files/note.txt | | 200 | second
		curl GET Cases/19/Files/note~~(2).txt | | 200 | first
		curl PUT Cases/19/Files/third.txt | third | 201`)
	if got := s.ask(t, "sam GET /attachfs/19/.contents").Body.String(); strings.Count(got, `"uuid"`) != 3 || !strings.Contains(got, "third.txt") {
		t.Errorf("/attachfs/19/ has %s", got)
	}
}
