package quota

import (
	"errors"
	"io"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// stored is a store in which a user has so many bytes.
type stored struct {
	store.BlobReader
	bytes int64
	err   error
}

func (s stored) StoredBytes(identity.ID) (int64, error) { return s.bytes, s.err }

// limit is a quota of 100 bytes, of which the user 9 has 10.
var limit = Bytes{Most: 100, Own: func(user identity.ID) int64 { return map[identity.ID]int64{9: 10}[user] }}

func TestUsage(t *testing.T) {
	t.Parallel()
	for used, available := range map[int64]int64{0: 100, 40: 60, 100: 0, 140: 0} {
		if u, err := limit.Usage(stored{bytes: used}, 1); err != nil || u != (Usage{Used: used, Available: available}) {
			t.Errorf("%d bytes stored: %+v, %v", used, u, err)
		}
	}
}

// TestRoom: what is replaced makes room, and an announced length that is too
// much is refused before anything is read.
func TestRoom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		used, freed, announced, room int64
		full                         bool
	}{
		{0, 0, -1, 100, false},
		{40, 0, 60, 60, false},
		{40, 0, 61, 0, true},
		{100, 30, 30, 30, false},
		{140, 0, -1, 0, false},
		{140, 0, 0, 0, false},
		{140, 30, 1, 0, true},
	} {
		room, err := limit.Room(stored{bytes: test.used}, 1, test.freed, test.announced)
		if room != test.room || errs.Is(err, errs.Full) != test.full || errors.Is(err, ErrUsedUp) != test.full {
			t.Errorf("%+v: %d, %v", test, room, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := limit.Check(stored{bytes: 60}, 1, 40); err != nil {
		t.Errorf("exactly as much as there is room for: %v", err)
	}
	if err := limit.Check(stored{bytes: 60}, 1, 41); !errs.Is(err, errs.Full) || !errors.Is(err, ErrUsedUp) {
		t.Errorf("a byte too many: %v", err)
	}
}

// TestOwnBound: the bound that an administrator has given a user holds in place of that of
// the settings, and the refusal says which it is.
func TestOwnBound(t *testing.T) {
	t.Parallel()
	if u, err := limit.Usage(stored{bytes: 4}, 9); err != nil || u != (Usage{Used: 4, Available: 6}) {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := limit.Room(stored{bytes: 4}, 9, 0, 7); !errs.Is(err, errs.Full) {
		t.Errorf("more than there is room for: %v", err)
	}
	if err := limit.Check(stored{bytes: 4}, 9, 7); !errs.Is(err, errs.Full) || !strings.Contains(err.Error(), "more than the 10 bytes") {
		t.Errorf("a byte too many: %v", err)
	}
	if err := (Bytes{Most: 5}).Check(stored{bytes: 4}, 9, 1); err != nil {
		t.Errorf("nobody has a bound of their own: %v", err)
	}
}

// TestStoreFails: an error of the store is the answer, and not that the quota
// is used up.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	broken := stored{err: errors.New("broken")}
	if _, err := limit.Usage(broken, 1); !errors.Is(err, broken.err) {
		t.Errorf("Usage: %v", err)
	}
	if _, err := limit.Room(broken, 1, 0, 1000); !errors.Is(err, broken.err) {
		t.Errorf("Room: %v", err)
	}
	if err := limit.Check(broken, 1, 1000); !errors.Is(err, broken.err) {
		t.Errorf("Check: %v", err)
	}
}

func TestBytesReader(t *testing.T) {
	t.Parallel()
	if _, err := io.ReadAll(limit.Reader(1, strings.NewReader("hello"), 4)); !errs.Is(err, errs.Full) {
		t.Errorf("a body that is too long: %v", err)
	}
	if text, err := io.ReadAll(limit.Reader(1, strings.NewReader("hello"), 5)); err != nil || string(text) != "hello" {
		t.Errorf("a body for which there is room: %q, %v", text, err)
	}
}
