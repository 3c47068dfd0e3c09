package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestCollectorRaces stores, reads and deletes the same few contents from
// many goroutines while the collector removes what nothing refers to. What
// was acknowledged can be read until it is deleted.
func TestCollectorRaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	ctx, stop := context.WithCancel(t.Context())
	var collecting, working sync.WaitGroup
	for range 2 {
		collecting.Go(func() {
			for ctx.Err() == nil {
				if err := w.Collect(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, contents.ErrPinned) { // by the other one
					t.Error(err)
				}
			}
		})
	}
	id := w.as("sam").startCase(`{"route": "auto"}`)
	for worker := range 6 {
		working.Go(func() {
			for i := range 40 {
				text := strings.Repeat(fmt.Sprint((worker+i)%3), 5000)
				if err := w.useOnce(t.Context(), id, text); err != nil {
					t.Errorf("worker %d, round %d: %v", worker, i, err)
				}
			}
		})
	}
	working.Wait()
	stop()
	collecting.Wait()
	w.sound("after the races")
}

// useOnce stores a text as an attachment of the case, reads it and deletes
// it.
func (w *world) useOnce(ctx context.Context, id int64, text string) error {
	out, err := w.Attachments.PutAttachment(ctx, w.as("sam").request(nil), engine.NewAttachment{Name: "x", CaseID: id}, strings.NewReader(text))
	if err != nil {
		return err
	}
	uuid, _ := store.ParseUUID(out.Name)
	a, err := w.Attachments.OpenAttachment(ctx, w.as("sam").by(), uuid)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		return err
	}
	if string(got) != text {
		return fmt.Errorf("%d bytes of another content", len(got))
	}
	return w.Attachments.DeleteAttachment(ctx, w.as("sam").request(nil), uuid)
}

// gate is a folder of contents that stops after it has kept one.
type gate struct {
	engine.Blobs
	kept, goOn chan struct{}
	removed    atomic.Int64
}

func (g *gate) Spool(r io.Reader, limit int64) (contents.Spooled, error) {
	s, err := g.Blobs.Spool(r, limit)
	return gated{s, g}, err
}

func (g *gate) Remove(sum [32]byte) error {
	g.removed.Add(1)
	return g.Blobs.Remove(sum)
}

type gated struct {
	contents.Spooled
	gate *gate
}

func (g gated) Keep() error {
	err := g.Spooled.Keep()
	g.gate.kept <- struct{}{}
	<-g.gate.goOn
	return err
}

// TestCollectorLeavesAloneWhatIsAboutToBeReferredTo: between the moment at which a content is kept and the commit of
// what refers to it, the collector leaves it alone, and nothing that it left
// alone for that reason stays behind.
func TestCollectorLeavesAloneWhatIsAboutToBeReferredTo(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		g := &gate{kept: make(chan struct{}), goOn: make(chan struct{})}
		w := newWorld(t, overBlobs(func(b engine.Blobs) engine.Blobs { g.Blobs = b; return g }))
		req := w.as("sam").request(nil)
		calls := 0
		req.If = func(engine.Version) error {
			if calls++; calls > 1 && fails { // the first time it is judged before the body is read
				return errs.New(errs.Precondition, "no")
			}
			return nil
		}
		result := make(chan error, 1)
		go func() {
			_, err := w.Attachments.PutAttachment(t.Context(), req, engine.NewAttachment{Name: "x"}, strings.NewReader("pinned"))
			result <- err
		}()
		<-g.kept
		if err := w.Collect(t.Context()); err != nil || g.removed.Load() != 0 {
			t.Errorf("the collector removed %d contents in flight, %v", g.removed.Load(), err)
		}
		if files, _ := w.files(); len(files) != 1 {
			t.Errorf("on disk: %v", files)
		}
		close(g.goOn)
		if err := <-result; (err != nil) != fails {
			t.Fatal(err)
		}
		w.sound(fmt.Sprintf("a request that fails: %t", fails))
	}
}

