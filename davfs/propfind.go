package davfs

import (
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// What mounts drives on Windows asks for all there is, shows no XATTRs, and
// refuses an answer of more than a million bytes, and with it the whole
// folder. It sees the newest members; the others can be opened by name.
const (
	miniRedirector   = "Microsoft-WebDAV-MiniRedir"
	bytesToWindows   = 1_000_000 // bytes
	membersToWindows = 2_000     // members
	bytesOfNote      = 8_000     // of these, kept for the entry that says how many are not shown
)

// propfind answers PROPFIND for a resource and its members. What is told of
// them is fetched first, the members with one question; then the answer is
// written as it is sent, and nothing can fail any more.
func (d *drive) propfind(w http.ResponseWriter, x *request) error {
	depth, err := dav.ReadPropfindDepth(x.r.Header.Get("Depth"))
	if err != nil {
		return err
	}
	if err := x.query.only(); err != nil {
		return err
	}
	want, unread := x.readWanted() // an error only if something is there
	if unread == nil {
		x.under = under(want, depth)
	}
	tag := x.engine.Changes.ChangeTag() // before anything is read: better too old than too new
	n, err := x.place()
	if err != nil {
		return err
	}
	about, err := x.statOverlay(x.r.Context(), x.at, n)
	if err != nil {
		return err
	}
	_, isTree := n.(tree)
	if _, isFolder := n.(folder); depth == dav.Infinity && !isFolder {
		depth = "0" // there is nothing below a file
	}
	if depth == dav.Infinity && !isTree {
		return errs.New(errs.FiniteDepth, "The depth must be 0 or 1: ask folder by folder, or read the hidden file %s.", contentsName)
	}
	if unread != nil {
		return unread
	}
	f := &propfind{request: x, want: want, tag: tag, windows: strings.HasPrefix(x.r.UserAgent(), miniRedirector)}
	if err := f.fetch(n, about, depth); err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "text/xml; charset=utf-8")
	header.Set("Cache-Control", "private, no-cache")
	f.out.Minimal = x.minimal(header.Set)
	w.WriteHeader(http.StatusMultiStatus)
	return f.write(w)
}

func (x *request) readWanted() (*dav.Propfind, error) {
	body, err := readXML(x.r)
	if err != nil {
		return nil, err
	}
	return dav.ParsePropfind(body)
}

// maxXML bounds the body of a request that takes XML. Real ones have a few
// hundred bytes.
const maxXML = 64 << 10

// readXML reads the body of a request that takes XML.
func readXML(r *http.Request) ([]byte, error) {
	tooLarge := errs.New(errs.TooLarge, "The body is larger than %d bytes.", maxXML)
	if r.ContentLength > maxXML {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxXML+1))
	switch {
	case err != nil || int64(len(body)) < r.ContentLength:
		return nil, cutShort(err, int64(len(body)))
	case len(body) > maxXML:
		return nil, tooLarge
	}
	return body, nil
}

// under says what a PROPFIND wants beside what is at the path.
func under(want *dav.Propfind, depth string) *store.Under {
	switch depth {
	case "1":
		return new(files.Members(want.Dead()))
	case dav.Infinity:
		return new(files.Tree(maxTree, want.Dead()))
	}
	return nil
}

// propfind is a PROPFIND with what is told.
type propfind struct {
	*request
	want    *dav.Propfind
	tag     string // of folders that have none of their own
	windows bool
	dead    bool // properties that clients have set are wanted
	xattrs  bool
	quota   *dav.Quota
	top     *info
	members map[string][]*info // of each folder, by its path from the top
	rest    *shown             // what is told behind them; nil: nothing
	cut     int                // how many members are not told of
	locks   *lockBook          // nil: locks are not asked for

	out  dav.Multistatus
	told dav.Resource // the latest, to be used again
}

// fetch fetches what is told of the node and its members, as far as it is
// asked for.
func (f *propfind) fetch(n node, top *info, depth string) error {
	ctx := f.r.Context()
	f.top = top
	f.xattrs = f.want.Asks(func(n xml.Name) bool { return n.Space == xattrSpace })
	if f.want.Form != dav.NamedProps {
		f.xattrs = f.xattrs || depth == "0" || !f.windows
	}
	if err := f.fetchMembers(ctx, n, depth); err != nil {
		return err
	}
	f.dead = f.want.Dead()
	if err := f.readProps(f.top); err != nil {
		return err
	}
	for _, members := range f.members {
		if err := f.readPropsOf(members); err != nil {
			return err
		}
	}
	if f.want.DAV(dav.LockDiscovery) || f.want.DAV(dav.SupportedLock) || f.want.Form == dav.AllProps && depth == "0" {
		var err error
		if f.locks, err = f.locksOf(ctx, n); err != nil {
			return err
		}
		if f.rest != nil || f.showsScratch() {
			if err := f.addScratchLocks(ctx, f.locks); err != nil {
				return err
			}
		}
	}
	if f.want.DAV(dav.QuotaUsed) || f.want.DAV(dav.QuotaAvailable) {
		quota, err := f.engine.Documents.Quota(ctx, f.by)
		if err != nil {
			return err
		}
		f.quota = &dav.Quota{Available: quota.Available, Used: quota.Used}
	}
	return nil
}

// showsScratch reports whether a side file or draft is among what is told of.
func (f *propfind) showsScratch() bool {
	isScratch := func(about *info) bool { return strings.HasPrefix(string(about.lockKey), string(store.LocksOnScratch)) }
	for _, members := range f.members {
		if slices.ContainsFunc(members, isScratch) {
			return true
		}
	}
	return isScratch(f.top)
}

