package davfs

import (
	"net/http"
	"strings"
	"testing"
)

// TestNotesInPlainWords: people on a mount do not know methods and headers, so that the notes
// about what was refused do not name them.
func TestNotesInPlainWords(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 PUT Schedule/w.json If-None-Match: * | {"route":"tip","type":"cron","hour":22} | 201
		davfs2 PUT Schedule/w.json If-None-Match: * | {"route":"tip","type":"cron","hour":23} | 412
		davfs2 GET Status/refused.txt | | 200 | .*\n  There is a file of this name already, and your program wanted to make a new one.*
		+60
		davfs2 PUT Schedule/w.json If-Match: "x" | {"route":"tip","type":"cron","hour":23} | 412
		davfs2 GET Status/refused.txt | | 200 | .*12:01 UTC   [^ ]*w.json\n  The file has changed since your program has read it.*
		+60
		davfs2 PUT Schedule/v.json If-Match: "x" | {"route":"tip","type":"cron","hour":23} | 412
		davfs2 GET Status/refused.txt | | 200 | .*12:02 UTC   [^ ]*v.json\n  The file is not there any more.*
		+60
		davfs2 PUT Routes/tip.yml If-None-Match: * | title: Tips | 412
		davfs2 GET Status/refused.txt | | 200 | .*12:03 UTC   [^ ]*tip.yml\n  The route is there already: tip.yaml is the same route as tip.yml. Save the text as tip.yaml.*
		curl PUT Routes/tip.yaml If-None-Match: * | title: Tips | 412 | .*The condition in If-None-Match is not met.*
	`)
}

// TestLockedNoteIsInZone: whose a lock is, since when and until when is told in the zone of
// who reads it, in notes and in answers alike.
func TestLockedNoteIsInZone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if rec := s.ask(t, "sam PUT /dav/Account/me.json", `> {"timezone": "Europe/Berlin"}`); rec.Code != http.StatusNoContent {
		t.Fatal(rec.Code, rec.Body)
	}
	if rec := s.ask(t, "eva LOCK /dav/Workflow/Cases/18.json", "Timeout: Second-600", lockBody); rec.Code != http.StatusOK {
		t.Fatal(rec.Code, rec.Body)
	}
	s.play(`davfs2 PUT Cases/18.json | {"title": "Other"} | 423`)
	const says = `"/dav/Workflow/Cases/18.json" is locked until 2012-11-09 13:44 Europe/Berlin by eva`
	note := s.ask(t, "sam GET /dav/Workflow/Status/refused.txt").Body.String()
	answer := s.ask(t, "sam PUT /dav/Workflow/Cases/18.json", "User-Agent: curl/8", `> {"title": "Other"}`).Body.String()
	answer = strings.ReplaceAll(answer, `\"`, `"`)
	for _, text := range []string{note, answer} {
		if !strings.Contains(text, says) || !strings.Contains(text, "who has taken or renewed the lock at 2012-11-09 13:34 Europe/Berlin; wait, or ask eva.") {
			t.Error(text)
		}
	}
}
