package quota

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestCountIsReadOnceAndKeptInStep: a count is read once and kept in step from then on.
func TestCountIsReadOnceAndKeptInStep(t *testing.T) {
	t.Parallel()
	var c Counts
	asked := 0
	count := func(identity.ID) (int64, error) { asked++; return 2, nil }
	c.Add(Entries, 1, 5) // not known yet: it will be among what is counted
	if err := c.Check(Entries, 1, 3, count); err != nil {
		t.Errorf("2 of 3: %v", err)
	}
	c.Add(Entries, 1, 1)
	if err := c.Check(Entries, 1, 3, count); !errs.Is(err, errs.TooMany) {
		t.Errorf("3 of 3: %v", err)
	}
	if err := c.Check(OpenCases, 1, 3, count); err != nil {
		t.Errorf("2 of 3 of another kind: %v", err)
	}
	c.Add(Entries, 1, -1)
	if err := c.Check(Entries, 1, 3, count); err != nil || asked != 2 {
		t.Errorf("2 of 3 again: %v, and it was counted %d times, want 2", err, asked)
	}
	broken := errors.New("broken")
	fails := func(identity.ID) (int64, error) { return 0, broken }
	if err := c.Check(Entries, 2, 3, fails); !errors.Is(err, broken) {
		t.Errorf("a count that fails: %v", err)
	}
	if err := c.Check(Entries, 2, 3, count); err != nil {
		t.Errorf("a count that fails is kept: %v", err)
	}
}

func TestReaderStopsAtTheQuota(t *testing.T) {
	t.Parallel()
	full := errs.New(errs.Full, "full")
	for room, want := range map[int64]error{4: full, 5: nil, 6: nil} {
		r := Reader(iotest.OneByteReader(strings.NewReader("hello")), room, func() error { return full })
		text, err := io.ReadAll(r)
		if !errors.Is(err, want) || err == nil && string(text) != "hello" {
			t.Errorf("room for %d: %q, %v", room, text, err)
		}
	}
}
