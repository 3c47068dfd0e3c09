package davfs

import (
	"context"
	"encoding/xml"
	"net/http"
	"path"
	"slices"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

const infinite = "infinity"

// What mounts drives on Windows asks for all there is, shows no XATTRs, and
// refuses an answer of more than a million bytes, and with it the whole
// folder. It sees the newest members; the others can be opened by name.
const (
	miniRedirector   = "Microsoft-WebDAV-MiniRedir"
	bytesToWindows   = 1_000_000 // bytes
	membersToWindows = 2_000     // members
)

// propfind answers PROPFIND for a resource and its members. What is told of
// them is fetched first, the members with one question; then the answer is
// written as it is sent, and nothing can fail any more.
func (d *drive) propfind(x *exchange) error {
	depth, err := readDepth(x.r.Header.Get("Depth"))
	if err != nil {
		return err
	}
	if err := x.query.only(); err != nil {
		return err
	}
	want, unread := x.readWanted() // told only where something is
	if unread == nil {
		x.under = want.under(depth)
	}
	tag := x.engine.ChangeTag() // before anything is read: better too old than too new
	n, err := x.place()
	if err != nil {
		return err
	}
	about, err := x.shown(x.r.Context(), x.at, n)
	if err != nil {
		return err
	}
	_, isTree := n.(tree)
	if _, isFolder := n.(folder); depth == infinite && !isFolder {
		depth = "0" // there is nothing below a file
	}
	if depth == infinite && !isTree {
		return errs.New(errs.FiniteDepth, "The depth must be 0 or 1: ask folder by folder, or read the hidden key %s.", contentsName)
	}
	if unread != nil {
		return unread
	}
	f := &finding{exchange: x, want: want, tag: tag, windows: strings.HasPrefix(x.r.UserAgent(), miniRedirector)}
	if err := f.fetch(n, about, depth); err != nil {
		return err
	}
	header := x.w.Header()
	header.Set("Content-Type", "text/xml; charset=utf-8")
	header.Set("Cache-Control", "private, no-cache")
	x.w.WriteHeader(http.StatusMultiStatus)
	return f.write()
}

func (x *exchange) readWanted() (*wanted, error) {
	body, err := readXML(x.r)
	if err != nil {
		return nil, err
	}
	return parsePropfind(body)
}

// readDepth reads the header; without it the depth is infinite (RFC 4918,
// section 9.1), which is refused everywhere but in Documents/.
func readDepth(header string) (string, error) {
	switch strings.ToLower(strings.TrimSpace(header)) {
	case "0":
		return "0", nil
	case "1", "1,noroot": // Microsoft's, to whom the root itself is no harm
		return "1", nil
	case "", infinite:
		return infinite, nil
	}
	return "", errs.New(errs.BadParameter, "The header Depth is %q; it must be 0 or 1.", header)
}

// finding is a PROPFIND with what is told.
type finding struct {
	*exchange
	want    *wanted
	tag     string // of folders that have none of their own
	windows bool
	xattrs  bool
	quota   *engine.Quota
	top     *info
	members map[string][]*info // of each folder, by its path from the top
	locks   *lockBook          // nil: nobody asks for locks
}

// fetch fetches what is told of the node and its members, as far as it is
// asked for.
func (f *finding) fetch(n node, top *info, depth string) error {
	ctx := f.r.Context()
	f.top = top
	if err := f.fetchMembers(ctx, n, depth); err != nil {
		return err
	}
	f.xattrs = f.want.asks(func(n xml.Name) bool { return n.Space == xattrSpace })
	if f.want.form != namedProps {
		f.xattrs = f.xattrs || depth == "0" || !f.windows
	}
	if err := f.readProps(f.top); err != nil {
		return err
	}
	for _, members := range f.members {
		for _, m := range members {
			if err := f.readProps(m); err != nil {
				return err
			}
		}
	}
	if f.want.dav(lockDiscovery) || f.want.dav(supportedLock) || f.want.form == allProps && depth == "0" {
		var err error
		if f.locks, err = f.locksOf(ctx, n); err != nil {
			return err
		}
		if f.showsScratch() {
			if err := f.addScratchLocks(ctx, f.locks); err != nil {
				return err
			}
		}
	}
	if f.want.dav(quotaUsed) || f.want.dav(quotaAvailable) {
		quota, err := f.engine.Quota(ctx, f.by)
		if err != nil {
			return err
		}
		f.quota = &quota
	}
	return nil
}

// showsScratch reports whether a side file or draft is among what is told of.
func (f *finding) showsScratch() bool {
	isScratch := func(about *info) bool { return strings.HasPrefix(string(about.lockKey), string(engine.LocksOnScratch)) }
	for _, members := range f.members {
		if slices.ContainsFunc(members, isScratch) {
			return true
		}
	}
	return isScratch(f.top)
}

func (f *finding) fetchMembers(ctx context.Context, n node, depth string) (err error) {
	switch depth {
	case infinite:
		if whole, ok := n.(tree); ok {
			f.members, err = whole.below(ctx)
		}
		return err
	case "1":
		dir, ok := n.(folder)
		if !ok {
			return nil
		}
		members, err := f.exchange.members(ctx, dir)
		if f.windows {
			members = newest(members)
		}
		f.members = map[string][]*info{"": members}
		return err
	}
	return nil
}

// newest returns what Windows is shown of the members, the newest first.
func newest(members []*info) []*info {
	slices.SortStableFunc(members, func(a, b *info) int { return b.modified.Compare(a.modified) })
	return members[:min(len(members), membersToWindows)]
}

// readProps makes the properties ready that a resource keeps as a text.
func (f *finding) readProps(m *info) (err error) {
	if m.stored != "" && f.want.dead() {
		if m.dead, err = m.stored.List(); err != nil {
			return err
		}
	}
	if !f.xattrs {
		return nil
	}
	return m.readXattrs()
}

// write writes the answer.
func (f *finding) write() error {
	out := &multistatus{w: f.w, want: f.want, tag: f.tag, listing: f.members != nil, xattrs: f.xattrs, quota: f.quota, windows: f.windows, book: f.locks}
	out.begin()
	at := href(f.at.segments...)
	if f.top.dir {
		at = asFolder(at)
	}
	base := appendText(nil, at)
	var locks []*engine.Lock
	if f.locks != nil {
		locks = f.locks.of(f.top, f.locks.above)
	}
	if out.add(base, f.top, locks) {
		f.writeBelow(out, base, "", locks)
	}
	return out.end()
}

// writeBelow writes the members of a folder, each with what is below it, and
// reports whether there is room for more.
func (f *finding) writeBelow(out *multistatus, base []byte, folder string, above []*engine.Lock) bool {
	above = deep(above)
	for _, m := range f.members[folder] {
		at := appendName(base, m.name) // behind base, where the one before was
		if m.dir {
			at = append(at, '/')
		}
		locks := f.locks.of(m, above)
		if !out.add(at, m, locks) {
			return false
		}
		if m.dir && !f.writeBelow(out, at, path.Join(folder, m.name), locks) {
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
	return appendText(dst, href(name)[1:])
}
