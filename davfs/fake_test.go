package davfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/store"
)

// The people of the tests: sam and ann are in the team ops, bob is not, eva
// administers the server.
const (
	samID identity.ID = 101 + iota
	annID
	bobID
	evaID
	opsID
	everyoneID
)

// fake is an Engine in memory with just enough behaviour for the drive's
// contract to be tried on it. Its ids and UUIDs count up.
type fake struct {
	mu        sync.Mutex
	now       time.Time
	directory *identity.Directory
	last      int64
	entries   []*stored
	cases     []*stored
	routes    []*stored
	parties   []*stored
	attached  []*attached
	documents []*store.Document
	locks     []store.Lock
	dropped   []dropped
	scratch   []*store.Scratch
	versions  map[string][]engine.Resource
	messages  map[int64][]message
	answers   map[string]kept
	accounts  fakeAccounts
	calls     map[string]int // of the methods that list
	hidden    int            // how many calls of Replay find nothing yet
	failAfter int            // listings fail from that call on, 0 never
}

type stored struct {
	engine.Resource
	context  identity.ID
	life     machine.Life
	uuid     store.UUID
	kind     identity.Kind
	note     string
	title    string
	xattrs   label.Dict
	priority int
	version  int64  // of the definition
	count    int64  // what only counts
	limit    string // of the timer of a case
}

type message struct {
	store.Message
	content []byte
}

type kept struct {
	key    engine.IdempotencyKey
	answer []byte
}

func newFake() *fake {
	f := &fake{
		now:      time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC),
		last:     16,
		versions: map[string][]engine.Resource{},
		messages: map[int64][]message{},
		answers:  map[string]kept{},
		calls:    map[string]int{},
	}
	parties := []identity.Party{
		{ID: samID, Name: "sam", Kind: identity.User},
		{ID: annID, Name: "ann", Kind: identity.User},
		{ID: bobID, Name: "bob", Kind: identity.User},
		{ID: evaID, Name: "eva", Kind: identity.User, Admin: true},
		{ID: opsID, Name: "ops", Kind: identity.Team, Members: []identity.Name{"sam", "ann"}},
		{ID: everyoneID, Name: identity.Everyone, Kind: identity.Team},
	}
	f.directory = identity.NewDirectory(parties)
	for _, p := range parties {
		s := &stored{kind: p.Kind, version: 1}
		s.Name, s.Seq, s.Created = string(p.Name), int64(p.ID), f.now
		s.form(f.now, fmt.Sprintf(`{"name":%q,"id":%d}`, p.Name, p.ID))
		f.parties = append(f.parties, s)
	}
	return f
}

func (f *fake) ChangeTag() string { return `"changes"` }

func (f *fake) Now() time.Time { return f.now }

func (f *fake) nextID() int64 {
	f.last++
	return f.last
}

// form renders the resource anew.
func (s *stored) form(now time.Time, form string) {
	s.count++
	s.Form, s.Modified = []byte(form), now
	s.Definition = fmt.Sprintf(`"%d-%d.`, s.Seq, s.version)
	s.FormETag = fmt.Sprintf(`%s%d"`, s.Definition, s.count)
}

func (s *stored) setSource(body []byte) {
	s.Source, s.SourceSize = body, int64(len(body))
	s.SourceETag = contentETag(body)
}

func contentETag(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf(`"%x"`, sum[:16])
}

func (s *stored) judge(req engine.Request, byName bool) error {
	if req.If == nil {
		return nil
	}
	if s == nil {
		return req.If(engine.Version{})
	}
	v := engine.Version{Exists: true, ETag: s.FormETag, Definition: s.Definition, Modified: s.Modified}
	if byName && s.SourceETag != "" {
		v.ETag = s.SourceETag
	}
	return req.If(v)
}

// keep stores the answer to a request with a key.
func (f *fake) keep(req engine.Request, o *engine.Outcome) *engine.Outcome {
	f.take(req)
	if req.Key == nil {
		return o
	}
	f.answers[string(req.By.Name)+" "+req.Key.Key] = kept{*req.Key, req.Answer(o)}
	return o
}

