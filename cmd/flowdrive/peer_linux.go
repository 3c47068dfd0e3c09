package main

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID returns the user of the process at the other end of a socket of the machine.
func peerUID(conn net.Conn) (uid uint32, ok bool) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, false
	}
	var found *unix.Ucred
	failed := raw.Control(func(fd uintptr) { found, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if failed != nil || err != nil {
		return 0, false // it is done as by the command line
	}
	return found.Uid, true
}
