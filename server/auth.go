package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/singleflight"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Accounts knows the users. Its methods are asked on every request and answer
// from memory.
type Accounts interface {
	// Account returns what a log-in is checked against: the user's id and
	// encoded password hash, "" for none. Names are compared as identity.Fold
	// does.
	Account(name string) (id identity.ID, encodedHash string, disabled bool, ok bool)

	// UseAppPassword reports whether the secret is an app password of the
	// user, and notes that it is used. What could be none costs nothing.
	UseAppPassword(id identity.ID, secret string) (of identity.AppPassword, ok bool)

	// HasFactor reports whether the user has a second factor.
	HasFactor(id identity.ID) bool

	// AppPasswordOwner returns whose app password the secret is, and notes that it
	// is used; 0 if it is nobody's, or its user is disabled.
	AppPasswordOwner(secret string) (identity.ID, identity.AppPassword)

	// Principal returns the acting view of the user, or the zero Principal if
	// there is no such user.
	Principal(id identity.ID) identity.Principal
}

const (
	credentialLife  = time.Minute
	mostCredentials = 8 << 10
	mostWaiting     = 256 // log-ins that wait for their hash
	mostHashes      = 4   // at the same time, each of 7 MiB, whatever the number of cores
	longestName     = 200
)

// Authenticator checks the credentials of requests
// (docs/contract/drive.md#log-in). A check costs little if the same credentials
// came from the same address within the last minute. The number of concurrent
// hashes is limited, because each takes 7 MiB and about 20 ms of a core.
type Authenticator struct {
	accounts  Accounts
	now       func() time.Time
	costs     Costs // of the hashes that it makes
	derive    deriveFunc
	dummy     *passwordHash // what an unknown user's password is compared with
	throttle  *throttle
	codes     *throttle // of second factors
	verified  *credentials
	directory Directory // nil: there is none
	vouchers  *vouchers
	flights   singleflight.Group
	slots     chan struct{}
	waiting   atomic.Int32
}

// NewAuthenticator returns an Authenticator for the accounts. The clock is
// the machine's, in a sandbox too. Costs are RecommendedCosts but for tests,
// which log in more often than they can pay for.
func NewAuthenticator(accounts Accounts, now func() time.Time, costs Costs) *Authenticator {
	a := &Authenticator{
		accounts: accounts,
		now:      now,
		costs:    costs,
		derive:   argon2.IDKey,
		dummy:    &passwordHash{Costs: costs, salt: make([]byte, saltLength), key: make([]byte, keyLength)},
		throttle: newThrottle(now),
		codes:    newThrottle(now),
		verified: newCredentials(now),
		slots:    make(chan struct{}, min(runtime.GOMAXPROCS(0), mostHashes)),
	}
	a.codes.perUser = true
	return a
}

// Authenticate returns the principal whom the Authorization header, sent from
// the address, logs in. Errors: errs.LogIn if the credentials are missing or
// wrong; errs.TooMany after failures; errs.Unavailable if too many log-ins wait
// to be checked.
//
// While a pair of address and user must wait, its right password is refused
// too. Otherwise the wait would not slow down guessing. An app password is not
// refused: it cannot be guessed, and one device with an old password must not
// lock out the others at the same address. For the same reason it is neither
// hashed slowly nor cached, so that it ends when it is revoked.
func (a *Authenticator) Authenticate(authorization string, from netip.Addr) (identity.Principal, error) {
	if token, ok := parseBearer(authorization); ok {
		return a.authenticateToken(token)
	}
	name, password, ok := parseBasic(authorization)
	if !ok {
		return identity.Principal{}, errs.New(errs.LogIn, "Log in with your user name and password (Basic, UTF-8), or with an app password (Bearer).")
	}
	id, encoded, disabled, known := a.accounts.Account(name)
	var of identity.AppPassword
	var device bool
	if known && !disabled {
		of, device = a.accounts.UseAppPassword(id, password)
	}
	switch {
	case device:
	case !disabled && a.asksDirectory(id, encoded):
		var err error
		if id, err = a.askDirectory(name, password, from); err != nil {
			return identity.Principal{}, err
		}
		if a.accounts.HasFactor(id) {
			return identity.Principal{}, errFactor()
		}
	default:
		if !known || disabled {
			encoded = ""
		}
		if err := a.checkPassword(name, password, encoded, from); err != nil {
			return identity.Principal{}, err
		}
		if a.accounts.HasFactor(id) {
			return identity.Principal{}, errFactor()
		}
	}
	if p := a.accounts.Principal(id); p.ID != 0 {
		p.Device, p.AppPassword = device, of
		return p, nil
	}
	return identity.Principal{}, errNotLoggedIn()
}

