package davfs

import (
	"crypto/sha1" //nolint:gosec // what clients compute
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestReadTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1352464496":                    "2012-11-09T12:34:56Z",
		" 1352464496.75 ":               "2012-11-09T12:34:56Z",
		"Fri, 09 Nov 2012 12:34:56 GMT": "2012-11-09T12:34:56Z",
		"2012-11-09T13:34:56+01:00":     "2012-11-09T12:34:56Z",
		"253402300799":                  "9999-12-31T23:59:59Z",
		"253402300800":                  "", "0": "", "-5": "", "": "", "soon": "", "1e9": "", "99999999999999999999": "",
		"1601-01-01T00:00:00Z": "",
	} {
		got := ""
		if at := readTime(text); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("readTime(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestTimesOfDocuments sets when a document was changed last in each way that clients
// have, so that sync programs see an edit of equal size.
func TestTimesOfDocuments(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	const at, old = "/dav/Documents/sam/a.txt", "Thu, 01 Jan 2009 00:00:00 GMT"
	modified := func(want string) {
		t.Helper()
		rec := d.ask(t, "sam HEAD "+at)
		if got := rec.Header().Get("Last-Modified"); got != want {
			t.Errorf("it was modified %s, want %s", got, want)
		}
		rec = d.ask(t, "sam PROPFIND "+at, "Depth: 0")
		if !strings.Contains(rec.Body.String(), "getlastmodified>"+want+"<") {
			t.Errorf("PROPFIND tells another time than %s: %s", want, rec.Body)
		}
	}
	rec := d.ask(t, "sam PUT "+at, "X-OC-Mtime: 1230768000", "> file 1 one")
	if got := rec.Result().Header["X-OC-Mtime"]; rec.Code != 201 || len(got) != 1 || got[0] != "accepted" { //nolint:staticcheck // as it is spelled on the wire
		t.Fatal(rec.Code, rec.Header())
	}
	modified(old)
	d.ask(t, "sam PUT "+at, "X-OC-Mtime: 1230768001", "> file 1 two")
	modified("Thu, 01 Jan 2009 00:00:01 GMT")
	d.ask(t, "sam PUT "+at, "X-OC-Mtime: yesterday", "> file 1 two")
	modified("Fri, 09 Nov 2012 12:34:56 GMT")
	for _, prop := range []string{
		`<D:lastmodified>1230768000</D:lastmodified>`,
		`<D:getlastmodified>Thu, 01 Jan 2009 00:00:00 GMT</D:getlastmodified>`,
		`<Z:Win32LastModifiedTime xmlns:Z="urn:schemas-microsoft-com:">Thu, 01 Jan 2009 00:00:00 GMT</Z:Win32LastModifiedTime>`,
	} {
		d.ask(t, "sam PUT "+at, "> file 1 two")
		tag := d.ask(t, "sam HEAD "+at).Header().Get("ETag")
		rec := d.ask(t, "sam PROPPATCH "+at, `> <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>`+prop+`</D:prop></D:set></D:propertyupdate>`)
		if rec.Code != 207 || !strings.Contains(rec.Body.String(), "200 OK") {
			t.Errorf("%s: %d %s", prop, rec.Code, rec.Body)
		}
		modified(old)
		if got := d.ask(t, "sam HEAD "+at).Header().Get("ETag"); got != tag {
			t.Errorf("%s: the ETag was %s and is %s", prop, tag, got)
		}
	}
	for prop, want := range map[string]string{
		`<D:set><D:prop><D:lastmodified>soon</D:lastmodified></D:prop></D:set>`:                              "422",
		`<D:remove><D:prop><D:getlastmodified/></D:prop></D:remove>`:                                         "422",
		`<D:set><D:prop><D:creationdate>2009-01-01T00:00:00Z</D:creationdate></D:prop></D:set>`:              "403",
		`<D:set><D:prop><o:checksums xmlns:o="http://owncloud.org/ns">SHA1:0</o:checksums></D:prop></D:set>`: "403",
	} {
		rec := d.ask(t, "sam PROPPATCH "+at, `> <D:propertyupdate xmlns:D="DAV:">`+prop+`</D:propertyupdate>`)
		if rec.Code != 207 || !strings.Contains(rec.Body.String(), "HTTP/1.1 "+want) {
			t.Errorf("%s: %d %s, want %s", prop, rec.Code, rec.Body, want)
		}
	}
	modified(old)
	if rec := d.ask(t, "bob PROPPATCH "+at, `> <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:lastmodified>5</D:lastmodified></D:prop></D:set></D:propertyupdate>`); rec.Code != 404 {
		t.Errorf("another user: %d", rec.Code)
	}
}

// TestChecksumsOfDocuments compares what comes with what its sender has computed, and
// tells it to those who ask, until other bytes come without.
func TestChecksumsOfDocuments(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	const at = "/dav/Documents/sam/a.txt"
	sum := func(text string) string {
		s := sha1.Sum([]byte(text)) //nolint:gosec // what clients compute
		return hex.EncodeToString(s[:])
	}
	put := func(want int, header, body string) string {
		t.Helper()
		rec := d.ask(t, "sam PUT "+at, header, "> "+body)
		if rec.Code != want {
			t.Errorf("%s: %d %s, want %d", header, rec.Code, rec.Body, want)
		}
		return rec.Body.String()
	}
	told := func() string {
		rec := d.ask(t, "sam PROPFIND "+at, "Depth: 0", `> <propfind xmlns="DAV:"><prop><checksums xmlns="http://owncloud.org/ns"/></prop></propfind>`)
		return rec.Body.String()
	}
	body := strings.TrimSuffix(bodyOf(t, d, "one"), "")
	put(201, "OC-Checksum: SHA1:"+sum(body), "one")
	if got := told(); !strings.Contains(got, ">SHA1:"+sum(body)+"<") {
		t.Errorf("the checksum is not told: %s", got)
	}
	if got := put(400, "OC-Checksum: SHA1:"+sum("another"), "two"); !strings.Contains(got, "nothing was stored") {
		t.Error(got)
	}
	if got := d.ask(t, "sam GET "+at).Body.String(); got != body {
		t.Errorf("a body with another checksum was stored: %q", got)
	}
	put(204, "OC-Checksum: sha1:"+strings.ToUpper(sum(bodyOf(t, d, "two")))+" MD5:zz CRC:1", "two")
	if got := told(); strings.Contains(got, sum(body)) || !strings.Contains(got, "SHA1:"+sum(bodyOf(t, d, "two"))) {
		t.Errorf("the checksum is another: %s", got)
	}
	put(204, "Accept: */*", "three")
	if got := told(); !strings.Contains(got, "404") {
		t.Errorf("the checksum of what was there before is told: %s", got)
	}
	if rec := d.ask(t, "sam PUT /dav/Documents/sam/empty.txt", "OC-Checksum: ADLER32:00000001 MD5:d41d8cd98f00b204e9800998ecf8427e"); rec.Code != http.StatusCreated {
		t.Errorf("an empty one: %d %s", rec.Code, rec.Body)
	}
}

// bodyOf returns the bytes that a line of a test sends.
func bodyOf(t *testing.T, d *testDrive, text string) string {
	t.Helper()
	if rec := d.ask(t, "sam PUT /dav/Documents/sam/line.txt", "> "+text); rec.Code/100 != 2 {
		t.Fatal(rec.Code)
	}
	return d.ask(t, "sam GET /dav/Documents/sam/line.txt").Body.String()
}
