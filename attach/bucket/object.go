package bucket

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"flowdrive/attach"
)

// Open opens a content for reading. One that is not there is errs.NotFound. The store
// is asked once for a content that is read from its beginning to its end.
func (b *Bucket) Open(sum [32]byte) (io.ReadSeekCloser, error) {
	o := &object{bucket: b, name: attach.Name(sum)}
	var err error
	if o.body, o.size, err = b.get(o.name, 0); err != nil {
		return nil, err
	}
	return o, nil
}

// get asks for an object from an offset on, which lies within it. It returns the size
// of the whole if the offset is 0.
func (b *Bucket) get(name string, offset int64) (io.ReadCloser, int64, error) {
	const op = "open a content"
	var opts minio.GetObjectOptions
	if offset > 0 {
		if err := opts.SetRange(offset, 0); err != nil {
			return nil, 0, b.failure(op, err)
		}
	}
	// What is read later takes as long as it takes.
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(answerWithin, cancel) //nolint:forbidigo // a deadline of the context would end the reading of the body, too
	body, info, _, err := b.client.GetObject(ctx, b.config.Bucket, b.key(name), opts)
	if !timer.Stop() && err == nil {
		err = errors.Join(context.DeadlineExceeded, body.Close())
	}
	if err != nil {
		cancel()
		return nil, 0, b.failure(op, err)
	}
	return &answer{body, cancel}, info.Size, nil
}

// answer is the body of an answer whose request is canceled when it is closed: what
// was not read is not fetched.
type answer struct {
	io.ReadCloser
	cancel func()
}

// Close implements io.Closer.
func (a *answer) Close() error {
	a.cancel()
	return a.ReadCloser.Close()
}

// object is a content that is read.
type object struct {
	bucket *Bucket
	name   string
	size   int64
	at     int64         // where the next read begins
	body   io.ReadCloser // nil if the store was not asked yet
	bodyAt int64         // where that goes on
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (n int, err error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if err := o.ask(); err != nil {
		return 0, err
	}
	n, err = o.body.Read(p)
	o.at += int64(n)
	o.bodyAt = o.at
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && o.at == o.size:
		return n, io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	_ = o.Close() // the first error counts; who reads on asks anew
	return n, o.bucket.failure("read a content", err)
}

// ask asks for what is to be read next, unless it is on its way already.
func (o *object) ask() (err error) {
	if o.body != nil && o.bodyAt == o.at {
		return nil
	}
	if err := o.Close(); err != nil {
		return o.bucket.failure("read a content", err)
	}
	o.body, _, err = o.bucket.get(o.name, o.at)
	o.bodyAt = o.at
	return err
}

// Seek implements io.Seeker. It asks for nothing.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return o.at, errors.New("seek: before the beginning")
	}
	o.at = offset
	return offset, nil
}

// Close implements io.Closer.
func (o *object) Close() error {
	if o.body == nil {
		return nil
	}
	body := o.body
	o.body = nil
	return body.Close()
}