// authenticateToken returns the principal whose app password the token is.
// Errors: errs.LogIn if there is none.
func (a *Authenticator) authenticateToken(token string) (identity.Principal, error) {
	if id, of := a.accounts.AppPasswordOwner(token); id != 0 {
		if p := a.accounts.Principal(id); p.ID != 0 {
			p.Device, p.AppPassword = true, of
			return p, nil
		}
	}
	return identity.Principal{}, errs.New(errs.LogIn, "The token is not an app password that is in force; Account/AppPasswords/ makes one.")
}

// Watch returns a function that reports whether the credentials of a request
// are still those of its user, for answers that take long after the check. It
// costs next to nothing. It is meaningful only for credentials that were
// checked before.
func (a *Authenticator) Watch(authorization string) (holds func() bool) {
	if token, ok := parseBearer(authorization); ok {
		id, _ := a.accounts.AppPasswordOwner(token)
		return func() bool {
			now, _ := a.accounts.AppPasswordOwner(token)
			return id != 0 && now == id
		}
	}
	name, password, _ := parseBasic(authorization)
	id, encoded, _, _ := a.accounts.Account(name)
	_, device := a.accounts.UseAppPassword(id, password)
	if !device && a.asksDirectory(id, encoded) {
		return func() bool { return a.vouched(name, password, answerLasts) != 0 }
	}
	return func() bool {
		now, current, disabled, known := a.accounts.Account(name)
		switch {
		case !known || disabled || now != id:
			return false
		case device:
			_, still := a.accounts.UseAppPassword(id, password)
			return still
		}
		return current == encoded && !a.accounts.HasFactor(id)
	}
}

// checkPassword compares a password with the stored hash, "" for none, unless
// the same was found right a moment ago.
func (a *Authenticator) checkPassword(name, password, encoded string, from netip.Addr) error {
	attempt := pairOf(from, identity.Fold(name))
	if wait := a.throttle.wait(attempt); wait > 0 {
		return tooMany(wait)
	}
	key := a.verified.key(attempt, password, encoded)
	if encoded != "" && a.verified.has(key) {
		return nil
	}
	return a.verifyOnce(key, attempt, password, encoded)
}

// Confirm checks the password of a user once more, for the request that the
// context belongs to: as its log-in, and counted with its log-ins, so that
// nothing can be tried here that could not be tried there. Errors are those
// of Authenticate.
func (a *Authenticator) Confirm(ctx context.Context, name, password string) error {
	_, err := a.confirm(ctx, name, password)
	return err
}

// confirm does what Confirm does, and returns whose password it is.
func (a *Authenticator) confirm(ctx context.Context, name, password string) (identity.ID, error) {
	id, encoded, disabled, known := a.accounts.Account(name)
	if len(password) > MaxPassword || !sendable(password) {
		password = ""
	}
	var from netip.Addr
	if x := exchangeOf(ctx); x != nil {
		from = x.client
	}
	if !disabled && password != "" && a.asksDirectory(id, encoded) {
		return a.askDirectory(name, password, from)
	}
	if !known || disabled || password == "" {
		encoded, password = "", ""
	}
	return id, a.checkPassword(name, password, encoded, from)
}

func errFactor() error {
	return errs.New(errs.LogIn, "You have a second factor, so that your password is for the pages alone. Make an app password there, on the page Mount, and log in with that.")
}

func errNotLoggedIn() error {
	return errs.New(errs.LogIn, "The user name or the password is wrong.")
}

