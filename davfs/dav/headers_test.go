package dav

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
)

const aToken = "urn:uuid:a0000000-0000-4000-8000-000000000011"

func TestReadDestination(t *testing.T) {
	t.Parallel()
	open := func(string) bool { return true }
	named := func(host string) bool {
		return slices.ContainsFunc([]string{"flow.example.org", "files.example.org:8443", "[::1]"}, func(name string) bool { return SameHost(name, host) })
	}
	for _, tt := range []struct {
		own    func(host string) bool
		header string
		want   string // the path, or the kind of the error
	}{
		{open, "/dav/Documents/sam/a", "/dav/Documents/sam/a"},
		{open, "http://x/dav/a%20b", "/dav/a b"},
		{open, "https://sam:secret@x:8080/dav/a/", "/dav/a"},
		{open, "/dav//a", "/dav/a"},
		{open, "http://x", "bad-parameter"},
		{open, "", "bad-parameter"},
		{open, "dav/a", "bad-parameter"},
		{open, "mailto:a@b", "bad-parameter"},
		{open, "/dav/../etc", "bad-parameter"},
		{open, "/dav/a%2Fb", "bad-parameter"},
		{open, "/dav/a%00b", "bad-parameter"},
		{open, "/dav/a%7f", "bad-parameter"},
		{open, "/dav/%ff", "bad-parameter"},
		{open, "/dav/a%", "bad-parameter"},
		{open, "/dav/a?b", "bad-parameter"},
		{open, "/dav/a#b", "bad-parameter"},
		{open, strings.Repeat("/a", 65), "bad-parameter"},
		{open, "/" + strings.Repeat("a", 5000), "bad-parameter"},
		{named, "/dav/a", "/dav/a"},
		{named, "http://flow.example.org/dav/a", "/dav/a"},
		{named, "https://FLOW.example.org:8443/dav/a", "/dav/a"},
		{named, "https://files.example.org:8443/dav/a", "/dav/a"},
		{named, "https://files.example.org/dav/a", "other-server"},
		{named, "http://[::1]:8080/dav/a", "/dav/a"},
		{named, "http://elsewhere.example.org/dav/a", "other-server"},
	} {
		at, err := ReadDestination([]string{tt.header}, tt.own)
		got := at.String()
		if err != nil {
			got = string(errs.KindOf(err))
		}
		if got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.header, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error quotes it: %v", tt.header, err)
		}
	}
	for _, values := range [][]string{nil, {"/a", "/b"}} {
		if _, err := ReadDestination(values, open); !errs.Is(err, errs.BadParameter) {
			t.Errorf("%q: got %v", values, err)
		}
	}
}

func TestReadTimeout(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": 0, "Second-600": 10 * time.Minute, "second-1": time.Second, "Second-0": time.Second, "Infinite": 0,
		"Infinite, Second-4100000000": 0, "Extend, Second-5": 5 * time.Second, "Second-": 0, "Second--5": 0, "Second-+5": 0,
		"Second-99999999999999999999": 1 << 32 * time.Second, "600": 0, "Second-5, Infinite": 5 * time.Second, " Second-7 ": 7 * time.Second,
	} {
		if got := ReadTimeout([]string{header}); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
}

