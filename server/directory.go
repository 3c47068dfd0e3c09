package server

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Directory checks the passwords of users whom it vouches for.
type Directory interface {
	// LogIn returns who has the name and the password: errs.LogIn for nobody,
	// errs.Unavailable if the directory does not answer.
	LogIn(ctx context.Context, name, password string) (identity.ID, error)
	// Vouches reports whether the directory is asked about the user, 0 for who has no
	// user yet.
	Vouches(id identity.ID) bool
}

// How long an answer of the directory is believed: that long it is not asked again, and that
// long it is believed if it does not answer (docs/operate/sso.md).
const (
	answerFresh = 5 * time.Minute
	answerLasts = 30 * time.Minute
)

// vouchers are the good answers of the directory, by name and password.
type vouchers struct {
	mu sync.Mutex
	of *lru[credential, voucher]
}

type voucher struct {
	id identity.ID
	at time.Time
}

// SetDirectory has passwords that are not stored here checked by the directory.
func (a *Authenticator) SetDirectory(d Directory) {
	a.directory, a.vouchers = d, &vouchers{of: newLRU[credential, voucher](mostCredentials)}
}

// asksDirectory reports whether the directory checks the password of that account.
func (a *Authenticator) asksDirectory(id identity.ID, encoded string) bool {
	return a.directory != nil && encoded == "" && a.directory.Vouches(id)
}

func (a *Authenticator) voucherKey(name, password string) credential {
	return a.verified.key(pairOf(netip.Addr{}, identity.Fold(name)), password, "directory")
}

// vouched returns for whom the directory has vouched with that name and password less than
// that long ago, 0 for nobody. A user who is disabled meanwhile is nobody.
func (a *Authenticator) vouched(name, password string, within time.Duration) identity.ID {
	a.vouchers.mu.Lock()
	v, ok := a.vouchers.of.Get(a.voucherKey(name, password))
	a.vouchers.mu.Unlock()
	if !ok || a.now().Sub(v.at) >= within {
		return 0
	}
	p := a.accounts.Principal(v.id)
	if id, _, disabled, known := a.accounts.Account(string(p.Name)); !known || disabled || id != v.id || !a.directory.Vouches(id) {
		return 0
	}
	return v.id
}

// askDirectory has the directory check a password, and counts what is wrong as a failed
// log-in.
func (a *Authenticator) askDirectory(name, password string, from netip.Addr) (identity.ID, error) {
	attempt := pairOf(from, identity.Fold(name))
	if wait := a.throttle.wait(attempt); wait > 0 {
		return 0, tooMany(wait)
	}
	if id := a.vouched(name, password, answerFresh); id != 0 {
		return id, nil
	}
	key := a.voucherKey(name, password)
	asked, err, _ := a.flights.Do("directory"+string(key[:]), func() (any, error) {
		defer a.waiting.Add(-1)
		if a.waiting.Add(1) > mostWaiting {
			return identity.ID(0), errs.New(errs.Unavailable, "Too many log-ins are being checked; try again in a moment.")
		}
		ctx, cancel := context.WithTimeout(context.Background(), directoryWait) // others wait for it, too
		defer cancel()
		return a.directory.LogIn(ctx, name, password)
	})
	id, _ := asked.(identity.ID)
	a.vouchers.mu.Lock()
	if err == nil {
		a.vouchers.of.Add(key, voucher{id, a.now()})
	} else if errs.Is(err, errs.LogIn) {
		a.vouchers.of.Add(key, voucher{}) // what was right is wrong now
	}
	a.vouchers.mu.Unlock()
	switch {
	case err == nil:
		a.throttle.succeed(attempt)
	case errs.Is(err, errs.LogIn):
		if wait := a.throttle.fail(attempt); wait > 0 {
			return 0, tooMany(wait)
		}
	case errs.Is(err, errs.Unavailable):
		if id := a.vouched(name, password, answerLasts); id != 0 {
			return id, nil
		}
	}
	return id, err
}

const directoryWait = 15 * time.Second
