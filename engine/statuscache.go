package engine

import (
	"sync"

	"flowdrive/internal/identity"
)

// statusVersion is what the files of Workflow/Status/ for a user are made from.
type statusVersion struct {
	changes uint64 // Store.Changes
	disk    int    // of diskTrouble
	parties any
	day     int64 // when the day of the user began
	zone    string
}

// statusKey names a file of a user.
type statusKey struct {
	user identity.ID
	path string
}

type keptStatus struct {
	version statusVersion
	file    *StatusFile
}

// statusCache keeps files, as many as there is room for. A file is valid while the
// version that it was made from is the current one.
type statusCache struct {
	mu    sync.Mutex
	files map[statusKey]keptStatus
	size  int
}

const statusRoom = 16 << 20 // bytes

// Get returns the file that was made from that version, nil for none.
func (c *statusCache) Get(key statusKey, version statusVersion) *StatusFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.files[key]; ok && kept.version == version {
		return kept.file
	}
	return nil
}

// Put keeps a file and returns it; one of equal bytes has not been modified since.
func (c *statusCache) Put(key statusKey, version statusVersion, f *StatusFile) *StatusFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.files[key]; ok {
		c.size -= before.file.size()
		if before.file.TextETag == f.TextETag && before.file.JSONETag == f.JSONETag {
			f = before.file
		}
	}
	if c.size += f.size(); c.files == nil || c.size > statusRoom {
		c.files, c.size = map[statusKey]keptStatus{}, f.size()
	}
	c.files[key] = keptStatus{version, f}
	return f
}

// size is about how many bytes the file takes.
func (f *StatusFile) size() int { return len(f.Text) + len(f.JSON) + 256 }
