package davfs

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// The names of the live properties: those of RFC 4918, section 15, and of
// RFC 4331.
const (
	creationDate   = "creationdate"
	displayName    = "displayname"
	contentLength  = "getcontentlength"
	contentType    = "getcontenttype"
	entityTag      = "getetag"
	lastModified   = "getlastmodified"
	resourceType   = "resourcetype"
	supportedLock  = "supportedlock"
	lockDiscovery  = "lockdiscovery"
	quotaAvailable = "quota-available-bytes"
	quotaUsed      = "quota-used-bytes"
)

// liveProp is a property that the drive computes. All of them are protected.
type liveProp struct {
	name string
	// has says whether the resource has it; value appends its value as XML.
	has   func(m *member) bool
	value func(dst []byte, m *member) []byte
	all   allpropRule
}

// allpropRule says in which answers to allprop a property stands. RFC 4918
// has all of its own there, which in a listing would be mostly the same words
// again: an answer of more than a million bytes is refused by Windows.
type allpropRule int

const (
	always allpropRule = iota
	// alone: in the answer about one resource. In a listing it follows from
	// the address and the kind of resource.
	alone
	// shown: alone, and in a listing to Windows, which never names what it
	// shows, and of which a listing has no more than it can take.
	shown
	// named: only who names it is told. It is not the resource's but the
	// caller's (RFC 4331, section 3).
	named
)

// in reports whether a property stands in an answer to allprop.
func (rule allpropRule) in(listing, windows bool) bool {
	return rule == always || rule == alone && !listing || rule == shown && (!listing || windows)
}

// liveProps returns the live properties, in the order in which they are
// written.
func liveProps() []liveProp {
	anything := func(*member) bool { return true }
	folder := func(m *member) bool { return m.dir }
	file := func(m *member) bool { return !m.dir }
	return []liveProp{
		{creationDate, func(m *member) bool { return !m.created.IsZero() }, func(dst []byte, m *member) []byte {
			return m.created.UTC().AppendFormat(dst, time.RFC3339)
		}, shown},
		{displayName, anything, func(dst []byte, m *member) []byte { return appendText(dst, m.name) }, alone},
		{contentLength, file, func(dst []byte, m *member) []byte { return strconv.AppendInt(dst, m.size, 10) }, always},
		{contentType, file, func(dst []byte, m *member) []byte { return appendText(dst, m.mediaType) }, always},
		{entityTag, func(m *member) bool { return m.tag != "" }, func(dst []byte, m *member) []byte {
			return appendText(dst, m.tag)
		}, always},
		{lastModified, anything, func(dst []byte, m *member) []byte {
			return m.modified.UTC().AppendFormat(dst, http.TimeFormat)
		}, always},
		{resourceType, anything, func(dst []byte, m *member) []byte {
			if m.dir {
				dst = append(dst, "<D:collection/>"...)
			}
			return dst
		}, always},
		{supportedLock, anything, func(dst []byte, m *member) []byte {
			if m.book.supports(m.info) {
				dst = append(dst, lockEntries...)
			}
			return dst
		}, alone},
		{lockDiscovery, anything, func(dst []byte, m *member) []byte { return m.book.append(dst, m.locks) }, alone},
		{quotaAvailable, folder, func(dst []byte, m *member) []byte { return strconv.AppendInt(dst, m.quota.Available, 10) }, named},
		{quotaUsed, folder, func(dst []byte, m *member) []byte { return strconv.AppendInt(dst, m.quota.Used, 10) }, named},
	}
}

// isLive reports whether a property is one that the drive computes.
func isLive(name xml.Name) bool {
	return name.Space == davSpace && slices.ContainsFunc(liveProps(), func(p liveProp) bool { return p.name == name.Local })
}
