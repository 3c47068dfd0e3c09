package main

import (
	"cmp"
	"math"
	"os"
	"runtime/debug"

	"flowdrive/internal/jqworker"
	"flowdrive/server"
)

// What of --memory-limit is for what
// (docs/contract/drive.md#memory).
const (
	defaultMemory byteSize = 256 << 20
	leastMemory   byteSize = 128 << 20
	// standing is what the server takes beside what requests hold: the program, the
	// database's caches, what is kept of routes and users.
	standing byteSize = 96 << 20
	// filterPart is which part of the limit the processes of jq filters may take beside it. With
	// less than half of the default a table of a MiB could not be sorted.
	filterPart = 2
)

// memory returns the room that requests share. It also tells the garbage collector
// where to work harder, unless the environment does (GOMEMLIMIT): at half of the limit,
// since the program itself and the database take as much as standing, and what requests
// hold can be in memory once more until it is collected.
func (s *settings) memory() *server.Memory {
	limit := cmp.Or(s.memoryLimit, defaultMemory)
	if os.Getenv("GOMEMLIMIT") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(int64(limit) / 2)
	}
	return server.NewMemory(int64(max(limit-standing, limit/4)) / 2)
}

// filterShare returns how much the processes of jq filters may take.
func (s *settings) filterShare() jqworker.Share {
	return jqworker.ShareOf(uint64(cmp.Or(s.memoryLimit, defaultMemory) / filterPart))
}
