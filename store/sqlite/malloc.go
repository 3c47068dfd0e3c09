package sqlite

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

extern int sqlite3_config(int, ...);

enum { config_memstatus = 9 }; // SQLITE_CONFIG_MEMSTATUS of sqlite3.h, which only the driver has

// For a count of the memory in use, which nothing here reads, SQLite takes a lock at each
// allocation and asks the C library for its size. It refuses the setting once it is in use,
// and goes on as it began.
static void count_no_memory(void) {
	(void)sqlite3_config(config_memstatus, 0);
}

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

// keepMallocSmall spares SQLite a count of its memory, and has the C library give back what
// SQLite frees. By default glibc
// has an arena for nearly each thread and raises the size from which a block is mapped by
// itself, so that rows of a megabyte leave holes of that size in each. Other C libraries
// are left as they are.
var keepMallocSmall = sync.OnceFunc(func() {
	C.count_no_memory()
	C.keep_malloc_small()
})