func (f *propfind) fetchMembers(ctx context.Context, n node, depth string) (err error) {
	switch depth {
	case dav.Infinity:
		whole, ok := n.(tree)
		if !ok {
			return nil
		}
		if err := f.hold(ctx, listedWeight); err != nil {
			return err
		}
		if f.members, err = whole.below(ctx); err != nil {
			return err
		}
		weight := int64(0)
		for _, members := range f.members {
			weight += weightOf(members)
		}
		return f.hold(ctx, weight)
	case "1":
		dir, ok := n.(folder)
		if !ok {
			return nil
		}
		rest, members, err := f.firstPart(ctx, dir)
		if err != nil {
			return err
		}
		switch {
		case f.windows:
			if members, err = f.forWindows(ctx, members, rest); err != nil {
				return err
			}
		case rest.more:
			f.rest = rest
		}
		f.members = map[string][]*info{"": members}
	}
	return nil
}

// forWindows returns the newest of these members and of the rest: all that Windows is shown.
func (f *propfind) forWindows(ctx context.Context, members []*info, rest *shown) ([]*info, error) {
	n := len(members)
	members = newest(members)
	for rest.more {
		part, err := rest.next(ctx)
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(part) && !f.xattrs; i++ {
			part[i].ofCase = nil // which holds the form
		}
		n += len(part)
		members = newest(append(members, part...))
		if err := f.hold(ctx, partsWeight+weightOf(members)); err != nil {
			return nil, err
		}
	}
	f.cut = n - len(members)
	return members, nil
}

// newest returns what Windows is shown of the members, the newest first.
func newest(members []*info) []*info {
	slices.SortStableFunc(members, func(a, b *info) int { return b.modified.Compare(a.modified) })
	return members[:min(len(members), membersToWindows)]
}

// readPropsOf makes the properties of members ready.
func (f *propfind) readPropsOf(members []*info) error {
	for _, m := range members {
		if err := f.readProps(m); err != nil {
			return err
		}
	}
	return nil
}

// readProps makes the properties ready that a resource keeps as a text.
func (f *propfind) readProps(m *info) error {
	if f.dead {
		if err := m.readProps(); err != nil {
			return err
		}
	}
	if !f.xattrs {
		return nil
	}
	return m.readXattrs()
}

// readProps makes the properties ready that clients have set.
func (i *info) readProps() error {
	if i.stored == "" {
		return nil
	}
	stored, err := i.stored.List()
	if err != nil {
		return err
	}
	i.dead = make([]dav.Property, len(stored))
	for k, p := range stored {
		i.dead[k] = dav.Property{Space: p.Space, Name: p.Name, XML: p.XML}
	}
	return nil
}

// write writes the answer.
func (f *propfind) write(w io.Writer) error {
	f.out = dav.Multistatus{
		Minimal: f.out.Minimal, To: w, Want: f.want, Listing: f.members != nil, Windows: f.windows,
		TextSpace: xattrSpace, TextPrefix: xattrPrefix, Texts: f.xattrs,
	}
	if f.windows {
		f.out.MaxBytes = bytesToWindows - bytesOfNote
	}
	f.out.Begin()
	at := dav.Href(f.at.Segments...)
	if f.top.dir {
		at = dav.FolderHref(at)
	}
	base := dav.AppendText(nil, at)
	var locks []*store.Lock
	if f.locks != nil {
		locks = f.locks.of(f.top, f.locks.above)
	}
	if f.add(base, f.top, locks) && f.writeBelow(base, "", locks) {
		if err := f.writeRest(base, locks); err != nil {
			return err // the head is sent: the connection is broken off
		}
	}
	if f.cut > 0 {
		f.out.MaxBytes += bytesOfNote
		note := notShownFile{f.scope, f.cut}.about()
		f.add(appendName(base, note.name), note, nil)
	}
	return f.out.End()
}

// add writes what is asked about a resource, and reports whether there is room
// for more.
func (f *propfind) add(at []byte, m *info, locks []*store.Lock) bool {
	r := &f.told
	*r = dav.Resource{
		Name: m.name, Folder: m.dir, Size: m.size, ETag: m.etag, MediaType: m.mediaType, Created: m.created, Modified: m.modified,
		Lockable: f.locks.supports(m), Locks: f.locks.tell(locks), Quota: f.quota,
		Texts: m.appendXattrs(r.Texts[:0]), Dead: m.dead, Unread: m.unread,
	}
	if m.dir && m.etag == "" {
		r.ETag = f.tag
	}
	return f.out.Add(at, r)
}

// writeRest reads and writes the members behind the first part. Of each part nothing is held
// once it is written.
func (f *propfind) writeRest(base []byte, above []*store.Lock) error {
	ctx := f.r.Context()
	for f.rest != nil && f.rest.more {
		members, err := f.rest.next(ctx)
		if err != nil {
			return err
		}
		if err := f.readPropsOf(members); err != nil {
			return err
		}
		if f.members[""] = members; !f.writeBelow(base, "", above) {
			break
		}
	}
	return nil
}

// writeBelow writes the members of a folder, each with what is below it, and
// reports whether there is room for more.
func (f *propfind) writeBelow(base []byte, folder string, above []*store.Lock) bool {
	above = deep(above)
	for i, m := range f.members[folder] {
		at := appendName(base, m.name) // behind base, where the one before was
		if m.dir {
			at = append(at, '/')
		}
		locks := f.locks.of(m, above)
		if !f.add(at, m, locks) {
			f.cut += len(f.members[folder]) - i
			return false
		}
		if m.dir && !f.writeBelow(at, path.Join(folder, m.name), locks) {
			return false
		}
	}
	return true
}

// appendName appends a name as it stands in an href, as XML.
func appendName(dst []byte, name string) []byte {
	plain := !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
	if plain {
		return append(dst, name...)
	}
	return dav.AppendText(dst, dav.Href(name)[1:])
}
