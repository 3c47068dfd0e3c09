package davfs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/store"
)

// TestListingSize: a member has about 400 bytes in an answer to allprop.
func TestListingSize(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.fillDocuments(t, "reports", 1000, func(_ int, doc *store.Document) { doc.MediaType = "application/json" })
	body := d.ask(t, "sam PROPFIND /dav/Documents/sam/reports/", "Depth: 1").Body.String()
	if got := len(body) / 1000; got > 400 {
		t.Errorf("%d bytes a member:\n%.2000s", got, body)
	}
}

// TestWindowsIsShownWhatItTakes: no more than 2,000 members, the newest, and
// never more bytes than it reads.
func TestWindowsIsShownWhatItTakes(t *testing.T) {
	t.Parallel()
	const windows = "User-Agent: Microsoft-WebDAV-MiniRedir/10.0.22631"
	d := newTestDrive(t)
	later := func(i int, doc *store.Document) { doc.Modified = d.clock.Now().Add(time.Duration(i) * time.Second) }
	d.fillDocuments(t, "many", 2100, later)
	all := d.ask(t, "sam PROPFIND /dav/Documents/sam/many/", "Depth: 1").Body.String()
	if n := strings.Count(all, "<D:response>"); n != 2101 {
		t.Errorf("others are shown %d", n)
	}
	shown := d.ask(t, "sam PROPFIND /dav/Documents/sam/many/", "Depth: 1", windows).Body.String()
	if n := strings.Count(shown, "<D:response>"); n != 2002 {
		t.Errorf("Windows is shown %d members, want 2000, the note and the folder", n-1)
	}
	const note = "100%20more%20files%20are%20not%20shown.txt"
	if last := shown[strings.LastIndex(shown, "<D:response>"):]; !strings.Contains(last, note) {
		t.Errorf("the last entry is %s", last)
	}
	if strings.Contains(all, "not%20shown") {
		t.Error("a whole listing says that it is cut")
	}
	rec := d.ask(t, "sam GET /dav/Documents/sam/many/"+note, windows)
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "100 files and folders") || !strings.Contains(shown, fmt.Sprintf("getcontentlength>%d<", rec.Body.Len())) {
		t.Errorf("the note: %d %s", rec.Code, rec.Body)
	}
	for _, step := range []string{"sam GET /dav/Documents/sam/many/1000%20more%20files%20are%20not%20shown.txt", "sam GET /dav/Documents/sam/many/0%20more%20files%20are%20not%20shown.txt", "bob GET /dav/Documents/sam/many/" + note, "sam GET /dav/Documents/sam/none/" + note, "sam DELETE /dav/Documents/sam/many/" + note} {
		if rec := d.ask(t, step, windows); rec.Code != 404 {
			t.Errorf("%s: %d %s", step, rec.Code, rec.Body)
		}
	}
	if rec := d.ask(t, "sam GET /dav/Documents/sam/many/"+note, "User-Agent: curl/8"); rec.Code != 404 {
		t.Errorf("a program that is shown all finds the note: %d", rec.Code)
	}
	for name, want := range map[string]bool{"00099.txt": false, "00100.txt": true, "02099.txt": true} {
		if got := strings.Contains(shown, name); got != want {
			t.Errorf("%s is shown: %v", name, got)
		}
	}
	d.fillDocuments(t, "long", 2100, func(_ int, doc *store.Document) { doc.Name = strings.Repeat("x", 180) + doc.Name })
	rec = d.ask(t, "sam PROPFIND /dav/Documents/sam/long/", "Depth: 1", windows)
	told := strings.Count(rec.Body.String(), "<D:response>") - 2
	if want := strings.ReplaceAll(notShownName(2100-told), " ", "%20"); !strings.Contains(rec.Body.String(), want) {
		t.Errorf("the answer is cut for its size and does not have %q", want)
	}
	if n := rec.Body.Len(); n > 1_000_000 || n < 990_000 {
		t.Errorf("Windows is shown %d bytes", n)
	}
	if outline(t, rec.Body.String()) == "" {
		t.Error("the answer is empty")
	}
}
