package contents

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// ErrDamaged says that a content has not the SHA-256 that is its name: what is on the
// disk is not what was stored.
var ErrDamaged = errs.New(errs.Internal, "The stored content is damaged. An administrator can restore it from a backup.")

// checkedAtOnce is how large a content may be, in bytes, to be compared with its name
// before anything of it is read; a larger one is compared while it is read.
const checkedAtOnce = 64 << 10

// verify returns the body of a content that is compared with its name.
func (k *Keeper) verify(sum [32]byte, body io.ReadSeekCloser) (io.ReadSeekCloser, error) {
	size, err := body.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = body.Close() // the first error counts
		return nil, errs.Wrap("open a content", err)
	}
	v := &verified{ReadSeekCloser: body, keeper: k, sum: sum, size: size, hash: sha256.New()}
	if size > checkedAtOnce {
		return v, nil
	}
	data, err := io.ReadAll(v)
	_ = body.Close() // what was read is compared
	if err != nil {
		return nil, err
	}
	return InMemory(data), nil
}

// checkInline compares a content in the database with its SHA-256.
func (k *Keeper) checkInline(sum store.Digest, data []byte) error {
	if got := store.DigestOf(data); got != sum {
		return k.damaged(sum, fmt.Sprintf("in the database it has the SHA-256 %x", got))
	}
	return nil
}

func (k *Keeper) damaged(sum [32]byte, what string) error {
	if k.OnDamage != nil {
		k.OnDamage(sum, what)
	}
	return errs.Wrap(fmt.Sprintf("the content %x: %s", sum, what), ErrDamaged)
}

// verified is a content that is compared with its name if it is read from its
// beginning to its end. The last part is not handed out if it differs.
type verified struct {
	io.ReadSeekCloser
	keeper *Keeper
	sum    [32]byte
	size   int64
	at     int64 // where the next read begins
	hashed int64 // of how many bytes the hash is
	hash   hash.Hash
	err    error
}

// Read implements io.Reader. Its error is ErrDamaged if the content is not what its
// name says.
func (v *verified) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.ReadSeekCloser.Read(p)
	if v.at == v.hashed {
		_, _ = v.hash.Write(p[:n])
		v.hashed += int64(n)
		if v.hashed == v.size && [32]byte(v.hash.Sum(nil)) != v.sum {
			v.err = v.keeper.damaged(v.sum, fmt.Sprintf("its file has %d bytes with the SHA-256 %x", v.size, v.hash.Sum(nil)))
			return 0, v.err
		}
	}
	v.at += int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // an io.Reader ends with io.EOF itself
		v.err = err
	}
	return n, err
}

// Seek implements io.Seeker.
func (v *verified) Seek(offset int64, whence int) (int64, error) {
	at, err := v.ReadSeekCloser.Seek(offset, whence)
	if err == nil {
		v.at = at
	}
	return at, err
}

// Err returns why reading has failed, nil if it has not.
func (v *verified) Err() error { return v.err }
