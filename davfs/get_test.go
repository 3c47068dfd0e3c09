package davfs

import (
	"fmt"
	"testing"
)

// TestRangesOfAFile asks for parts of a file of three bytes.
func TestRangesOfAFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ asked, want string }{
		{"bytes=1-", "206 bytes 1-2/3 bc"},
		{"Bytes=-1", "206 bytes 2-2/3 c"},
		{"bytes=0-0", "206 bytes 0-0/3 a"},
		{"bytes=-0,0-1", "206 bytes 0-1/3 ab"},
		{"bytes=-0", "416 bytes */3"},
		{"bytes= -00", "416 bytes */3"},
		{"bytes=3-", "416 bytes */3"},
		{"lines=1-2", "200  abc"},
		{"lines", "200  abc"},
		{"", "200  abc"},
	} {
		d := newTestDrive(t)
		d.ask(t, "sam PUT /dav/Documents/sam/a.txt", "> abc")
		rec := d.ask(t, "sam GET /dav/Documents/sam/a.txt", "Range: "+tt.asked)
		got := fmt.Sprintf("%d %s", rec.Code, rec.Header().Get("Content-Range"))
		if rec.Code != 416 {
			got += " " + rec.Body.String()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.asked, got, tt.want)
		}
	}
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Documents/sam/none.txt")
	if rec := d.ask(t, "sam GET /dav/Documents/sam/none.txt", "Range: bytes=-0"); rec.Code != 200 && rec.Code != 416 {
		t.Errorf("of an empty file: got %d", rec.Code)
	}
}
