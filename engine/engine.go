// Package engine holds the use cases of Flowdrive: schedule, start, perform,
// fire, sweep. Each looks facts up, lets the pure parts decide, and stores
// what they decided in one transaction. Its parts are listed in parts.go; what
// they share, how they change something and what is kept is below them, in
// engine/change and store. It knows neither HTTP nor SQL.
//
// Errors of use cases are errs.Error, by kind. All use cases return errs.NotFound
// for what the caller may not see, and errs.Unavailable if the store does not
// answer. Those that change something also return errs.Precondition if Request.If
// is not met, errs.Locked if another user has a lock, and errs.Full if there is
// no room. The comment of a use case lists what else it returns.
package engine

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine/access"
	"flowdrive/engine/account"
	"flowdrive/engine/audit"
	"flowdrive/engine/calendar"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/events"
	"flowdrive/engine/files"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/engine/prefetch"
	"flowdrive/engine/quota"
	"flowdrive/engine/scratch"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/schedule"
	"flowdrive/store"
)

// Blobs keeps contents too large for the database, as files named by their
// SHA-256.
type Blobs = contents.Files

// Config is what an Engine is made of. Zero limits take the defaults
// (docs/contract/drive.md#limits).
type Config struct {
	Store        store.Store
	Blobs        Blobs
	Clock        Clock
	Filters      Filters                          // nil: jq filters cannot be run
	Outside      outbox.Outside                   // nil: nothing leaves the server
	Player       Player                           // nil: scenarios are stored and not played
	Secret       func(name string) (string, bool) // what verifies requests to hooks; nil: there is none
	Callbacks    map[string]outbox.CallbackFunc   // by name; what routes can ask
	Channels     Channels                         // how people are told of events
	AnyCallback  bool                             // routes may name others as well: for rehearsals, in which none is asked
	Log          zerolog.Logger
	HashPassword func(password string) (string, error)
	// JudgePassword says which passwords users may have; nil: any.
	JudgePassword account.JudgePassword
	// OwnAddress says which e-mail addresses users may give themselves; nil: any, at once.
	OwnAddress account.OwnAddress

	// CheckPassword checks a user's password as a log-in of the same request
	// would, with the same limits: a wrong one is errs.LogIn, too many are
	// errs.TooMany.
	CheckPassword func(ctx context.Context, user identity.Name, password string) error
	// Address returns where a request comes from, or "" for the machine itself.
	Address func(ctx context.Context) string
	// Standing returns why nothing more is done for a request: its log-in has
	// ended, errs.LogIn. It is asked for every view and in the unit of every
	// change, so it answers from memory. Without it no log-in ends.
	Standing func(ctx context.Context) error

	// Wall is the machine's clock, also in a sandbox: locks are a matter of
	// real time. The default is clock.Real.
	Wall func() time.Time

	Zones    schedule.Zones     // nil: UTC alone
	Zone     *time.Location     // of dates that say none; nil: UTC
	Links    link.Base          // the address that people call; "": links are paths
	Letter   outbox.WriteLetter // how a sandbox writes mails to be looked at; nil: it does not
	Sandbox  bool               // the clock stands still; what a request makes due is done before its answer
	Firings  int                // due rows that one move of a sandbox's clock fires; 0: DefaultFirings
	Limits   Limits
	Observer Observer // may be nil
	// OnDamage is told of a content that was read and is not what was stored: what is
	// on the disk instead. It must not wait. It may be nil.
	OnDamage func(sum [32]byte, what string)
	State    func() ServerState                         // for Admin/Status.json; may be nil
	Nodes    func(context.Context) ([]NodeState, error) // for Admin/Nodes/, by name; nil: there are none
}

// Limits bounds what one user may have (docs/contract/drive.md#limits).
type Limits struct {
	Entries   int64
	Routes    int64
	OpenCases int64
	Started   int64 // by routes themselves, in an hour
	FromOne   int64 // of these, by one case with all that it has started; 0: half of them
	Mails     int64 // that steps send in an hour, by author of the route
	Notices   int64 // that one user gets by mail in an hour, each in a mail of its own
	Files     int64 // documents and folders
	Quota     int64 // bytes

	// Of a document what it was is kept: so long (less than 0: not at all), and so many
	// of one name.
	VersionsLast time.Duration
	Versions     int
}

