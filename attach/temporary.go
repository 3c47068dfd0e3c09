package attach

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"

	"flowdrive/internal/errs"
)

// Temporary is a content in a file that has no name any more: it is gone when it is
// closed, and when the process ends, however that ends. It waits there until it is
// stored elsewhere.
type Temporary struct {
	*os.File
	sum  [sha256.Size]byte
	size int64
}

// Temporary reads r to its end, at most limit bytes, into a temporary file of the
// folder. The errors are those of Spool.
func (f *Folder) Temporary(r io.Reader, limit int64) (*Temporary, error) {
	const op = "write a content"
	file, err := os.CreateTemp(filepath.Join(f.path, spoolName), "")
	if err != nil {
		return nil, failure(op, err)
	}
	t := &Temporary{File: file}
	if err = failure(op, os.Remove(file.Name())); err == nil {
		t.sum, t.size, err = fill(file, r, limit)
	}
	if err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}

// Sum returns the content's SHA-256.
func (t *Temporary) Sum() [sha256.Size]byte { return t.sum }

// Size returns how many bytes the content has.
func (t *Temporary) Size() int64 { return t.size }

// Discard closes the file, with which it is gone. It may be called again.
func (t *Temporary) Discard() {
	// Nothing is lost if that fails: nobody needs the file any more.
	_ = t.Close()
}

// fill writes r to the file, at most limit bytes, and returns the SHA-256 and the
// length. An error of r is returned as it is.
func fill(file io.Writer, r io.Reader, limit int64) (sum [sha256.Size]byte, size int64, err error) {
	hash := sha256.New()
	source := &reader{r: r, limit: limit}
	size, err = io.Copy(io.MultiWriter(file, hash), source)
	if source.err != nil {
		return sum, 0, source.err
	}
	hash.Sum(sum[:0])
	return sum, size, failure("write a content", err)
}

// reader reads at most limit bytes, and remembers why it ended so that a
// fault of the source is told from one of the disk.
type reader struct {
	r     io.Reader
	limit int64 // what may still come
	err   error
}

func (r *reader) Read(p []byte) (n int, err error) {
	n, err = r.r.Read(p)
	if r.limit -= int64(n); r.limit < 0 {
		err = errs.New(errs.TooLarge, "The content is larger than is allowed here.")
	}
	if err != nil && err != io.EOF { //nolint:errorlint // an io.Reader ends with io.EOF itself
		r.err = err
	}
	return n, err
}