// free says whether another request with the key was faster.
func (f *fake) free(req engine.Request) error {
	if req.Key == nil {
		return nil
	}
	if _, taken := f.answers[string(req.By.Name)+" "+req.Key.Key]; taken {
		return errs.New(errs.NameTaken, "Another request was faster.")
	}
	return nil
}

func (f *fake) Replay(_ context.Context, by identity.Principal, key engine.IdempotencyKey) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hidden > 0 {
		f.hidden--
		return nil, nil
	}
	k, found := f.answers[string(by.Name)+" "+key.Key]
	if !found {
		return nil, nil
	}
	if k.key != key {
		return nil, errs.New(errs.IdempotencyMismatch, "The key was used for another request.")
	}
	return k.answer, nil
}

// find returns what the reference names and by sees.
func (f *fake) find(list []*stored, by identity.Principal, ref engine.Ref) *stored {
	for _, s := range list {
		named := ref.Name != "" && s.AuthorID == ref.Author && same(s.Given, ref.Name)
		if ref.Identity() {
			named = ref.Entry != store.UUID{} && s.uuid == ref.Entry || ref.CaseID != 0 && s.Seq == ref.CaseID
		}
		if named && (by.Admin() || by.In(s.context)) {
			return s
		}
	}
	return nil
}

func (f *fake) page(list []*stored, by identity.Principal, filter engine.Filter, also func(*stored) bool) ([]engine.Resource, error) {
	f.calls["page"]++
	if f.failAfter > 0 && f.calls["page"] > f.failAfter {
		return nil, errs.New(errs.Unavailable, "The database is gone.")
	}
	var out []engine.Resource
	for _, s := range list {
		sees := by.In(s.context) || by.Admin() && !filter.OwnOnly
		if !sees || s.Seq <= filter.After || !strings.Contains(s.note, filter.Query) || !also(s) {
			continue
		}
		if filter.Context == "ops" && s.context != opsID {
			continue
		}
		r := s.Resource
		r.Source = nil
		if out = append(out, r); len(out) == filter.Limit {
			break
		}
	}
	return out, nil
}

func notThere() error { return errs.New(errs.NotFound, "There is no such thing.") }

func found(s *stored) (*engine.Resource, error) {
	if s == nil {
		return nil, notThere()
	}
	r := s.Resource
	return &r, nil
}

// read parses a document and checks the fields that the tests break.
// parse reads a document as the engine does, for which an empty one is none.
func parse(body []byte) (*document.Node, error) {
	if len(body) == 0 {
		return nil, errs.New(errs.EmptyDocument, "The document is empty; nothing was changed.")
	}
	return document.ParseJSON(body)
}

func (f *fake) read(body []byte, required string) (*document.Node, error) {
	node, err := parse(body)
	if err != nil {
		return nil, err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if required != "" {
		root.Get(required).Str()
	}
	if wrong := root.Get("minutes"); wrong.Given() {
		wrong.Int(0, 60)
	}
	return node, faults.Err()
}

func (f *fake) Entry(_ context.Context, by identity.Principal, ref engine.Ref) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls["one"]++
	return found(f.find(f.entries, by, ref))
}

func (f *fake) Entries(_ context.Context, by identity.Principal, filter engine.Filter) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.page(f.entries, by, filter, func(*stored) bool { return true })
}

func (f *fake) Occurrences(_ context.Context, by identity.Principal, uuid store.UUID) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.entries, by, engine.Ref{Entry: uuid})
	if s == nil {
		return nil, notThere()
	}
	return &engine.Resource{Name: s.Name, Form: []byte("[]\n"), FormETag: contentETag([]byte("[]\n"))}, nil
}

