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
		davfs2 LIST Cases/19/ | | 207 | Actions Files Labels Messages Outbox Timers comment.txt diagram.mmd diagram.svg diagram.txt input log.json log.txt
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
	// Of two with one name the first has it; /attachfs/ has the same.
	for _, body := range []string{"first", "second"} {
		if rec := s.ask(t, "sam PUT /attachfs/19/note.txt", "> "+body); rec.Code != 201 {
			t.Fatalf("attach: %d %s", rec.Code, rec.Body)
		}
	}
	s.play(`
		curl LIST Cases/19/Files/ | | 207 | Invoice~4711.pdf note%20%282%29.txt note.txt
		curl GET Cases/19/Files/note.txt | | 200 | first
		curl GET Cases/19/Files/note~~(2).txt | | 200 | second
		curl PUT Cases/19/Files/third.txt | third | 201`)
	if got := s.ask(t, "sam GET /attachfs/19/.contents").Body.String(); strings.Count(got, `"uuid"`) != 3 || !strings.Contains(got, "third.txt") {
		t.Errorf("/attachfs/19/ has %s", got)
	}
}

// TestFilesOfTwoPeople: who attaches a file under the name of somebody else's does not take the
// name, is told so, and replaces their own when they save again. The log says who did what.
func TestFilesOfTwoPeople(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.play(`
		curl PUT Cases/x.json | {"route":"bug","stakeholders":["bob"]} | 201
		davfs2 PUT Cases/19/Files/q.pdf | of sam | 201
		davfs2:bob PUT Cases/19/Files/q.pdf | of bob | 20.
		+61
		davfs2:bob GET Cases/19/Files/q.pdf | | 200 | of sam
		davfs2:bob GET Cases/19/Files/q~~(2).pdf | | 200 | of bob
		davfs2:bob GET Cases/19/Rejected/q.pdf~~is~~q~~(2).pdf.txt | | 200 | (?s:.*q.pdf was saved .* as q \(2\).pdf.*somebody else.*)
		davfs2:bob PUT Cases/19/Files/q.pdf | of bob, again | 204
		+61
		curl LIST Cases/19/Files/ | | 207 | q%20%282%29.pdf q.pdf
		curl GET Cases/19/Files/q~~(2).pdf | | 200 | of bob, again
		davfs2:bob DELETE Cases/19/Files/q.pdf | | 403
		davfs2 PUT Cases/19/Files/q.pdf | more of sam | 204
		curl LIST Cases/19/Files/ | | 207 | q%20%282%29.pdf q.pdf
		curl GET Cases/19/Files/q.pdf | | 200 | more of sam
		davfs2:bob MOVE Cases/19/Files/q~~(2).pdf -> Cases/19/Files/r.pdf | | 201
		davfs2:bob DELETE Cases/19/Files/r.pdf | | 204
		curl GET Cases/19/log.txt | | 200 | (?s:.*sam.*Attached q.pdf, 6 bytes.*bob.*Attached q \(2\).pdf, 6 bytes.*bob.*Replaced the file q \(2\).pdf, 13 bytes.*sam.*Replaced the file q.pdf, 11 bytes.*bob.*Renamed the file q \(2\).pdf to r.pdf.*bob.*Deleted the file r.pdf.*)
		curl GET Cases/19/Files/q.pdf | | 200 | more of sam
	`)
}