// The default limits.
const (
	DefaultEntries   = 10_000
	DefaultRoutes    = 1_000
	DefaultOpenCases = 1_000_000
	DefaultStarted   = 100_000
	DefaultMails     = 200
	DefaultNotices   = 200
	DefaultFiles     = 1_000_000
	DefaultQuota     = 10 << 30
	DefaultFirings   = 100_000

	DefaultVersionsLast = 30 * 24 * time.Hour
	DefaultVersions     = 100
)

// DefaultFromOne returns the default of Limits.FromOne: half of what routes may start, at
// least one case.
func DefaultFromOne(started int64) int64 { return (started + 1) / 2 }

func (l Limits) withDefaults() Limits {
	if l.VersionsLast == 0 {
		l.VersionsLast = DefaultVersionsLast
	}
	if l.Versions == 0 {
		l.Versions = DefaultVersions
	}
	if l.Entries == 0 {
		l.Entries = DefaultEntries
	}
	if l.Routes == 0 {
		l.Routes = DefaultRoutes
	}
	if l.OpenCases == 0 {
		l.OpenCases = DefaultOpenCases
	}
	if l.Started == 0 {
		l.Started = DefaultStarted
	}
	if l.FromOne == 0 {
		l.FromOne = DefaultFromOne(l.Started)
	}
	if l.Mails == 0 {
		l.Mails = DefaultMails
	}
	if l.Notices == 0 {
		l.Notices = DefaultNotices
	}
	if l.Files == 0 {
		l.Files = DefaultFiles
	}
	if l.Quota == 0 {
		l.Quota = DefaultQuota
	}
	return l
}

// Observer counts what the engine does, for metrics.
type Observer interface {
	Fired(f Firing)
	Performed(trigger string)
	CaseStarted()
	CaseEnded(life string)
	Failed(kind string) // something in a case, for good
}

// Firing is an instant of a schedule entry that was dealt with.
type Firing struct {
	Entry   store.UUID
	Case    int64 // 0: none was created
	Instant time.Time
	Began   time.Time // when it was turned to, by the engine's clock
	Outcome string
	Lag     time.Duration // from the instant to Began; 0 if somebody has triggered it
}

// Engine runs the use cases. It is safe for concurrent use. Each part knows
// what all share, and the parts that it uses.
type Engine struct {
	Accounts    *account.Accounts
	Archive     *Archive
	Calendars   *calendar.Calendars
	Cases       *Cases
	Drops       *Drops
	Attachments *Attachments
	Files       *files.Files
	History     *History
	Holds       *Holds
	Letters     *outbox.Letters
	Hooks       *Hooks
	Locks       *Locks
	Routes      *Routes
	Scenarios   *Scenarios
	Schedules   *Schedules
	Scratch     *scratch.Area
	Server      *Server
	Status      *Status
	Pictures    *Pictures
	Worklists   *Worklists

	*base
	decider *decider
}

// base is what all parts share.
type base struct {
	*change.Maker

	// What another part does for the base.
	readCalendar func(*calendar.Ahead) error                    // before a change that needs it
	runDue       func(ctx context.Context, now time.Time) error // all that is due, in a sandbox

	// As quota.Bytes has them, but versions of documents give way.
	checkQuota  func(tx store.Tx, author identity.ID, more int64) error
	roomInQuota func(r store.Reader, author identity.ID, freed, announced int64) (int64, error)

	filters  Filters
	player   Player
	secrets  func(name string) (string, bool)
	channels Channels
	log      zerolog.Logger
	zones    schedule.Zones
	zone     *time.Location
	links    link.Base
	state    func() ServerState
	nodes    func(context.Context) ([]NodeState, error)
	sandbox  bool
	firings  int
	limits   Limits
	observer Observer

	accounts   *account.Accounts
	rights     *access.Rights
	versions   versionCache
	filtered   prefetch.Filters
	called     prefetch.Calls
	searched   prefetch.Searches
	plays      prefetch.Plays
	givenUp    prefetch.Identities[attempt]
	plans      planCache
	usage      quota.Counts
	started    startBudget
	mailed     mailBudget
	noticed    noticeBudget
	disk       diskTrouble
	left       leftover
	away       atomic.Pointer[absence] // of which people were told last
	quota      quota.Bytes
	arriving   *quota.Arriving
	sweeper    sweeper
	dispatcher outbox.Dispatcher
	reach      outbox.Reach
	letters    outbox.Letters
	audit      *audit.Log
	contents   *contents.Keeper
	events     *events.Bus[Event]
}

