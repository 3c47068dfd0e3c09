// Package dav reads and writes WebDAV (RFC 4918) as it goes over the wire:
// paths and destinations, conditional headers, lock tokens, the XML bodies of
// LOCK, PROPFIND and PROPPATCH, and the answers to them. It knows nothing of
// what is stored: versions and resources are values that the caller fills in.
//
//	path.go          paths, Destination, Overwrite, Depth
//	conditions.go    If-Match, If-None-Match, If-Unmodified-Since
//	ifheader.go      If
//	lock.go          lock tokens, Timeout, lockinfo, activelock
//	propfind.go      the body of a PROPFIND
//	props.go         the properties that a server computes
//	multistatus.go   the answer to a PROPFIND, written as it is sent
//	mkcol.go         the body of a MKCOL
//	proppatch.go     the body of a PROPPATCH and the answer to it
//	xmlread.go       XML with namespaces
//	utf16.go         bodies in UTF-16
//	xmlfragment.go   a part of a body as XML by itself
//
// What cannot be read is an errs.Error that says why.
package dav

// Classes is what the header DAV says of a resource (RFC 4918, section 18).
const Classes = "1, 2, 3"
