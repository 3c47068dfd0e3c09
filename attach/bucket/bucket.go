// Package bucket keeps contents in a store that speaks S3, as objects named by their
// SHA-256 below a prefix. One installation has a prefix for itself: what it collects
// there might be another's.
package bucket

import (
	"context"
	"io"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"flowdrive/attach"
	"flowdrive/engine/contents"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
)

var _ attach.Keeper = (*Bucket)(nil)

// Config says which bucket it is, and who asks.
type Config struct {
	Address

	// Key, Secret and Token are those of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
	// AWS_SESSION_TOKEN. Token may be empty.
	Key, Secret, Token string

	// Owner is the id of the installation that the prefix belongs to.
	Owner string
}

// Bucket is a place of contents. It may be used from any goroutine.
type Bucket struct {
	config Config
	local  *attach.Folder
	client *minio.Core

	mu      sync.Mutex
	claimed bool
}

const (
	dialWithin   = 3 * time.Second
	answerWithin = 5 * time.Second  // until a request without a body is answered
	stalledAfter = 30 * time.Second // without a byte in either direction
	attempts     = 2
)

// New returns the bucket. It asks nobody; see Claim and Check. In the local folder wait
// contents that are on their way into the bucket, and there all are pinned.
func New(c Config, local *attach.Folder) (*Bucket, error) {
	host, secure := c.endpoint()
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialWithin}
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return impatient{conn}, nil
	}
	client, err := minio.NewCore(host, &minio.Options{
		Creds: credentials.NewStaticV4(c.Key, c.Secret, c.Token), Secure: secure, Region: c.Region,
		BucketLookup: minio.BucketLookupPath, MaxRetries: attempts, Transport: transport,
	})
	if err != nil {
		return nil, err
	}
	return &Bucket{config: c, local: local, client: client}, nil
}

// impatient is a connection on which something must go on.
type impatient struct{ net.Conn }

// Read implements io.Reader.
func (c impatient) Read(p []byte) (int, error) { return whileMoving(c.Conn, c.Conn.Read, p) }

// Write implements io.Writer.
func (c impatient) Write(p []byte) (int, error) { return whileMoving(c.Conn, c.Conn.Write, p) }

func whileMoving(conn net.Conn, do func([]byte) (int, error), p []byte) (int, error) {
	if err := conn.SetDeadline(clock.Real{}.Now().Add(stalledAfter)); err != nil {
		return 0, err
	}
	return do(p)
}

// ownerName is the object below the prefix that has the id of the owner.
const ownerName = "flowdrive-owner"

// Claim makes the prefix the owner's if it is nobody's, and makes sure as Check does.
func (b *Bucket) Claim() error {
	_, err := b.owner()
	if errs.Is(err, errs.NotFound) {
		err = b.putOwner()
	}
	if err != nil {
		return err
	}
	return b.Check()
}

// Check makes sure that the bucket can be used, and that the prefix is the owner's.
// If it cannot be used so, the error has a *Refused as its cause (see AsRefused), else
// it is errs.Unavailable: the store did not answer.
func (b *Bucket) Check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claimed {
		return nil
	}
	err := b.Look()
	b.claimed = err == nil
	return err
}

// Look is Check that asks the store each time.
func (b *Bucket) Look() error {
	owner, err := b.owner()
	if errs.Is(err, errs.NotFound) {
		return unavailable("look whose contents they are", &Refused{"below " + b.where() + " there are no contents of this installation"})
	}
	if err != nil {
		return err
	}
	if owner != b.config.Owner {
		return unavailable("look whose contents they are", &Refused{"the prefix " + b.where() + " belongs to another installation; give another prefix, as each needs one for itself"})
	}
	return nil
}

func (b *Bucket) owner() (string, error) {
	body, _, err := b.get(ownerName, 0)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 1<<10))
	return string(text), b.failure("read who owns the contents", err)
}

