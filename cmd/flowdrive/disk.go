package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/internal/errs"
	"flowdrive/server"
)

// reserveName is a file of the data folder that takes room. When the disk is full it is
// removed, so that there is room to delete something.
const reserveName = "reserve"

const (
	mostReserve  = 4 << 20     // bytes
	lowSpace     = 512 << 10   // so little is full, in bytes
	backSpace    = 1 << 20     // so much beside the reserve is enough again, in bytes
	diskInterval = time.Second // between two looks
	diskReminder = time.Minute // between two lines of the log while it is full
	readOnlyDisk = uint64(1)   // ST_RDONLY of statfs(2)
	probeName    = "probe"     // a file of the data folder that is made and removed to see whether that can be
	probeEvery   = 10 * time.Second
	reservePart  = uint64(16) // of a small disk the reserve takes this part at most
)

// disk watches the file system of the data folder.
type disk struct {
	data    string
	log     zerolog.Logger
	statfs  func(path string, into *syscall.Statfs_t) error
	probe   func() error           // tries to write
	tell    func(what string)      // has administrators told of what is wrong with it, "" for nothing; nil: nobody
	wrong   atomic.Pointer[string] // what is wrong with it, nil for nothing
	free    atomic.Uint64
	logged  time.Time
	probed  time.Time
	broken  string // what the last probe has found, "" for nothing
	reserve bool   // the file is there
	told    *string

	database func(ctx context.Context) error // tries whether the database of nodes has room; nil: it lies in the data folder
	lacks    func() bool                     // the database may have no room
	asked    time.Time                       // when database was called
	known    bool                            // it has said whether there is room
	without  bool                            // there was none then
}

// What is wrong with a disk, and what administrators are told of it.
const (
	diskFull     = "The server's disk is full."
	diskReadOnly = "The server's disk is read-only."
	diskFails    = "The server's disk cannot be written."
	databaseFull = "The disk of the server's database is full."
	toldFull     = "it is full; what users want to store is refused until there is room, and cases and schedule entries go on only while the room that is kept for them lasts"
	toldReadOnly = "it is read-only; nothing is stored until that is mended"
	toldDatabase = "that of the database is full; what users want to store is refused until there is room, and cases and schedule entries go on only if they need none"
	toldFails    = "it cannot be written, though it says that it can; nothing is stored until that is mended"
)

func newDisk(data string, log zerolog.Logger, registry *prometheus.Registry) (*disk, error) {
	d := &disk{data: data, log: log, statfs: syscall.Statfs}
	d.probe = d.tryWriting
	free := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_disk_free_bytes", Help: "Room on the file system of the data folder.",
	}, func() float64 { return float64(d.free.Load()) })
	full := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_disk_full", Help: "1 while nothing can be written but deletions, because the disk is full or read-only.",
	}, func() float64 {
		if d.wrong.Load() != nil {
			return 1
		}
		return 0
	})
	return d, errors.Join(registry.Register(free), registry.Register(full))
}

// run looks at the disk until ctx ends.
func (d *disk) run(ctx context.Context) error {
	return regularly(ctx, diskInterval, func(ctx context.Context) { d.look(ctx, time.Now()) })
}

// look finds out whether there is room, makes the reserve while there is, and removes it
// when there is none. It asks as well whether the database of nodes has room.
func (d *disk) look(ctx context.Context, now time.Time) {
	var s syscall.Statfs_t
	if err := d.statfs(d.data, &s); err != nil {
		d.log.Warn().Err(err).Msg("disk: could not look how much room there is")
		return
	}
	block := uint64(s.Bsize)
	free := s.Bavail * block
	size := reserveSize(&s)
	d.free.Store(free)
	was := d.wrong.Load()
	full := free < lowSpace || was != nil && *was == diskFull && free < enoughAgain(&s)
	readOnly := uint64(s.Flags)&readOnlyDisk != 0
	switch {
	case readOnly:
		d.note(diskReadOnly, now)
	case full:
		if was == nil {
			d.dropReserve()
		}
		d.note(diskFull, now)
	case d.cannotWrite(now):
		d.note(d.broken, now)
	case d.databaseIsFull(ctx, now):
		d.note(databaseFull, now)
	default:
		if was != nil {
			d.wrong.Store(nil)
			d.logged = time.Time{}
			d.log.Info().Uint64("free", free).Msg("disk: it can be written again, and there is room")
		}
		if !d.reserve && free >= enoughAgain(&s) {
			d.makeReserve(size)
		}
	}
	d.tellOf()
}

// reserveSize returns how large the reserve of a file system is.
func reserveSize(s *syscall.Statfs_t) uint64 {
	return min(mostReserve, s.Blocks*uint64(s.Bsize)/reservePart)
}

// enoughAgain returns how much has to be free before a disk that was full is not full any more:
// the reserve has to find room again.
func enoughAgain(s *syscall.Statfs_t) uint64 { return reserveSize(s) + backSpace }

// cannotWrite reports whether the disk cannot be written though nothing says so: a file system
// that has met an error of its disk refuses writes and may go on to say that it is writable.
// It is tried now and then, and at each look while it fails.
func (d *disk) cannotWrite(now time.Time) bool {
	if d.broken == "" && now.Sub(d.probed) < probeEvery {
		return false
	}
	d.probed = now
	was := d.broken
	switch err := d.probe(); {
	case err == nil:
		d.broken = ""
	case errors.Is(err, syscall.EROFS):
		d.broken = diskReadOnly
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT): // of files, or of this user
		d.broken = diskFull
	default:
		d.broken = diskFails
		if was != d.broken {
			d.log.Error().Err(err).Msg("disk: could not write to it")
		}
	}
	return d.broken != ""
}

