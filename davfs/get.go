package davfs

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// get answers GET and HEAD: a file with its bytes, a folder with a listing.
func (d *drive) get(w http.ResponseWriter, x *request) error {
	n, err := x.place()
	if err != nil {
		return err
	}
	if s, ok := n.(streamer); ok {
		if x.malformed != nil {
			return x.malformed
		}
		return d.getStream(w, x, s)
	}
	if f, ok := n.(folder); ok {
		w.Header().Add("Vary", "Accept")
		if prefersJSON(x.r.Header) {
			if x.malformed != nil {
				return x.malformed
			}
			return d.getFolderJSON(w, x, f)
		}
	}
	if !passesOverQuery(x.r.Method, x.at) {
		if err := x.query.only(); err != nil {
			return err
		}
	}
	switch n := n.(type) {
	case folder:
		if needsSlash(x) {
			return redirectToFolder(w, x, n)
		}
		return d.getFolder(w, x, n)
	case reader:
		return d.getFile(w, x, n)
	}
	return absent()
}

// passesOverQuery reports whether the query of the request is not looked at: that of a
// GET in Documents/, since programs add their own to the addresses of ordinary files
// ("?service=git-upload-pack", "?_=1").
func passesOverQuery(method string, at address) bool {
	reads := method == http.MethodGet || method == http.MethodHead
	return reads && len(at.Segments) > 1 && same(at.Segments[0], "dav") && same(at.Segments[1], documentsRoot)
}

// needsSlash reports whether the client takes an address for that of a file unless it
// ends with a slash, and is redirected to the one that does.
func needsSlash(x *request) bool {
	return !x.at.Slash && len(x.at.Segments) > 0 && strings.HasPrefix(x.r.UserAgent(), "lftp/")
}

// redirectToFolder redirects to the address of a folder with the slash, if the folder
// is there.
func redirectToFolder(w http.ResponseWriter, x *request, n folder) error {
	if _, err := n.stat(x.r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", dav.FolderHref(dav.Href(x.at.Segments...)))
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusMovedPermanently)
	return nil
}

// getFile answers with a file. http.ServeContent does ranges and what
// depends on If-None-Match and its like.
func (d *drive) getFile(w http.ResponseWriter, x *request, n reader) error {
	conditions, err := dav.ReadConditionsOfGet(x.r.Header)
	if err != nil {
		return err
	}
	about, content, err := x.open(x.r.Context(), n)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // what was only read is whole
	if err := conditions.Check(protocolVersion(about.version())); err != nil {
		return err
	}
	header := w.Header()
	header.Set("ETag", about.etag)
	header.Set("Content-Type", about.mediaType)
	header.Set("Cache-Control", "private, no-cache")
	secure(header)
	switch {
	case about.disposition != "":
		header.Set("Content-Disposition", about.disposition)
	case runs(about.mediaType):
		header.Set("Content-Disposition", "attachment")
	}
	http.ServeContent(w, forServeContent(x.r, about.size), "", about.modified, content)
	if c, checked := content.(interface{ Err() error }); checked && c.Err() != nil {
		panic(http.ErrAbortHandler) // else a compressed answer would end as if it were whole
	}
	return nil
}

// forServeContent returns the request without the conditions that were checked already,
// so that a form's counters do not matter, and with its Range as prepareRange has it.
func forServeContent(r *http.Request, size int64) *http.Request {
	if r.Header["If-Match"] == nil && r.Header["If-Unmodified-Since"] == nil && r.Header["Range"] == nil {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("If-Match")
	r.Header.Del("If-Unmodified-Since")
	prepareRange(r.Header, size)
	return r
}

// prepareRange prepares a Range header for http.ServeContent, which refuses
// units that it does not know instead of passing over them (RFC 9110, section
// 14.2), and answers a request of the last 0 bytes, which cannot be satisfied
// (section 14.1.2).
func prepareRange(header http.Header, size int64) {
	unit, set, given := strings.Cut(header.Get("Range"), "=")
	if !given || !strings.EqualFold(unit, "bytes") {
		header.Del("Range")
		return
	}
	parts := strings.Split(set, ",")
	for i, part := range parts {
		if length, last := strings.CutPrefix(strings.TrimSpace(part), "-"); last && length != "" && strings.Trim(length, "0") == "" {
			parts[i] = strconv.FormatInt(size, 10) + "-" // behind the end
		}
	}
	header.Set("Range", "bytes="+strings.Join(parts, ","))
}

// secure keeps a browser from running what users have stored
// (docs/contract/drive.md#uploaded-bytes).
func secure(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
}

// runs reports whether a browser would run what the media type holds: HTML,
// SVG and XML are handed out for saving only.
func runs(mediaType string) bool {
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return true
	}
	return strings.Contains(kind, "html") || strings.Contains(kind, "xml") || strings.Contains(kind, "svg")
}

