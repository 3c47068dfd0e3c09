package main

import (
	"context"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	nodes "github.com/hanwen/go-fuse/v2/fs"
	kernel "github.com/hanwen/go-fuse/v2/fuse"
)

// forgetful is a file system in memory that knows what would be left of it if the power
// failed: of a file what it was at its last fsync, and of a folder the names that it had
// at its own. Of writes after that some may be left, in any order and torn.
type forgetful struct {
	mu     sync.Mutex
	root   *forgetfulNode
	server *kernel.Server
}

// forgetfulNode is a file or folder.
type forgetfulNode struct {
	nodes.Inode
	of    *forgetful
	mode  uint32
	data  []byte
	at    time.Time
	names map[string]*forgetfulNode // of a folder

	lasting      []byte                    // of a file: as of its last fsync
	since        []change                  // what was done to it since then
	lastingNames map[string]*forgetfulNode // of a folder: as of its last fsync
}

// change is a write, or a new length.
type change struct {
	data   []byte // nil: a new length
	offset int64
}

// apply makes a change.
func (c change) apply(to []byte) []byte {
	end := c.offset + int64(len(c.data))
	if int64(len(to)) < end {
		to = append(to, make([]byte, end-int64(len(to)))...)
	}
	if c.data == nil {
		return to[:c.offset]
	}
	copy(to[c.offset:], c.data)
	return to
}

// mountForgetful mounts an empty one. A machine without FUSE skips the test.
func mountForgetful(t *testing.T) (f *forgetful, folder string) {
	t.Helper()
	folder = t.TempDir()
	f = &forgetful{}
	f.root = &forgetfulNode{of: f, mode: syscall.S_IFDIR | 0o700, at: time.Now()}
	server, err := nodes.Mount(folder, f.root, &nodes.Options{MountOptions: kernel.MountOptions{FsName: "forgetful", DirectMount: true}})
	if err != nil {
		t.Skipf("this machine mounts no FUSE file system: %v", err)
	}
	f.server = server
	t.Cleanup(func() { f.unmount(t) })
	return f, folder
}

// unmount ends the file system. What it holds stays in memory.
func (f *forgetful) unmount(t *testing.T) {
	t.Helper()
	if f.server == nil {
		return
	}
	if err := f.server.Unmount(); err != nil {
		t.Errorf("unmount: %v", err)
	}
	f.server = nil
}

// leave writes to a folder what is left after the power has failed. Each change since
// the last fsync of its file is there by the chance, and then whole or some of its
// sectors.
func (f *forgetful) leave(folder string, random *rand.Rand, chance float64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.root.leave(folder, random, chance)
}

func (n *forgetfulNode) leave(path string, random *rand.Rand, chance float64) error {
	if n.mode&syscall.S_IFMT == syscall.S_IFDIR {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(n.lastingNames)) {
			if err := n.lastingNames[name].leave(filepath.Join(path, name), random, chance); err != nil {
				return err
			}
		}
		return nil
	}
	if n.mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil
	}
	left := slices.Clone(n.lasting)
	for _, c := range n.since {
		if random.Float64() >= chance {
			continue
		}
		for _, part := range c.torn(random) {
			left = part.apply(left)
		}
	}
	return os.WriteFile(path, left, fs.FileMode(n.mode&0o777))
}

// torn returns what is left of a change: all of it, or some sectors.
func (c change) torn(random *rand.Rand) []change {
	const sector = 512
	if c.data == nil || random.IntN(2) == 0 {
		return []change{c}
	}
	var out []change
	for at := 0; at < len(c.data); at += sector {
		if random.IntN(2) == 0 {
			out = append(out, change{c.data[at:min(at+sector, len(c.data))], c.offset + int64(at)})
		}
	}
	return out
}

// change does something to a file, and remembers that it is not on the disk.
func (n *forgetfulNode) change(c change) {
	n.data, n.at = c.apply(n.data), time.Now()
	n.since = append(n.since, c)
}

func (n *forgetfulNode) attributes(out *kernel.Attr) {
	out.Mode, out.Size, out.Nlink = n.mode, uint64(len(n.data)), 1
	out.Blocks = (out.Size + 511) / 512
	out.SetTimes(&n.at, &n.at, &n.at)
}

// add makes a file or folder.
func (n *forgetfulNode) add(ctx context.Context, name string, mode uint32, out *kernel.EntryOut) (*forgetfulNode, *nodes.Inode) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	child := &forgetfulNode{of: n.of, mode: mode, at: time.Now()}
	n.setName(name, child)
	child.attributes(&out.Attr)
	return child, n.NewPersistentInode(ctx, child, nodes.StableAttr{Mode: mode & syscall.S_IFMT})
}