// TestCollectorGoesByItself: what a failed request or a replaced message
// leaves behind is removed without anybody asking.
func TestCollectorGoesByItself(t *testing.T) {
	t.Parallel()
	removed := make(chan struct{}, 10)
	w := newWorld(t, overBlobs(func(b engine.Blobs) engine.Blobs { return teller{b, removed} }))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Engine.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	id := w.as("sam").startCase(`{"route": "ask"}`)
	for _, text := range []string{"a", "b", "c"} {
		if _, err := w.Cases.PutLabel(t.Context(), w.as("sam").request(nil), id, engine.NewMessage{Label: "report", MediaType: "text/plain", Body: strings.NewReader(strings.Repeat(text, 5000))}); err != nil {
			t.Fatal(err)
		}
	}
	a := w.as("sam").upload(engine.NewAttachment{Name: "x"}, "deleted")
	if err := w.as("sam").deleteAttachment(a); err != nil {
		t.Fatal(err)
	}
	for range 3 { // two reports, one attachment
		<-removed
	}
	req := w.as("sam").request(nil)
	calls := 0
	req.If = func(engine.Version) error {
		if calls++; calls > 1 {
			return errs.New(errs.Precondition, "no")
		}
		return nil
	}
	if _, err := w.Attachments.PutAttachment(t.Context(), req, engine.NewAttachment{Name: "x"}, strings.NewReader("refused")); err == nil {
		t.Fatal("the condition was not asked again")
	}
	<-removed
	c, err := w.Cases.Message(t.Context(), w.as("sam").by(), id, store.UUID{}, "report")
	if err != nil {
		t.Fatal(err)
	}
	if text := w.readAll(c.Body); text != strings.Repeat("c", 5000) {
		t.Errorf("the report has %d bytes of another content", len(text))
	}
}

// teller is a folder of contents that tells of what it has removed.
type teller struct {
	engine.Blobs
	removed chan<- struct{}
}

func (b teller) Remove(sum [32]byte) error {
	err := b.Blobs.Remove(sum)
	b.removed <- struct{}{}
	return err
}

// thief takes a content away between finding and opening it, as many times
// as it is told.
type thief struct {
	engine.Blobs
	times int
	steal func()
}

func (b *thief) Open(sum [32]byte) (io.ReadSeekCloser, error) {
	if b.times > 0 {
		b.times--
		b.steal()
	}
	return b.Blobs.Open(sum)
}

// TestReadWhileReplaced: whoever reads gets the old content or the new one.
func TestReadWhileReplaced(t *testing.T) {
	t.Parallel()
	b := &thief{}
	w := newWorld(t, overBlobs(func(inner engine.Blobs) engine.Blobs { b.Blobs = inner; return b }))
	id := w.as("sam").startCase(`{"route": "ask"}`)
	put := func(text string) {
		t.Helper()
		if _, err := w.Cases.PutLabel(t.Context(), w.as("sam").request(nil), id, engine.NewMessage{Label: "report", MediaType: "text/plain", Body: strings.NewReader(strings.Repeat(text, 5000))}); err != nil {
			t.Fatal(err)
		}
		if err := w.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	n := 0
	b.times, b.steal = 2, func() { n++; put(fmt.Sprint(n)) }
	c, err := w.Cases.Message(t.Context(), w.as("sam").by(), id, store.UUID{}, "report")
	if err != nil {
		t.Fatal(err)
	}
	if text := w.readAll(c.Body); text != strings.Repeat("2", 5000) {
		t.Errorf("read %.10q…", text)
	}
	a := w.as("sam").upload(engine.NewAttachment{Name: "x"}, "x")
	b.times, b.steal = 1, func() {
		if err := errors.Join(w.as("sam").deleteAttachment(a), w.Collect(t.Context())); err != nil {
			t.Error(err)
		}
	}
	_, err = w.Attachments.OpenAttachment(t.Context(), w.as("sam").by(), a)
	w.kind("an attachment that was deleted meanwhile", err, errs.NotFound)
}

// mortal dies after a number of steps: from then on nothing that it stands
// before happens any more, as after a kill.
type mortal struct{ left atomic.Int64 }

// forLife is more steps than anything takes.
const forLife = 1 << 40

var errDead = errors.New("the process was killed")

// step does f, unless the process is dead. It can die before f, or after it
// and before anybody hears of it.
func (m *mortal) step(f func() error) error {
	if m.left.Add(-1) < 0 {
		return errDead
	}
	if err := f(); err != nil {
		return err
	}
	if m.left.Add(-1) < 0 {
		return errDead
	}
	return nil
}

type mortalStore struct {
	store.Store
	m *mortal
}

func (s mortalStore) View(ctx context.Context, f func(store.Reader) error) error {
	if s.m.left.Load() < 0 {
		return errDead
	}
	return s.Store.View(ctx, f)
}

func (s mortalStore) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.m.step(func() error { return s.Store.Update(ctx, f) })
}

type mortalBlobs struct {
	engine.Blobs
	m *mortal
}

func (b mortalBlobs) Remove(sum [32]byte) error {
	return b.m.step(func() error { return b.Blobs.Remove(sum) })
}

