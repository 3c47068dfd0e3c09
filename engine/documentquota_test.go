package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
)

// TestDocumentQuota: bytes count to who wrote them, wherever they lie.
func TestDocumentQuota(t *testing.T) {
	t.Parallel()
	const quota = 10_000
	w := newWorld(t, withQuota(quota))
	sam, ann := w.as("sam"), w.as("ann")
	put := func(u user, at string, size int, announced int64) error {
		_, err := w.Files.PutDocument(t.Context(), u.request(nil), path(at), contents.Upload{Size: announced, Body: bytes.NewReader(make([]byte, size))})
		return err
	}
	for _, tt := range []struct {
		what     string
		err      error
		want     errs.Kind
		sam, ann int64
	}{
		{"6,000 of sam's", put(sam, "core/a", 6000, 6000), "", 6000, 0},
		{"5,000 more", put(sam, "sam/b", 5000, 5000), errs.Full, 6000, 0},
		{"5,000 more, not announced", put(sam, "sam/b", 5000, -1), errs.Full, 6000, 0},
		{"4,001 more, not announced", put(sam, "sam/b", 4001, -1), errs.Full, 6000, 0},
		{"4,000 more", put(sam, "sam/b", 4000, -1), "", quota, 0},
		{"one more", put(sam, "sam/c", 1, -1), errs.Full, quota, 0},
		{"nothing more", put(sam, "sam/d", 0, 0), "", quota, 0},
		{"others in the place of his own", put(sam, "core/a", 6000, 6000), "", quota, 0},
		{"one byte more than his own", put(sam, "core/a", 6001, 6001), errs.Full, quota, 0},
		{"hers in the place of his", put(ann, "core/a", 9000, 9000), "", 4000, 9000},
		{"his in the place of hers", put(sam, "core/a", 6001, 6001), errs.Full, 4000, 9000},
		{"a file goes", sam.deleteDocument("sam/b"), "", 0, 9000},
	} {
		w.kind(tt.what, tt.err, tt.want)
	}
	if s, a := sam.used(), ann.used(); s != 0 || a != 9000 {
		t.Errorf("sam has %d, ann %d", s, a)
	}
	same(t, "what is left to her", try(w.Files.Quota(t.Context(), ann.by())).must(w, "quota"), engine.Quota{Used: 9000, Available: 1000})

	// Messages count as well, and are refused before they are read.
	id := sam.startCase(`{"route": "ask", "input": "` + strings.Repeat("i", 4000) + `"}`)
	if got := sam.used(); got != 4000 {
		t.Errorf("with an input of 4,000: %d", got)
	}
	_, err := sam.putLabel(id, "report", strings.Repeat("r", 6001))
	w.kind("a message beyond the quota", err, errs.Full)
	try(sam.putLabel(id, "report", strings.Repeat("r", 6000))).must(w, "a message within the quota")
	try(sam.putLabel(id, "report", strings.Repeat("s", 5999))).must(w, "another in its place")
	if got := sam.used(); got != 9999 {
		t.Errorf("with a message of 5,999: %d", got)
	}
	_, err = sam.putCase("", `{"route": "ask", "input": "two"}`)
	w.kind("a case whose input is beyond the quota", err, errs.Full)
	_, err = sam.putCase("", `{"route": "ask", "input": "1"}`)
	w.kind("a case whose input is not", err, "")
	_, err = sam.putCase("", `{"route": "ask"}`)
	w.kind("a case without input", err, errs.Full)
}
