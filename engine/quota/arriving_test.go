package quota

import (
	"io"
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// TestArriving: bodies that come at the same time have the room of one.
func TestArriving(t *testing.T) {
	t.Parallel()
	var a Arriving
	const sam, ann = 3, 4
	read := func(r io.Reader) error { _, err := io.ReadAll(r); return err }
	first, firstDone := a.Reader(limit, sam, strings.NewReader("six by"), 10)
	if err := read(first); err != nil {
		t.Errorf("6 of 10 bytes: %v", err)
	}
	second, secondDone := a.Reader(limit, sam, strings.NewReader("five!"), 10)
	if err := read(second); !errs.Is(err, errs.Full) {
		t.Errorf("11 of 10 bytes in two bodies: %v", err)
	}
	other, otherDone := a.Reader(limit, ann, strings.NewReader("five!"), 5)
	if err := read(other); err != nil {
		t.Errorf("another user's: %v", err)
	}
	secondDone()
	third, thirdDone := a.Reader(limit, sam, strings.NewReader("four"), 10)
	if err := read(third); err != nil {
		t.Errorf("10 of 10 bytes after the refused body has ended: %v", err)
	}
	for _, done := range []func(){firstDone, firstDone, otherDone, thirdDone} {
		done()
	}
	if len(a.by) != 0 {
		t.Errorf("%v are counted still", a.by)
	}
}