// New returns an engine over the store. Load must be called before it is
// used, and Run must run for things to become due.
func New(cfg Config) *Engine {
	b := &base{
		Maker:    &change.Maker{Store: cfg.Store, Clock: cfg.Clock, Wall: cfg.Wall},
		filters:  cfg.Filters,
		player:   cfg.Player,
		secrets:  cfg.Secret,
		channels: cfg.Channels,
		log:      cfg.Log,
		zones:    cfg.Zones,
		zone:     cmp.Or(cfg.Zone, time.UTC),
		links:    cfg.Links,
		state:    cfg.State,
		nodes:    cfg.Nodes,
		sandbox:  cfg.Sandbox,
		firings:  cfg.Firings,
		limits:   cfg.Limits.withDefaults(),
		observer: cfg.Observer,
		contents: keeperOf(cfg),
	}
	if cfg.Standing != nil {
		b.Store = change.StandingStore{Store: cfg.Store, Standing: cfg.Standing}
	}
	if b.observer == nil {
		b.observer = nobody{}
	}
	b.reach = outbox.Reach{Outside: cfg.Outside, Callbacks: outbox.Callbacks{Funcs: cfg.Callbacks, Any: cfg.AnyCallback, Log: cfg.Log}, IsUsers: b.isUsers, AuthorOf: secretAuthors{b}.ofCase}
	if b.reach.Outside == nil {
		b.reach.Outside = outbox.Nowhere{}
	}
	b.letters = outbox.Letters{Store: b.Store, Write: cfg.Letter, Sandbox: cfg.Sandbox}
	if b.Wall == nil {
		b.Wall = clock.Real{}.Now
	}
	if cfg.CheckPassword == nil {
		cfg.CheckPassword = func(context.Context, identity.Name, string) error {
			return errs.New(errs.Unavailable, "Passwords cannot be checked here.")
		}
	}
	if cfg.Address == nil {
		cfg.Address = func(context.Context) string { return "" }
	}
	b.quota, b.arriving = quota.Bytes{Most: b.limits.Quota, Own: func(user identity.ID) int64 { return b.accounts.Table().Quota(user) }}, &quota.Arriving{}
	b.events = events.NewBus[Event](b.Wall)
	b.audit = audit.NewLog(cfg.Store, func() time.Time { return b.Clock.Now() }, cfg.Address, cfg.Log)
	if b.firings == 0 {
		b.firings = DefaultFirings
	}
	b.sweeper.wake = make(chan struct{}, 1)
	b.left.more = make(chan struct{}, 1)
	b.NameOf = func(id identity.ID) string {
		if p := b.accounts.Table().ByID(id); p != nil {
			return string(p.Name)
		}
		return ""
	}
	b.ZoneOf = b.zoneOfParty
	b.rights = access.New(func() *identity.Directory { return b.accounts.Table().Directory() }, b.Clock.Now)
	b.accounts = account.New(account.Config{
		Maker: b.Maker, Log: b.audit, Routes: b.rights, Ties: ties{b}, Links: b.links, Hash: cfg.HashPassword, Judge: cfg.JudgePassword, Own: cfg.OwnAddress, Check: cfg.CheckPassword, Rouse: b.events.Rouse, Due: b.sweeper.note,
		Zone: func(name string) bool { return b.zoneNamed(name) != nil }, ZoneOf: b.zoneOfParty, Kinds: notice.WishedKinds(),
		CodeStrays: func(user identity.Name, off time.Duration) {
			b.log.Warn().Str("user", string(user)).Stringer("off", off).Msg("second factor: the code that was refused is right for another time; set the clock of the user's device, or that of this machine if it happens to others too")
		},
		NameCleaned: func(user identity.Name, sent, stored string) {
			b.log.Warn().Str("user", string(user)).Str("sent", strconv.QuoteToASCII(sent)).Str("stored", stored).Msg("the directory has sent a full name with characters that are not seen, or with the name of another user behind it; correct it there")
		},
	})
	return assemble(b)
}