func TestReadLockToken(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"<" + aToken + ">":            aToken,
		aToken:                        aToken,
		"<" + strings.ToUpper(aToken): "bad-parameter",
		"<URN:UUID:A0000000-0000-4000-8000-000000000011>": aToken,
		"<opaquelocktoken:1>":                             Token{}.String(),
		"":                                                "bad-parameter",
		"<>":                                              "bad-parameter",
		"nonsense":                                        "bad-parameter",
		"<" + aToken + "> <" + aToken + ">":               "bad-parameter",
	} {
		token, err := ReadLockToken([]string{header})
		got := token.String()
		if err != nil {
			got = string(errs.KindOf(err))
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

func TestReadLockInfo(t *testing.T) {
	t.Parallel()
	const scoped = `<lockscope><exclusive/></lockscope><locktype><write/></locktype>`
	wrap := func(inner string) string { return `<lockinfo xmlns="DAV:">` + inner + `</lockinfo>` }
	for body, want := range map[string]string{
		wrap(scoped): "exclusive ",
		wrap(`<lockscope><shared/></lockscope><locktype><write/></locktype>`): "shared ",
		wrap(scoped + `<owner>sam &amp; ann</owner>`):                         "exclusive sam &amp; ann",
		wrap(scoped + `<owner><href>mailto:a</href></owner>`):                 `exclusive <href xmlns="DAV:">mailto:a</href>`,
		`<x:lockinfo xmlns:x="DAV:" xmlns:y="u:y"><x:lockscope><x:exclusive/></x:lockscope><x:locktype><x:write/></x:locktype><x:owner><y:me a="1"/></x:owner></x:lockinfo>`: `exclusive <me xmlns="u:y" a="1"></me>`,
		wrap(scoped + `<unknown xmlns="u:z"><a/></unknown>`): "exclusive ",
		wrap(`<lockscope><exclusive/></lockscope>`):          "not-parseable",
		wrap(`<lockscope/><locktype><write/></locktype>`):    "not-parseable",
		wrap(scoped + scoped):                                "not-parseable",
		`<propfind xmlns="DAV:"/>`:                           "not-parseable",
		`<lockinfo>` + scoped + `</lockinfo>`:                "not-parseable",
		`<!DOCTYPE a>` + wrap(scoped):                        "not-parseable",
		`{}`:                                                 "not-parseable",
	} {
		info, err := ReadLockInfo([]byte(body))
		got := string(errs.KindOf(err))
		if err == nil {
			got = "exclusive " + info.Owner
			if info.Shared {
				got = "shared " + info.Owner
			}
		}
		if got != want {
			t.Errorf("%s: got %q, %v, want %q", body, got, err, want)
		}
	}
	if info, err := ReadLockInfo([]byte(" \n")); info != nil || err != nil {
		t.Errorf("an empty body: %v, %v", info, err)
	}
}

func FuzzDestination(f *testing.F) {
	for _, seed := range []string{"/dav/Documents/sam/a%20b", "http://u:p@x:80/dav/a/", "/dav/../a", "//x/dav", "http://[::1]/a", "/%2e%2e/a"} {
		f.Add(seed)
	}
	own := func(host string) bool { return SameHost("x", host) }
	f.Fuzz(func(t *testing.T, header string) {
		at, err := ReadDestination([]string{header}, own)
		if err != nil {
			if kind := errs.KindOf(err); kind != errs.BadParameter && kind != errs.OtherServer {
				t.Fatalf("%q: %v", header, err)
			}
			return
		}
		again, err := ReadDestination([]string{Href(at.Segments...)}, own)
		if err != nil || !slices.Equal(again.Segments, at.Segments) {
			t.Errorf("%q: %q is read as %q, %v", header, at.Segments, again.Segments, err)
		}
		for _, name := range at.Segments {
			if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00\n") {
				t.Errorf("%q holds the name %q", header, name)
			}
		}
	})
}

func FuzzTimeout(f *testing.F) {
	for _, seed := range []string{"Second-3600", "Infinite, Second-4100000000", "Second-0", "Extend"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if got := ReadTimeout([]string{header}); got < 0 || got > 1<<32*time.Second {
			t.Errorf("%q: %v", header, got)
		}
	})
}

func FuzzLockToken(f *testing.F) {
	for _, seed := range []string{"<" + aToken + ">", aToken, "<opaquelocktoken:x>", "<>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, err := ReadLockToken([]string{header})
		if err != nil {
			if !errs.Is(err, errs.BadParameter) {
				t.Fatalf("%q: %v", header, err)
			}
			return
		}
		if again, err := ReadLockToken([]string{"<" + token.String() + ">"}); err != nil || again != token {
			t.Errorf("%q: %v is read as %v, %v", header, token, again, err)
		}
	})
}

// FuzzLockInfo: what the holder of a lock says of itself is told to everybody,
// so that it must be XML by itself.
func FuzzLockInfo(f *testing.F) {
	for _, seed := range []string{
		`<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner><href>a</href></owner></lockinfo>`,
		`<D:lockinfo xmlns:D="DAV:" xmlns:x="u:x"><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>a&lt;<x:b c="&quot;"/></D:owner></D:lockinfo>`,
		`<!DOCTYPE a>`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		info, err := ReadLockInfo(body)
		if err != nil {
			if !errs.Is(err, errs.NotParseable) {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if info == nil {
			return
		}
		var owner struct{}
		if err := xml.Unmarshal([]byte("<owner>"+info.Owner+"</owner>"), &owner); err != nil {
			t.Errorf("%q: the owner %q: %v", body, info.Owner, err)
		}
	})
}

func TestReadDepth(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{"": "deep", "0": "flat", "infinity": "deep", "Infinity": "deep", "1": "bad-parameter"} {
		got := "flat"
		deep, err := ReadDepth("LOCK", header)
		if deep {
			got = "deep"
		}
		if err != nil {
			got = string(errs.KindOf(err))
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
}