func (n *forgetfulNode) setName(name string, child *forgetfulNode) {
	if n.names == nil {
		n.names = map[string]*forgetfulNode{}
	}
	n.names[name] = child
}

// Create implements nodes.NodeCreater.
func (n *forgetfulNode) Create(ctx context.Context, name string, _, mode uint32, out *kernel.EntryOut) (*nodes.Inode, nodes.FileHandle, uint32, syscall.Errno) {
	_, inode := n.add(ctx, name, syscall.S_IFREG|mode&0o777, out)
	return inode, nil, 0, 0
}

// Mkdir implements nodes.NodeMkdirer.
func (n *forgetfulNode) Mkdir(ctx context.Context, name string, mode uint32, out *kernel.EntryOut) (*nodes.Inode, syscall.Errno) {
	_, inode := n.add(ctx, name, syscall.S_IFDIR|mode&0o777, out)
	return inode, 0
}

// Mknod implements nodes.NodeMknoder: sockets.
func (n *forgetfulNode) Mknod(ctx context.Context, name string, mode, _ uint32, out *kernel.EntryOut) (*nodes.Inode, syscall.Errno) {
	_, inode := n.add(ctx, name, mode, out)
	return inode, 0
}

// Unlink implements nodes.NodeUnlinker.
func (n *forgetfulNode) Unlink(_ context.Context, name string) syscall.Errno {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	delete(n.names, name)
	return 0
}

// Rmdir implements nodes.NodeRmdirer.
func (n *forgetfulNode) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.Unlink(ctx, name)
}

// Rename implements nodes.NodeRenamer.
func (n *forgetfulNode) Rename(_ context.Context, name string, parent nodes.InodeEmbedder, to string, flags uint32) syscall.Errno {
	into, ok := parent.(*forgetfulNode)
	if !ok || flags&^1 != 0 { // RENAME_NOREPLACE
		return syscall.ENOTSUP
	}
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	if _, is := into.names[to]; is && flags == 1 {
		return syscall.EEXIST
	}
	child := n.names[name]
	delete(n.names, name)
	into.setName(to, child)
	return 0
}

// Open implements nodes.NodeOpener.
func (n *forgetfulNode) Open(context.Context, uint32) (nodes.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

// Read implements nodes.NodeReader.
func (n *forgetfulNode) Read(_ context.Context, _ nodes.FileHandle, to []byte, offset int64) (kernel.ReadResult, syscall.Errno) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	if offset >= int64(len(n.data)) {
		return kernel.ReadResultData(nil), 0
	}
	return kernel.ReadResultData(to[:copy(to, n.data[offset:])]), 0
}

// Write implements nodes.NodeWriter.
func (n *forgetfulNode) Write(_ context.Context, _ nodes.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.change(change{slices.Clone(data), offset})
	return uint32(len(data)), 0
}

// Allocate implements nodes.NodeAllocater.
func (n *forgetfulNode) Allocate(_ context.Context, _ nodes.FileHandle, offset, size uint64, mode uint32) syscall.Errno {
	if mode != 0 {
		return syscall.ENOTSUP
	}
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	if end := int64(offset + size); end > int64(len(n.data)) {
		n.change(change{offset: end})
	}
	return 0
}

// Fsync implements nodes.NodeFsyncer, of files and folders.
func (n *forgetfulNode) Fsync(context.Context, nodes.FileHandle, uint32) syscall.Errno {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	for _, c := range n.since {
		n.lasting = c.apply(n.lasting)
	}
	n.since, n.lastingNames = nil, maps.Clone(n.names)
	return 0
}

// Getattr implements nodes.NodeGetattrer.
func (n *forgetfulNode) Getattr(_ context.Context, _ nodes.FileHandle, out *kernel.AttrOut) syscall.Errno {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.attributes(&out.Attr)
	return 0
}

// Setattr implements nodes.NodeSetattrer.
func (n *forgetfulNode) Setattr(_ context.Context, _ nodes.FileHandle, in *kernel.SetAttrIn, out *kernel.AttrOut) syscall.Errno {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	if size, is := in.GetSize(); is && size != uint64(len(n.data)) {
		n.change(change{offset: int64(size)})
	}
	if mode, is := in.GetMode(); is {
		n.mode = n.mode&^0o777 | mode&0o777
	}
	n.attributes(&out.Attr)
	return 0
}

// Statfs implements nodes.NodeStatfser.
func (n *forgetfulNode) Statfs(_ context.Context, out *kernel.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	out.Blocks, out.Bfree, out.Bavail = 1<<20, 1<<20, 1<<20
	out.Files, out.Ffree = 1<<20, 1<<20
	return 0
}
