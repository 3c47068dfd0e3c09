package notify

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
)

// TestDayInChats: what chats show of a day of the example routes, which a test of the
// engine plays, is in testdata/told.
func TestDayInChats(t *testing.T) {
	t.Parallel()
	told := filepath.Join("..", "testdata", "told")
	day, err := os.ReadFile(filepath.Join(told, "day.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Templates() {
		if name == StandardTemplate { // it sends the notice as it is
			continue
		}
		d := destinationAt(name, "https://chat.example.org")
		to, err := url.Parse(d.URL)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for line := range strings.Lines(string(day)) {
			var p notice.Payload
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			_, body := templates()[name].write(to, "key", &p)
			fmt.Fprintf(&got, "%s %s", p.Timestamp, document.Line(body))
		}
		path := filepath.Join(told, "day-"+name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