// databaseIsFull reports whether the disk of a database that nodes share is full. It is asked at
// the first look, for people may have been told before another node was the active one, and then
// only after something could not be stored there: a database that nobody uses has nothing to do.
func (d *disk) databaseIsFull(ctx context.Context, now time.Time) bool {
	waits := now.Sub(d.asked) < probeEvery && (d.without || !d.known)
	if d.database == nil || waits || d.known && !d.lacks() {
		return d.without
	}
	d.asked = now
	switch err := d.database(ctx); {
	case err == nil:
		d.known, d.without = true, false
	case errs.Is(err, errs.Full):
		d.known, d.without = true, true
	default:
		d.log.Warn().Err(err).Msg("disk: could not look whether the database has room")
	}
	return d.without
}

// tryWriting makes a file and removes it.
func (d *disk) tryWriting() error {
	name := filepath.Join(d.data, probeName)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte{0})
	return errors.Join(err, f.Close(), removeIfThere(name))
}

// tellOf has administrators told of what is wrong when that changes. The first look says
// as well that nothing is: people may have been told before a restart.
func (d *disk) tellOf() {
	what := ""
	if wrong := d.wrong.Load(); wrong != nil {
		what = map[string]string{diskFull: toldFull, databaseFull: toldDatabase, diskReadOnly: toldReadOnly, diskFails: toldFails}[*wrong]
	}
	unknown := d.database != nil && !d.known && what == ""
	if d.tell == nil || d.told != nil && *d.told == what || unknown {
		return
	}
	d.told = &what
	d.tell(what)
}

// note notes what is wrong, and logs it once a minute.
func (d *disk) note(wrong string, now time.Time) {
	d.wrong.Store(&wrong)
	if now.Sub(d.logged) < diskReminder {
		return
	}
	d.logged = now
	event := d.log.Error().Str("what", wrong)
	if wrong != databaseFull {
		event = event.Uint64("free", d.free.Load())
	}
	event.Msg("disk: what users want to store is refused until that is mended; things can be read")
}

// makeReserve makes the reserve. It does no harm if that fails: there is less room for
// deletions then.
func (d *disk) makeReserve(size uint64) {
	f, err := os.OpenFile(filepath.Join(d.data, reserveName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(syscall.Fallocate(int(f.Fd()), 0, 0, int64(size)), f.Close())
	}
	if err != nil {
		d.log.Warn().Err(err).Msg("disk: could not set room aside for deletions")
	}
	d.reserve = true
}

func (d *disk) dropReserve() {
	d.reserve = false
	if err := removeIfThere(filepath.Join(d.data, reserveName)); err != nil {
		d.log.Warn().Err(err).Msg("disk: could not give the reserve free")
	}
}

// isFull reports whether what is wrong with a disk is that it is full.
func isFull(wrong string) bool { return wrong == diskFull || wrong == databaseFull }

// ready says why the server is not ready, as server.Config.Ready does: each reason begins
// with the part, as in the body of /readyz. If the database of nodes has no room, a node is
// ready: no other one would do better, and a balancer would let nobody delete anything.
func (d *disk) ready(also func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if wrong := d.wrong.Load(); wrong != nil && *wrong != databaseFull {
			return errs.New(errs.Unavailable, "disk: %s", *wrong)
		}
		if err := also(ctx); err != nil {
			return &errs.Error{Kind: errs.Unavailable, Detail: "database: It does not answer.", Err: err}
		}
		return nil
	}
}

// guard refuses what stores something while there is no room, and everything that changes
// something while nothing can be written. What deletes may take the reserve.
func (d *disk) guard(drive http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wrong := d.wrong.Load()
		if wrong != nil && isFull(*wrong) && r.Method == http.MethodDelete {
			if kept := keptBelow(r.URL.Path); kept != "" {
				w.Header().Set("X-Flowdrive-Kept", kept)
			}
		}
		if wrong == nil || !stores(r.Method) && (isFull(*wrong) || !changes(r.Method)) {
			drive.ServeHTTP(w, r)
			return
		}
		what := "delete something, what is deleted in Documents/ in its .history/ as well, or try again once there is room"
		if !isFull(*wrong) {
			what = "try again once an administrator has mended that; things can be read"
		}
		w.Header().Set("Retry-After", "10")
		server.WriteError(w, r, errs.New(errs.Full, "%s Nothing was stored; %s.", *wrong, what))
	})
}

// keptBelow returns the folder in which the drive keeps what is deleted at a path, which goes on
// taking room there; "" for none.
func keptBelow(path string) string {
	rest, inDocuments := strings.CutPrefix(path, "/dav/Documents/")
	context, below, inContext := strings.Cut(rest, "/")
	if !inDocuments || !inContext || slices.Contains(strings.Split(below, "/"), ".history") {
		return ""
	}
	return (&url.URL{Path: "/dav/Documents/" + context + "/.history/"}).EscapedPath()
}

// stores reports whether requests with the method take room. One that moves something
// does not, and is how many clients delete.
func stores(method string) bool {
	switch method {
	case http.MethodPut, http.MethodPost, "COPY", "MKCOL", "PROPPATCH":
		return true
	}
	return false
}

// changes reports whether requests with the method write something, if only that it is gone.
func changes(method string) bool {
	switch method {
	case http.MethodDelete, http.MethodPatch, "MOVE", "LOCK", "UNLOCK":
		return true
	}
	return stores(method)
}
