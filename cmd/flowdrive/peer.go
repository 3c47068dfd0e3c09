package main

import (
	"context"
	"net"
	osuser "os/user" // the package has a type user
	"strconv"
)

// peerKey is the key of the user of the machine who has opened the control socket.
type peerKey struct{}

// withPeer notes in the context of a connection of the control socket which user of the machine
// has opened it, for the audit log.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	uid, ok := peerUID(conn)
	if !ok {
		return ctx
	}
	id := strconv.FormatUint(uint64(uid), 10)
	name := id // of a user whom the machine does not know by a name
	if found, err := osuser.LookupId(id); err == nil {
		name = found.Username
	}
	return context.WithValue(ctx, peerKey{}, name)
}

// peerOf returns the user of the machine who has sent a request, "" if that is not known.
func peerOf(ctx context.Context) string {
	name, _ := ctx.Value(peerKey{}).(string)
	return name
}
