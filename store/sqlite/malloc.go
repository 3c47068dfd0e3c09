package sqlite

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void keep_malloc_small(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 256 * 1024);
#endif
}
*/
import "C"

import "sync"

// keepMallocSmall has the C library give memory back that SQLite frees. By default glibc
// has an arena for nearly each thread and raises the size from which a block is mapped by
// itself, so that rows of a megabyte leave holes of that size in each. Other C libraries
// are left as they are.
var keepMallocSmall = sync.OnceFunc(func() { C.keep_malloc_small() })