// getStream answers with a hidden key.
func (d *drive) getStream(w http.ResponseWriter, x *request, n streamer) error {
	if err := x.query.only(n.parameters()...); err != nil {
		return err
	}
	write, next, err := n.start(x.r.Context(), x.query)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", typeJSON)
	header.Set("Cache-Control", "private, no-cache")
	secure(header)
	if next != "" {
		header.Set("Link", "<"+dav.Href(x.at.Segments...)+"?"+next+`>; rel="next"`)
	}
	w.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return nil
	}
	// Where this fails the head is sent already: WriteError breaks the
	// connection off, so that half an array is not taken for the whole.
	return write(x.r.Context(), w)
}

// condition reads the conditional headers of a change; nil if there are none.
func (x *request) condition() (engine.Condition, error) {
	conditions, err := dav.ReadConditions(x.r.Header)
	if err != nil || conditions.None() {
		return nil, err
	}
	if submitted := conditions.Tokens(); len(submitted) > 0 {
		x.tokens = make([]store.UUID, len(submitted))
		for i, token := range submitted {
			x.tokens[i] = store.UUID(token)
		}
	}
	here := func(p dav.Path) bool { return address{p}.equal(x.at) }
	if err := conditions.SettleElsewhere(here, x.versionAt); err != nil {
		return nil, err
	}
	return func(v engine.Version) error { return conditions.Check(protocolVersion(v)) }, nil
}

// protocolVersion returns a version as the conditions of the protocol take it.
func protocolVersion(v engine.Version) dav.Version {
	out := dav.Version{Exists: v.Exists, ETag: v.ETag, Definition: v.Definition, Modified: v.Modified}
	for _, token := range v.Tokens {
		out.Tokens = append(out.Tokens, dav.Token(token))
	}
	return out
}

// versionOf returns the version of a node for conditions. about describes it, nil if
// nothing is there. If the request submits lock tokens, the version has those of the
// locks that cover the node.
func (x *request) versionOf(n node, about *info) (engine.Version, error) {
	var v engine.Version
	if about != nil {
		v = about.version()
	}
	target, ok := n.(lockable)
	if !ok || len(x.tokens) == 0 {
		return v, nil
	}
	locks, err := x.engine.Locks.LocksCovering(x.r.Context(), x.by, x.lockTarget(target))
	if errs.Is(err, errs.NotFound) {
		return v, nil
	}
	for i := range locks {
		v.Tokens = append(v.Tokens, locks[i].Token)
	}
	return v, err
}

// versionAt returns the version at another address than the request's, for
// conditions: the engine, which checks the others, knows only the request's. What
// the caller may not see is as if it were not there.
func (x *request) versionAt(p dav.Path) (dav.Version, error) {
	at := address{p}
	var there engine.Version
	n, err := x.walk(x.r.Context(), at)
	if err == nil {
		var about *info
		about, err = x.statOverlay(x.r.Context(), at, n)
		if err == nil || errs.Is(err, errs.NotFound) {
			there, err = x.versionOf(n, about)
		}
	}
	if kind := errs.KindOf(err); kind == errs.NotFound || kind == errs.NotBuilt {
		err = nil
	}
	return protocolVersion(there), err
}
