package bucket_test

import (
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/attach"
	"flowdrive/attach/bucket"
	"flowdrive/internal/errs"
	"flowdrive/internal/placetest"
	"flowdrive/internal/s3server"
)

func open(t *testing.T, address, secret, owner string) *bucket.Bucket {
	t.Helper()
	a, err := bucket.ParseAddress(address, "")
	if err != nil {
		t.Fatal(err)
	}
	local, err := attach.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := bucket.New(bucket.Config{Address: a, Key: s3server.Key, Secret: secret, Owner: owner}, local)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPlace(t *testing.T) {
	t.Parallel()
	placetest.Run(t, func(t *testing.T) placetest.Subject {
		t.Helper()
		s := s3server.Start(t)
		return placetest.Subject{
			Open: func(t *testing.T) attach.Keeper {
				t.Helper()
				b := open(t, s.Address("a/b"), s3server.Secret, "me")
				if err := b.Claim(); err != nil {
					t.Fatal(err)
				}
				return b
			},
			Left: func(t *testing.T) int {
				t.Helper()
				n := 0
				err := filepath.WalkDir(filepath.Join(s.Folder, s3server.Bucket), func(path string, e fs.DirEntry, err error) error {
					if err == nil && !e.IsDir() && !strings.Contains(path, "/a/b/") {
						n++
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return n
			},
			Away: func(_ *testing.T, f func()) {
				s.Cut()
				defer s.Mend()
				f()
			},
		}
	})
}

// TestRefused: what cannot be used says in a sentence what to do, and no secret.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := s3server.Start(t)
	if err := open(t, s.Address("taken"), s3server.Secret, "another").Claim(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, s.Address("taken"), s3server.Secret, "another").Claim(); err != nil {
		t.Errorf("the owner comes back: %v", err)
	}
	for _, test := range []struct{ address, secret, want string }{
		{strings.Replace(s.Address(""), s3server.Bucket, "missing", 1), s3server.Secret, `there is no bucket "missing"`},
		{s.Address("x"), "a-wrong-secret-key", "does not accept the access key"},
		{s.Address("taken"), s3server.Secret, "belongs to another installation"},
		{s.Address("x") + "&region=eu-west-9", s3server.Secret, "correct region="},
	} {
		b := open(t, test.address, test.secret, "me")
		err := b.Claim()
		refused, ok := bucket.AsRefused(err)
		if !ok || !strings.Contains(refused.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.address, err, test.want)
		}
		if err != nil && (strings.Contains(err.Error(), test.secret) || strings.Contains(err.Error(), s3server.Key)) {
			t.Errorf("%s: the error has a secret: %v", test.address, err)
		}
		c, err := b.Spool(strings.NewReader("x"), 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Keep(); !errs.Is(err, errs.Unavailable) {
			t.Errorf("%s: kept: %v", test.address, err)
		}
		c.Discard()
		if err := b.Remove(c.Sum()); err == nil {
			t.Errorf("%s: removed", test.address)
		}
	}
}

// TestAddresses: what an address may be, and that it is written as it is read.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, region, want string }{
		{"s3://b", "", "s3://b?region=us-east-1"},
		{"s3://b/p/q/", "eu-west-1", "s3://b/p/q?region=eu-west-1"},
		{"s3://b/p?endpoint=s3.example.org&region=x", "y", "s3://b/p?endpoint=https://s3.example.org&region=x"},
		{"s3://b/p?endpoint=http://127.0.0.1:9000/", "", "s3://b/p?endpoint=http://127.0.0.1:9000&region=us-east-1"},
	} {
		a, err := bucket.ParseAddress(test.text, test.region)
		if err != nil || a.String() != test.want {
			t.Errorf("%s: %s, %v, want %s", test.text, a, err, test.want)
		}
		if again, err := bucket.ParseAddress(a.String(), "another"); err != nil || again != a {
			t.Errorf("%s: read again it is %s, %v", test.text, again, err)
		}
	}
	for _, text := range []string{
		"", "files", "https://b/p", "s3:///p", "s3://key:hushhush@b/p", "s3://b/p?endpoint=ftp://x", "s3://b/p?endpoint=http://x/y", "s3://b?endpoint=http://key:hushhush@x",
		"s3://b/p?secret=hushhush", "s3://b/p?region=a&region=b", "s3://b/p#f", "s3://b/%zz:hushhush",
	} {
		if a, err := bucket.ParseAddress(text, ""); err == nil || strings.Contains(err.Error(), "hushhush") {
			t.Errorf("%q: %s, %v", text, a, err)
		}
	}
}

// TestCutInTheMiddle: a connection that is cut while a content is read is an error, and
// reading goes on from there.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	s := s3server.Start(t)
	b := open(t, s.Address("p"), s3server.Secret, "me")
	if err := b.Claim(); err != nil {
		t.Fatal(err)
	}
	c, err := b.Spool(strings.NewReader(strings.Repeat("0123456789", 3<<20)), 1<<30)
	if err == nil {
		err = c.Keep()
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := b.Open(c.Sum())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	s.Cut()
	p := make([]byte, 1<<16)
	read := 0
	for err == nil {
		var n int
		n, err = body.Read(p)
		read += n
	}
	if !errs.Is(err, errs.Unavailable) || read == 30<<20 {
		t.Errorf("after %d bytes: %v", read, err)
	}
	s.Mend()
	if _, err := body.Seek(int64(read), 0); err != nil {
		t.Fatal(err)
	}
	for err = error(nil); err == nil; {
		var n int
		n, err = body.Read(p)
		read += n
	}
	if read != 30<<20 || err != io.EOF { //nolint:errorlint // an io.Reader ends with io.EOF itself
		t.Errorf("after %d bytes: %v", read, err)
	}
}
