package contents

import (
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestLargeContentIsAFile: a small content is held in memory, a large one is a file, and a
// dry run makes none.
func TestLargeContentIsAFile(t *testing.T) {
	t.Parallel()
	small, large := strings.Repeat("a", inlineSize), strings.Repeat("b", inlineSize+1)
	for _, test := range []struct {
		text   string
		dryRun bool
		inFile bool
		spools int
	}{
		{"", false, false, 0},
		{small, false, false, 0},
		{small, true, false, 0},
		{large, false, true, 1},
		{large, true, true, 0},
	} {
		s := newShelf()
		k := newKeeper(s, s)
		c, err := k.Read("text/plain", strings.NewReader(test.text), test.dryRun)
		if err != nil {
			t.Fatal(err)
		}
		if c.InFile() != test.inFile || c.Size() != int64(len(test.text)) || c.Sum() != store.DigestOf([]byte(test.text)) {
			t.Errorf("%d bytes, dry run %t: in a file %t, %d bytes, digest %x", len(test.text), test.dryRun, c.InFile(), c.Size(), c.Sum())
		}
		if len(s.done) != test.spools {
			t.Errorf("%d bytes, dry run %t: what was done is %q", len(test.text), test.dryRun, s.done)
		}
		ran := false
		if err := k.StoringContent(t.Context(), c, func() error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("%d bytes, dry run %t: stored %t, %v", len(test.text), test.dryRun, ran, err)
		}
		if kept := len(s.files) == 1; kept != (test.spools == 1) {
			t.Errorf("%d bytes, dry run %t: %d files", len(test.text), test.dryRun, len(s.files))
		}
	}
}

// TestReadFails: the error of a body is the answer, however much came before.
func TestReadFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, size := range []int{0, inlineSize, 3 * inlineSize} {
		for _, dryRun := range []bool{false, true} {
			s := newShelf()
			body := io.MultiReader(strings.NewReader(strings.Repeat("a", size)), iotest.ErrReader(broken))
			if _, err := newKeeper(s, s).Read("text/plain", body, dryRun); !errors.Is(err, broken) {
				t.Errorf("after %d bytes, dry run %t: %v", size, dryRun, err)
			}
		}
	}
}

// TestSpoolIsBounded: a dry run refuses a content that is too large, too.
func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	s := newShelf()
	for _, dryRun := range []bool{false, true} {
		if _, err := newKeeper(s, s).Spool(strings.NewReader("abcd"), 3, dryRun); !errs.Is(err, errs.TooLarge) {
			t.Errorf("dry run %t: %v", dryRun, err)
		}
		c, err := newKeeper(s, s).Spool(strings.NewReader("abc"), 3, dryRun)
		if err != nil || c.Size() != 3 || c.Sum() != sha256.Sum256([]byte("abc")) {
			t.Errorf("dry run %t: %v", dryRun, err)
		}
	}
}

// TestOpenMessage: a message is opened wherever its content is, and looked for
// again if its file has gone.
func TestOpenMessage(t *testing.T) {
	t.Parallel()
	s := newShelf()
	k, sum := newKeeper(s, s), store.DigestOf([]byte("x"))
	s.files[sum] = true
	for _, m := range []store.Message{
		{Content: []byte("x"), SHA256: sum}, {InFile: true, SHA256: sum},
	} {
		opened, err := k.OpenMessage(func() (*store.Message, error) { return &m, nil })
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(opened.Body); err != nil || string(text) != "x" {
			t.Errorf("in a file %t: %q, %v", m.InFile, text, err)
		}
		if err := opened.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	tries := 0
	opened, err := k.OpenMessage(func() (*store.Message, error) {
		tries++
		return &store.Message{InFile: true, SHA256: [32]byte{8}}, nil
	})
	if !errors.Is(err, ErrGone) || opened != nil || tries != attempts {
		t.Errorf("after %d tries: %v, %v", tries, opened, err)
	}
}