// assemble makes the parts of an engine.
func assemble(b *base) *Engine {
	e := &Engine{
		base: b, Accounts: b.accounts, Attachments: &Attachments{b}, History: &History{b}, Holds: &Holds{b}, Letters: &b.letters, Scenarios: &Scenarios{b},
		decider: &decider{b},
	}
	e.Server = &Server{base: b, decider: e.decider}
	e.Files = files.New(files.Config{
		Maker: b.Maker, Accounts: b.accounts, Audit: b.audit, Contents: b.contents, Quota: b.quota, Arriving: b.arriving, MostFiles: b.limits.Files, Log: b.log,
		Versions: files.Retention{Lasts: b.limits.VersionsLast, Most: b.limits.Versions},
		Publish:  documentNews{e.decider}.publish, Uses: b.documentUses,
	})
	e.Scratch = scratch.New(scratch.Config{Maker: b.Maker, Contents: b.contents, Quota: b.quota, Arriving: b.arriving, Log: b.log})
	e.Calendars = calendar.New(calendar.Config{Maker: b.Maker, Contents: b.contents, Zones: b.zones, Links: b.links, Facts: calendarFacts{b, e.Files}})
	e.Cases = &Cases{base: b, attachments: e.Attachments, files: e.Files, decider: e.decider}
	e.Worklists = &Worklists{base: b, cases: e.Cases}
	e.Archive = &Archive{b, e.Cases, e.decider}
	e.Drops = &Drops{b, e.Attachments, e.decider, e.Cases}
	e.Hooks = &Hooks{base: b, cases: e.Cases, drops: e.Drops, decider: e.decider, secrets: b.secrets}
	e.Schedules = &Schedules{b, e.Calendars, e.Attachments, e.Files, e.decider}
	e.Status = &Status{base: b, schedules: e.Schedules, cases: e.Cases, worklists: e.Worklists}
	e.Pictures = &Pictures{base: b, decider: e.decider}
	b.dispatcher = outbox.Dispatcher{
		Maker: b.Maker, Due: &b.sweeper.outbox, Rouse: b.sweeper.rouse, Cases: &deliveries{b, e.decider},
		Reach: &b.reach, Letters: &b.letters, Sandbox: b.sandbox, Log: b.log,
		Admit: mailBounds{b}.admit,
	}
	e.Routes = &Routes{b, e.Schedules, e.decider}
	e.Locks = &Locks{b, e.Cases, e.Drops, e.Files, e.Scratch, e.Schedules, e.decider, e.Attachments, e.Hooks}
	b.DeleteSource, b.readCalendar, b.Ahead = e.deleteTaken, e.Calendars.ReadAhead, b.runPrefetched
	b.RunDue = b.runDueNow
	b.checkQuota, b.roomInQuota = e.Files.MakeRoom, e.Files.Room
	b.Snapshot = func() any { return b.accounts.Table() }
	b.runDue = func(ctx context.Context, now time.Time) error {
		_, err := e.runOnce(ctx, now, b.firings)
		return err
	}
	return e
}

// deleteTaken deletes what a request takes its content from, a document or a side file.
func (e *Engine) deleteTaken(tx store.Tx, req change.Request) error {
	switch {
	case req.Takes == nil:
		return nil
	case req.Takes.Scratch != nil:
		return e.Scratch.DeleteTaken(tx, req)
	}
	return e.Files.DeleteTaken(tx, req)
}

type nobody struct{}

func (nobody) Fired(Firing)     {}
func (nobody) Performed(string) {}
func (nobody) CaseStarted()     {}
func (nobody) CaseEnded(string) {}
func (nobody) Failed(string)    {}

// Load reads what is kept in memory: users and teams, and the routes' names
// and rights.
func (e *Engine) Load(ctx context.Context) error {
	if err := e.Store.View(ctx, e.Accounts.Load); err != nil {
		return err
	}
	if err := e.loadRoutes(ctx); err != nil {
		return err
	}
	return e.Store.View(ctx, func(r store.Reader) error {
		return e.loadSweeper(r)
	})
}

// directory returns all users and teams as they are now.
func (e *base) directory() *identity.Directory { return e.accounts.Table().Directory() }

// isUsers reports whether an e-mail address is a user's.
func (e *base) isUsers(address string) bool {
	for _, p := range e.directory().Parties() {
		if p.Email != "" && strings.EqualFold(p.Email, address) {
			return true
		}
	}
	return false
}