func tooMany(wait time.Duration) error {
	return errs.NewTooMany(wait, "Too many log-ins have failed")
}

// verifyOnce verifies credentials, once for all requests that bring the same
// ones at the same time. It is not given up with the request: others wait
// for it.
func (a *Authenticator) verifyOnce(key credential, attempt pair, password, encoded string) error {
	_, err, _ := a.flights.Do(string(key[:]), func() (any, error) {
		defer a.waiting.Add(-1)
		if a.waiting.Add(1) > mostWaiting {
			return nil, errs.New(errs.Unavailable, "Too many log-ins are being checked; try again in a moment.")
		}
		a.slots <- struct{}{}
		defer func() { <-a.slots }()
		return nil, a.verify(key, attempt, password, encoded)
	})
	return err
}

// Hash returns the hash of a password, as Costs.Hash does, when it is its turn: as
// many are made at the same time as there is memory for.
func (a *Authenticator) Hash(password string) (string, error) {
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	return a.costs.Hash(password)
}

// verify compares the password with the stored hash. While it waited for its
// turn, the same credentials may have been verified and others may have
// failed.
func (a *Authenticator) verify(key credential, attempt pair, password, encoded string) error {
	if encoded != "" && a.verified.has(key) {
		return nil
	}
	if wait := a.throttle.wait(attempt); wait > 0 {
		return tooMany(wait)
	}
	stored, usable := parseHash(encoded)
	if !usable { // the answer must take as long as for a user who exists
		stored = a.dummy
	}
	if matches := stored.matches(a.derive, password); !matches || !usable {
		if wait := a.throttle.fail(attempt); wait > 0 {
			return tooMany(wait)
		}
		return errNotLoggedIn()
	}
	a.throttle.succeed(attempt)
	a.verified.add(key)
	return nil
}

// parseBearer reads the Bearer scheme of RFC 6750, section 2.1.
func parseBearer(authorization string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(authorization, " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// parseBasic reads the Basic scheme of RFC 7617.
func parseBasic(authorization string) (name, password string, ok bool) {
	scheme, encoded, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", "", false
	}
	name, password, ok = strings.Cut(string(decoded), ":")
	// Windows puts its computer or domain before the name ("PC\bob").
	name = name[strings.LastIndexByte(name, '\\')+1:]
	if !ok || name == "" || len(name) > longestName || len(password) > MaxPassword || !sendable(name) || !sendable(password) {
		return "", "", false
	}
	return name, password, true
}

// credential stands for credentials that were verified: an HMAC-SHA256, with
// a key that leaves with the process, over the address, the user, the
// password and the stored hash. A change of any is another credential.
type credential [sha256.Size]byte

// credentials remembers what was verified for credentialLife.
type credentials struct {
	now  func() time.Time
	macs sync.Pool // of *mac

	mu    sync.Mutex
	until *lru[credential, time.Time]
}

type mac struct {
	hash hash.Hash
	text []byte
}

func newCredentials(now func() time.Time) *credentials {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails; see crypto/rand
	c := &credentials{now: now, until: newLRU[credential, time.Time](mostCredentials)}
	c.macs.New = func() any { return &mac{hash: hmac.New(sha256.New, key)} }
	return c
}

func (c *credentials) key(p pair, password, encoded string) (key credential) {
	m, _ := c.macs.Get().(*mac)
	addr := p.addr.As16()
	m.text = append(m.text[:0], addr[:]...)
	for _, part := range [...]string{p.name, password, encoded} {
		m.text = binary.BigEndian.AppendUint32(m.text, uint32(len(part)))
		m.text = append(m.text, part...)
	}
	m.hash.Reset()
	_, _ = m.hash.Write(m.text)
	clear(m.text)
	m.text = m.hash.Sum(m.text[:0])
	copy(key[:], m.text)
	c.macs.Put(m)
	return key
}

func (c *credentials) has(key credential) bool {
	c.mu.Lock()
	until, ok := c.until.Get(key)
	c.mu.Unlock()
	return ok && c.now().Before(until)
}

func (c *credentials) add(key credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until.Add(key, c.now().Add(credentialLife))
}
