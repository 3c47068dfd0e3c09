package davfs

import "testing"

// TestRefusedInOnePlace: who does not know where to look finds in one file what was refused
// to them, and nobody else's.
func TestRefusedInOnePlace(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		curl GET Status/refused.txt | | 200 | .*\n\nNothing.
		davfs2 PUT Schedule/w.json | {"route":"tip","type":"often"} | 422
		+60
		davfs2 MKCOL Schedule/Invoices | | 403
		davfs2 GET Status/refused.txt | | 200 | .*12:01 UTC   /dav/Workflow/Schedule/Invoices\n  Folders of your own.*\n  All of it is in /dav/Workflow/Schedule/Rejected/20261120T120100Z Invoices.txt\n\n.*12:00 UTC   /dav/Workflow/Schedule/w.json\n  1:23 /type: .*\n  What was sent is in /dav/Workflow/Schedule/Rejected/20261120T120000Z w.json\n.*
		davfs2 PUT Schedule/w.json | {"route":"tip","type":"cron","hour":22} | 201
		davfs2 PUT Schedule/w.json | '' | 204
		davfs2 GET Status/refused.txt | | 200 | .*/dav/Workflow/Schedule/w.json\n  /dav/Workflow/Schedule/w.json was saved without any text on [^\n]*\n  All of it is in /dav/Workflow/Schedule/Rejected/w.json is empty.txt\n.*
		davfs2:ann GET Status/refused.txt | | 200 | .*Nothing.
		davfs2 PUT Status/refused.txt | x | 403
	`)
}

// TestOnlyNotesAreRefusals: neither what the server keeps to answer a repeated PUT nor what was
// sent itself is listed as if it were a note, whatever their names end with.
func TestOnlyNotesAreRefusals(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Routes/bug/taken.txt | hello | 201
		davfs2 GET Status/refused.txt | | 200 | .*\n\nNothing.
		davfs2 PUT Routes/bug/a:b.txt | - what I sent | 422
		davfs2 GET Status/refused.txt | | 200 | [^\n]*\n\n[^\n]*   /dav/Workflow/Routes/bug/a:b.txt\n  [^\n]*\n  What was sent is in [^\n]*b.txt\n  All of it is in [^\n]*b.txt.txt
	`)
}

// TestSameFileRefusedTwice: the same file that is refused in two folders which share a
// Rejected/ has a note for each of them.
func TestSameFileRefusedTwice(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Routes/bug/Board/open/offer.pdf | pixels | 404
		+26
		davfs2 PUT Routes/bug/Board/offer.pdf | pixels | 404
		+5
		davfs2 PUT Routes/bug/Board/offer.pdf | pixels | 404
		davfs2 LIST Routes/bug/Rejected/ | | 207 | 20261120T120000Z%20offer.pdf 20261120T120000Z%20offer.pdf.txt 20261120T120026Z%20offer.pdf 20261120T120026Z%20offer.pdf.txt
		davfs2 GET Status/refused.txt | | 200 | (?s:.*   /dav/Workflow/Routes/bug/Board/offer.pdf\n.*   /dav/Workflow/Routes/bug/Board/open/offer.pdf\n.*)
	`)
}