func (b *Bucket) putOwner() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	var opts minio.PutObjectOptions
	opts.DisableMultipart = true
	opts.SetMatchETagExcept("*") // of two that claim it, one wins
	_, err := b.client.Client.PutObject(ctx, b.config.Bucket, b.key(ownerName), strings.NewReader(b.config.Owner), int64(len(b.config.Owner)), opts)
	if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed {
		return nil
	}
	return b.failure("claim the place of contents", err)
}

// Spool reads r to its end, at most limit bytes, into a local file. More bytes are
// errs.TooLarge, an error of r is returned as it is; either way nothing stays behind.
func (b *Bucket) Spool(r io.Reader, limit int64) (contents.Spooled, error) {
	t, err := b.local.Temporary(r, limit)
	if err != nil {
		return nil, err
	}
	return &spooled{t, b}, nil
}

// spooled is a content that is not in the bucket yet.
type spooled struct {
	*attach.Temporary
	bucket *Bucket
}

// Keep stores the content. An object appears whole or not at all. One that is there
// is replaced by the same.
func (s *spooled) Keep() error {
	b := s.bucket
	if err := b.Check(); err != nil {
		return err
	}
	defer s.Discard()
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return errs.Wrap("read a content that is to be stored", err)
	}
	_, err := b.client.Client.PutObject(context.Background(), b.config.Bucket, b.key(attach.Name(s.Sum())), s.File, s.Size(), minio.PutObjectOptions{
		DisableMultipart: true, // parts of an upload that was cut would stay
		ContentType:      "application/octet-stream",
	})
	return b.failure("store a content", err)
}

// Remove removes a content. One that is not there is removed.
func (b *Bucket) Remove(sum [32]byte) error { return b.remove(attach.Name(sum)) }

func (b *Bucket) remove(name string) error {
	if err := b.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	return b.failure("remove a content", b.client.RemoveObject(ctx, b.config.Bucket, b.key(name), minio.RemoveObjectOptions{}))
}

// Unpinned runs f while nobody can pin the contents, and reports whether it did.
func (b *Bucket) Unpinned(f func() error) (ran bool, err error) { return b.local.Unpinned(f) }

// Pin implements attach.Place.
func (b *Bucket) Pin() (release func() error, err error) { return b.local.Pin() }

// Size implements attach.Place.
func (b *Bucket) Size(sum [32]byte) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	info, err := b.client.StatObject(ctx, b.config.Bucket, b.key(attach.Name(sum)), minio.StatObjectOptions{})
	return info.Size, b.failure("look at a content", err)
}

// Walk implements attach.Place.
func (b *Bucket) Walk(ctx context.Context, f func(attach.Found) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := b.key("")
	for object := range b.client.ListObjectsIter(ctx, b.config.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if object.Err != nil {
			return b.failure("list contents", object.Err)
		}
		below := strings.TrimPrefix(object.Key, prefix)
		if below == ownerName {
			continue
		}
		sum, own := attach.SumOf(below)
		if err := f(attach.Found{Name: b.where() + "/" + below, Sum: sum, Own: own}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Delete implements attach.Place.
func (b *Bucket) Delete(found attach.Found) error {
	return b.remove(strings.TrimPrefix(found.Name, b.where()+"/"))
}

// Name implements attach.Place: s3://bucket/prefix/ab/cd/abcd….
func (b *Bucket) Name(sum [32]byte) string { return b.where() + "/" + attach.Name(sum) }

// String returns the address, as ParseAddress reads it.
func (b *Bucket) String() string { return b.config.String() }

// where names the prefix for people.
func (b *Bucket) where() string {
	return strings.TrimSuffix("s3://"+b.config.Bucket+"/"+b.config.Prefix, "/")
}

// key returns the key of an object below the prefix; of "" the beginning of all keys.
func (b *Bucket) key(name string) string {
	if name == "" && b.config.Prefix != "" {
		return b.config.Prefix + "/"
	}
	return path.Join(b.config.Prefix, name)
}