func (b mortalBlobs) Spool(r io.Reader, limit int64) (s contents.Spooled, err error) {
	err = b.m.step(func() error {
		inner, err := b.Blobs.Spool(r, limit)
		s = mortalSpooled{inner, b.m}
		return err
	})
	return s, err
}

type mortalSpooled struct {
	contents.Spooled
	m *mortal
}

func (s mortalSpooled) Keep() error { return s.m.step(s.Spooled.Keep) }

func (s mortalSpooled) Discard() {
	if s.m.left.Load() >= 0 {
		s.Spooled.Discard()
	}
}

// TestKilledBetweenSteps kills the process before and after every step of
// storing, deleting and collecting. After a restart everything that is
// referred to can be read, and one pass of the collector leaves no other
// content.
func TestKilledBetweenSteps(t *testing.T) {
	t.Parallel()
	const most = 200
	for steps := int64(0); ; steps++ {
		if steps == most {
			t.Fatal("it never came to its end")
		}
		m := &mortal{}
		m.left.Store(forLife)
		w := newWorld(t, overStore(func(s store.Store) store.Store { return mortalStore{s, m} }),
			overBlobs(func(b engine.Blobs) engine.Blobs { return mortalBlobs{b, m} }))
		m.left.Store(steps)
		err := w.life()
		if err != nil && !errors.Is(err, errDead) {
			t.Fatalf("killed after %d steps: %v", steps, err)
		}
		m.left.Store(forLife)
		w.reopen()
		w.sound(fmt.Sprintf("killed after %d steps", steps))
		w.stop()
		if err == nil {
			return
		}
	}
}

// life stores a content twice, deletes both, collects, and stores it again,
// beside another one.
func (w *world) life() error {
	ctx := w.Context()
	var uuids []store.UUID
	put := func(text string) error {
		out, err := w.Attachments.PutAttachment(ctx, w.as("sam").request(nil), engine.NewAttachment{Name: "x"}, strings.NewReader(text))
		if err != nil {
			return err
		}
		uuid, _ := store.ParseUUID(out.Name)
		uuids = append(uuids, uuid)
		return nil
	}
	for _, do := range []func() error{
		func() error { return put("one") },
		func() error { return put("one") },
		func() error { return w.Attachments.DeleteAttachment(ctx, w.as("sam").request(nil), uuids[0]) },
		func() error { return w.Collect(ctx) },
		func() error { return w.Attachments.DeleteAttachment(ctx, w.as("sam").request(nil), uuids[1]) },
		func() error { return w.Collect(ctx) },
		func() error { return put("one") },
		func() error { return put("two") },
		func() error { return w.Attachments.DeleteAttachment(ctx, w.as("sam").request(nil), uuids[2]) },
		func() error { return w.Collect(ctx) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// failing is a folder of contents whose disk does not do as it should.
type failing struct {
	engine.Blobs
	remove, keep error
}

func (b *failing) Remove(sum [32]byte) error {
	if b.remove != nil {
		return b.remove
	}
	return b.Blobs.Remove(sum)
}

func (b *failing) Spool(r io.Reader, limit int64) (contents.Spooled, error) {
	s, err := b.Blobs.Spool(r, limit)
	return failingSpooled{s, b}, err
}

type failingSpooled struct {
	contents.Spooled
	b *failing
}

func (s failingSpooled) Keep() error {
	if s.b.keep != nil {
		return s.b.keep
	}
	return s.Spooled.Keep()
}

// TestDiskFails: what cannot be kept is refused, what cannot be removed is
// removed another time, and both leave everything sound.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	b := &failing{}
	w := newWorld(t, overBlobs(func(inner engine.Blobs) engine.Blobs { b.Blobs = inner; return b }))
	b.keep = errs.New(errs.Full, "The disk is full.")
	_, err := w.Attachments.PutAttachment(t.Context(), w.as("sam").request(nil), engine.NewAttachment{Name: "x"}, strings.NewReader("x"))
	w.kind("a full disk", err, errs.Full)
	b.keep = nil
	w.sound("after a full disk")
	a := w.as("sam").upload(engine.NewAttachment{Name: "x"}, "x")
	if err := w.as("sam").deleteAttachment(a); err != nil {
		t.Fatal(err)
	}
	b.remove = fs.ErrPermission
	if err := w.Collect(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("collect: %v", err)
	}
	b.remove = nil
	w.as("sam").upload(engine.NewAttachment{Name: "x"}, "x") // its file was not removed
	w.sound("after a removal that failed")
}
