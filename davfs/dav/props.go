package dav

import (
	"encoding/xml"
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
	SupportedLock  = "supportedlock"
	LockDiscovery  = "lockdiscovery"
	QuotaAvailable = "quota-available-bytes"
	QuotaUsed      = "quota-used-bytes"
)

// liveProp is a property that the drive computes. All of them are protected.
type liveProp struct {
	name string
	// has says whether the resource has it; value appends its value as XML.
	has   func(m *Resource) bool
	value func(dst []byte, m *Resource) []byte
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

// liveProps returns the live properties, in the order in which they are
// written.
func liveProps() []liveProp {
	anything := func(*Resource) bool { return true }
	folder := func(m *Resource) bool { return m.Folder }
	file := func(m *Resource) bool { return !m.Folder }
	return []liveProp{
		{creationDate, func(m *Resource) bool { return !m.Created.IsZero() }, func(dst []byte, m *Resource) []byte {
			return m.Created.UTC().AppendFormat(dst, time.RFC3339)
		}, shown},
		{displayName, anything, func(dst []byte, m *Resource) []byte { return AppendText(dst, m.Name) }, alone},
		{contentLength, file, func(dst []byte, m *Resource) []byte { return strconv.AppendInt(dst, m.Size, 10) }, always},
		{contentType, file, func(dst []byte, m *Resource) []byte { return AppendText(dst, m.MediaType) }, always},
		{entityTag, func(m *Resource) bool { return m.ETag != "" }, func(dst []byte, m *Resource) []byte {
			return AppendText(dst, m.ETag)
		}, always},
		{lastModified, anything, func(dst []byte, m *Resource) []byte {
			return m.Modified.UTC().AppendFormat(dst, timeFormat)
		}, always},
		{resourceType, anything, func(dst []byte, m *Resource) []byte {
			if m.Folder {
				dst = append(dst, "<D:collection/>"...)
			}
			return dst
		}, always},
		{SupportedLock, anything, func(dst []byte, m *Resource) []byte {
			if m.Lockable {
				dst = append(dst, lockEntries...)
			}
			return dst
		}, alone},
		{LockDiscovery, anything, func(dst []byte, m *Resource) []byte {
			for i := range m.Locks {
				dst = AppendActiveLock(dst, &m.Locks[i])
			}
			return dst
		}, alone},
		{QuotaAvailable, folder, func(dst []byte, m *Resource) []byte { return strconv.AppendInt(dst, m.Quota.Available, 10) }, named},
		{QuotaUsed, folder, func(dst []byte, m *Resource) []byte { return strconv.AppendInt(dst, m.Quota.Used, 10) }, named},
	}
}

// IsLive reports whether a property is one that the drive computes.
func IsLive(name xml.Name) bool {
	return name.Space == Space && slices.ContainsFunc(liveProps(), func(p liveProp) bool { return p.name == name.Local })
}