func (f *fake) PutEntry(_ context.Context, req engine.Request, ref engine.Ref, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	s := f.find(f.entries, req.By, ref)
	if s == nil && (ref.Identity() || ref.Name != "" && ref.Author != req.By.ID) {
		return nil, notThere()
	}
	if err := cmp.Or(s.judge(req, !ref.Identity()), f.free(req)); err != nil {
		return nil, err
	}
	node, err := parse(body)
	if err != nil {
		return nil, err
	}
	if s != nil && node.Get("do") != nil {
		s.form(f.now, string(s.Form))
		o := &engine.Outcome{Changed: true, Name: s.Name, Form: s.Form, FormETag: s.FormETag}
		return f.keep(req, o), nil
	}
	if node, err = f.read(body, "type"); err != nil {
		return nil, err
	}
	owner := req.By.ID
	if id := node.Get("contextId"); id != nil {
		n, _ := strconv.ParseInt(id.Text, 10, 64)
		owner = identity.ID(n)
	}
	if !req.By.In(owner) {
		return nil, errs.New(errs.ContextNotAvailable, "The context is not one of yours.")
	}
	o := &engine.Outcome{Created: s == nil, Changed: true}
	if s == nil {
		s = &stored{context: owner}
		s.Seq, s.Created, s.AuthorID, s.Author, s.Given = f.nextID(), f.now, req.By.ID, req.By.Name, ref.Name
		s.uuid[0], s.uuid[15] = 0xc6, byte(s.Seq)
		s.Name = s.uuid.String()
	}
	o.Name = s.Name
	if o.Created {
		f.entries = append(f.entries, s)
	}
	s.version++
	if note := node.Get("note"); note != nil {
		s.note = note.Text
	}
	s.form(f.now, fmt.Sprintf(`{"UUID":%q,"type":%q,"context":%d}`, s.uuid.Braced(), node.Get("type").Text, owner))
	o.Form, o.FormETag = s.Form, s.FormETag
	if s.Given != "" {
		s.setSource(body)
	}
	o.ETag = s.SourceETag
	return f.keep(req, o), nil
}

func (f *fake) DeleteEntry(_ context.Context, req engine.Request, ref engine.Ref) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.entries, req.By, ref)
	if s == nil {
		return notThere()
	}
	if err := s.judge(req, !ref.Identity()); err != nil {
		return err
	}
	f.entries = slices.DeleteFunc(f.entries, func(e *stored) bool { return e == s })
	return nil
}

func (f *fake) PartyID(name string) identity.ID {
	if p := f.directory.ByName(identity.Name(name)); p != nil {
		return p.ID
	}
	return 0
}

func (f *fake) party(kind identity.Kind, name string) *stored {
	for _, s := range f.parties {
		if s.kind == kind && same(s.Name, name) {
			return s
		}
	}
	return nil
}

func (f *fake) Party(_ context.Context, _ identity.Principal, kind identity.Kind, name string) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found(f.party(kind, name))
}

func (f *fake) Parties(_ context.Context, _ identity.Principal, kind identity.Kind) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []engine.Resource
	for _, s := range f.parties {
		if s.kind == kind {
			out = append(out, s.Resource)
		}
	}
	slices.SortFunc(out, func(a, b engine.Resource) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

func (f *fake) PutParty(_ context.Context, req engine.Request, kind identity.Kind, name string, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	s := f.party(kind, name)
	if err := cmp.Or(s.judge(req, false), f.free(req)); err != nil {
		return nil, err
	}
	if _, err := f.read(body, ""); err != nil {
		return nil, err
	}
	o := &engine.Outcome{Created: s == nil, Changed: true}
	if s == nil {
		s = &stored{kind: kind}
		s.Name, s.Seq, s.Created = name, f.nextID(), f.now
		f.parties = append(f.parties, s)
	}
	s.version++
	s.form(f.now, fmt.Sprintf(`{"name":%q,"id":%d}`, s.Name, s.Seq))
	o.Name, o.Form, o.FormETag = s.Name, s.Form, s.FormETag
	return f.keep(req, o), nil
}

func (f *fake) DeleteParty(_ context.Context, req engine.Request, kind identity.Kind, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.party(kind, name)
	if s == nil {
		return notThere()
	}
	if err := s.judge(req, false); err != nil {
		return err
	}
	f.parties = slices.DeleteFunc(f.parties, func(e *stored) bool { return e == s })
	return nil
}

func mustMarshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// engine returns the fake as all that the drive needs.
func (f *fake) engine() Engine {
	return Engine{
		Schedules:   f,
		Cases:       f,
		Actions:     f,
		Timers:      f,
		Routes:      f,
		Parties:     f,
		Holds:       f,
		Attachments: f,
		Drops:       f,
		Accounts:    f,
		Calendars:   f,
		Audit:       f,
		Documents:   f,
		Scratch:     f,
		Histories:   f,
		Locks:       f,
		Changes:     f,
	}
}
