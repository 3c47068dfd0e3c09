package davfs

import (
	"fmt"
	"strings"
	"testing"
)

// TestLargeRepresentationIsNotKept: a request of a few bytes may be answered with megabytes,
// and what is kept for its repetition counts against no quota. The repetition is answered
// without the representation, and does nothing.
func TestLargeRepresentationIsNotKept(t *testing.T) {
	t.Parallel()
	for size, whole := range map[int]bool{100: true, 17 << 10: false} {
		d := newTestDrive(t, func(c *Config) { c.MaxDocument = 64 << 10 })
		made := d.do(t, []string{"sam PUT /dav/Workflow/Cases/new.json", fmt.Sprintf(`> {"route": "bug", "xattrDict": {"text": %q}}`, strings.Repeat("x", size))}, "")
		if made.Code != 201 {
			t.Fatalf("%d: made %d %s", size, made.Code, made.Body)
		}
		request := []string{"sam PUT " + made.Header().Get("Location"), "Idempotency-Key: k", "Prefer: return=representation", `> {"title": "Other"}`}
		first, second := d.do(t, request, ""), d.do(t, request, "")
		if first.Code != 200 || !strings.Contains(first.Body.String(), strings.Repeat("x", size)) {
			t.Fatalf("%d: first %d %.200s", size, first.Code, first.Body)
		}
		if second.Header().Get("Idempotent-Replayed") != "true" || second.Header().Get("Location") != first.Header().Get("Location") {
			t.Errorf("%d: again %d %v", size, second.Code, second.Header())
		}
		if whole && second.Body.String() != first.Body.String() || !whole && (second.Code != 204 || second.Body.Len() > 0 || second.Header().Get("Preference-Applied") != "") {
			t.Errorf("%d: again %d %v %.200s", size, second.Code, second.Header(), second.Body)
		}
	}
}
