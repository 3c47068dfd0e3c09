package contents

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"flowdrive/store"
)

// onDisk returns a keeper of one content that is on the disk as given.
func onDisk(t *testing.T, text string) (k *Keeper, open func(sum [32]byte) (io.ReadSeekCloser, error), damaged *int) {
	t.Helper()
	s := newShelf()
	k = newKeeper(s, s)
	damaged = new(int)
	k.OnDamage = func([32]byte, string) { *damaged++ }
	return k, func(sum [32]byte) (io.ReadSeekCloser, error) {
		return k.verify(sum, InMemory([]byte(text)))
	}, damaged
}

// TestDamageIsNoticed: a content that is read whole is compared with its name. If it
// differs, the last of it is not handed out, and it is told.
func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, checkedAtOnce, checkedAtOnce + 1, 3 * checkedAtOnce} {
		good := strings.Repeat("x", size)
		sum := store.DigestOf([]byte(good))
		for what, text := range map[string]string{
			"whole": good, "a bit": "y" + good[1:], "cut": good[:size-1], "longer": good + "x", "empty": "",
		} {
			_, open, damaged := onDisk(t, text)
			got, err := readBody(open, sum)
			whole := what == "whole"
			if whole && (err != nil || got != good || *damaged != 0) {
				t.Errorf("%d bytes, whole: %d bytes, %v", size, len(got), err)
			}
			if !whole && (!errors.Is(err, ErrDamaged) || len(got) >= max(len(text), 1) || *damaged != 1) {
				t.Errorf("%d bytes, %s: %d bytes of %d, told %d times: %v", size, what, len(got), len(text), *damaged, err)
			}
		}
	}
}

func readBody(open func([32]byte) (io.ReadSeekCloser, error), sum [32]byte) (string, error) {
	body, err := open(sum)
	if err != nil {
		return "", err
	}
	defer body.Close()
	var out bytes.Buffer
	_, err = io.Copy(&out, body)
	return out.String(), err
}

// TestPartsAreNotCompared: a part of a content can be read, and what is read again
// from the beginning is compared.
func TestPartsAreNotCompared(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 2*checkedAtOnce)
	_, open, _ := onDisk(t, text)
	body, err := open(store.DigestOf([]byte("other")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := body.Seek(-10, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if part, err := io.ReadAll(body); err != nil || string(part) != text[:10] {
		t.Errorf("got %q, %v", part, err)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(body); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	k, _, damaged := onDisk(t, "")
	if _, err := k.OpenRow(false, store.DigestOf([]byte("a")), []byte("b")); !errors.Is(err, ErrDamaged) || *damaged != 1 {
		t.Errorf("in the database: %v", err)
	}
}
