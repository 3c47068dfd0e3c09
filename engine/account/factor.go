package account

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The second factor of users (docs/contract/drive.md#second-factor): codes of RFC 6238,
// as authenticator programs make them, and recovery codes.
const (
	codePeriod    = 30 // seconds
	codeSkew      = 1  // steps by which the clock of a device may differ
	codeStray     = 40 // steps by which a clock is looked for that is set wrong
	recoveryCodes = 10
	recoveryParts = 4 // of four letters or digits each: 80 random bits
)

// factor is the second factor of a user, as it is stored.
type factor struct {
	Secret   string   `json:"secret"`   // in base32
	Step     int64    `json:"step"`     // the last that a code was taken of
	Recovery []string `json:"recovery"` // SHA-256 of the codes that are left, in hexadecimal
}

func factorOf(p *store.Party) (*factor, error) {
	if p == nil || p.Factor == "" {
		return nil, nil
	}
	f := new(factor)
	if err := json.Unmarshal([]byte(p.Factor), f); err != nil {
		return nil, errs.Wrap("read a second factor", err)
	}
	return f, nil
}

func (f *factor) text() string {
	b, _ := json.Marshal(f) // strings and a number
	return string(b)
}

// take reports whether the code is one of the secret at the instant, or a recovery code,
// and takes it: it is not good again.
func (f *factor) take(code string, now time.Time) bool {
	code = strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
	if sum := recoverySum(code); slices.Contains(f.Recovery, sum) {
		f.Recovery = slices.DeleteFunc(slices.Clone(f.Recovery), func(one string) bool { return one == sum })
		return true
	}
	present := now.Unix() / codePeriod
	for step := max(present-codeSkew, f.Step+1); step <= present+codeSkew; step++ {
		if f.isOf(code, step) {
			f.Step = step
			return true
		}
	}
	return false
}

// isOf reports whether the code is that of a step.
func (f *factor) isOf(code string, step int64) bool {
	want, err := hotp.GenerateCodeCustom(f.Secret, uint64(step), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	return err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1
}

// stray returns how far from the instant the code is right that was not taken, zero if it is
// right nowhere near: the clock of the device or of this machine is off by that much.
func (f *factor) stray(code string, now time.Time) time.Duration {
	code = strings.ReplaceAll(code, " ", "")
	present := now.Unix() / codePeriod
	for away := int64(codeSkew + 1); away <= codeStray; away++ {
		for _, by := range []int64{-away, away} {
			if f.isOf(code, present+by) {
				return time.Duration(by*codePeriod) * time.Second
			}
		}
	}
	return 0
}

func recoverySum(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// renew replaces the recovery codes and returns the new ones, which are kept nowhere.
func (f *factor) renew() (codes []string) {
	f.Recovery = nil
	for range recoveryCodes {
		plain := NewToken()[:4*recoveryParts]
		f.Recovery = append(f.Recovery, recoverySum(plain))
		parts := make([]string, recoveryParts)
		for i := range parts {
			parts[i] = plain[4*i : 4*i+4]
		}
		codes = append(codes, strings.Join(parts, "-"))
	}
	return codes
}

// HasFactor reports whether the user has a second factor. It is asked on every log-in
// and answers from memory.
func (e *Accounts) HasFactor(user identity.ID) bool {
	p := e.Table().ByID(user)
	return p != nil && p.Factor != ""
}

// NewFactor returns the secret of a new second factor, in base32, and the address by which
// authenticator programs read it. Nothing is stored.
func NewFactor(issuer string, user identity.Name) (secret, address string) {
	secret = strings.ToUpper(NewToken())
	return secret, FactorAddress(issuer, user, secret)
}

// FactorAddress returns the address by which authenticator programs read a secret.
func FactorAddress(issuer string, user identity.Name, secret string) string {
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + string(user)}
	u.RawQuery = url.Values{"secret": {secret}, "issuer": {issuer}}.Encode()
	return strings.ReplaceAll(u.String(), "+", "%20") // as such programs read a blank
}

// SetFactor gives the user the second factor of that secret, which the code proves to be in
// their device, and returns the recovery codes, which are kept nowhere. The password is
// checked as at a log-in. Errors: errs.LogIn for a wrong password; errs.TooMany;
// errs.NotAllowed if the user has one; errs.Invalid at /code or /secret.
func (e *Accounts) SetFactor(ctx context.Context, by identity.Principal, password, secret, code string) (codes []string, err error) {
	if err := e.check(ctx, by.Name, password); err != nil {
		return nil, err
	}
	f := &factor{Secret: secret}
	if len(secret) != randomLength || strings.Trim(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return nil, errs.InvalidDocument([]errs.Fault{{Pointer: "/secret", Code: errs.CodeFormat, Detail: "is not a secret that this page has made; open the page again"}})
	}
	now := e.maker.Wall()
	if !f.take(code, now) {
		return nil, errs.InvalidDocument([]errs.Fault{{Pointer: "/code", Code: errs.CodeConflict, Detail: "is not the code that the device shows now; if it is, set the clock of the device"}})
	}
	codes = f.renew()
	return codes, e.changeFactor(ctx, by, func(p *store.Party) (string, error) {
		if p.Factor != "" {
			return "", errs.New(errs.NotAllowed, "You have a second factor already; remove it first.")
		}
		p.Factor = f.text()
		return "set up", nil
	})
}

// RemoveFactor takes the second factor from the user, who proves it once more. Errors:
// errs.LogIn for a wrong code; errs.NotFound if there is none.
func (e *Accounts) RemoveFactor(ctx context.Context, by identity.Principal, code string) error {
	return e.changeFactor(ctx, by, func(p *store.Party) (string, error) {
		if _, err := e.proven(p, code); err != nil {
			return "", err
		}
		p.Factor = ""
		return "removed", nil
	})
}

// RenewRecovery replaces the recovery codes of the user, who proves the second factor once
// more. Errors are those of RemoveFactor.
func (e *Accounts) RenewRecovery(ctx context.Context, by identity.Principal, code string) (codes []string, err error) {
	err = e.changeFactor(ctx, by, func(p *store.Party) (string, error) {
		f, err := e.proven(p, code)
		if err != nil {
			return "", err
		}
		codes = f.renew()
		p.Factor = f.text()
		return "new recovery codes", nil
	})
	return codes, err
}

// Begun returns a mark of the password with which a log-in has begun. It changes with the
// password, and says nothing about it.
func (e *Accounts) Begun(user identity.ID) string {
	p := e.Table().ByID(user)
	if p == nil {
		return ""
	}
	return markOf(p)
}

func markOf(p *store.Party) string {
	sum := sha256.Sum256([]byte(p.Password))
	return hex.EncodeToString(sum[:])
}

// UseFactor checks a code of the user's second factor, or a recovery code, and takes it: it
// is good once. Errors: errs.LogIn.
func (e *Accounts) UseFactor(ctx context.Context, user identity.ID, begun, code string) error {
	return e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		held := t.ByID(user)
		if held == nil {
			return change.Absent("user")
		}
		if markOf(held) != begun || !t.directory.Active(user) {
			return errs.New(errs.LogIn, "The password was changed meanwhile, or the account was disabled; begin again.")
		}
		p := *held
		f, err := e.proven(&p, code)
		if err != nil {
			return err
		}
		p.Factor = f.text()
		if err := tx.Write().Parties().Put(&p); err != nil {
			return err
		}
		return e.Refresh(tx)
	})
}

// proven returns the second factor of the user if the code is one of it, which it takes.
func (e *Accounts) proven(p *store.Party, code string) (*factor, error) {
	f, err := factorOf(p)
	now := e.maker.Wall()
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, change.Absent("second factor")
	case !f.take(code, now):
		// The user is not told how far off a code is: that would say of a guess what it is worth.
		if off := f.stray(code, now); off != 0 {
			e.codeStrays(p.Name, off)
		}
		return nil, errs.New(errs.LogIn, "The code is wrong, or it was used before. Wait for the next one; recovery codes are good once. If each code is wrong, compare the clock of your device with that of this server, which shows %s.", now.UTC().Format("15:04:05 UTC"))
	}
	return f, nil
}

// changeFactor changes the second factor of the caller. edit returns what the audit log
// says of it.
func (e *Accounts) changeFactor(ctx context.Context, by identity.Principal, edit func(p *store.Party) (string, error)) error {
	if err := ownPasswordOnly(by); err != nil {
		return err
	}
	now := e.maker.Clock.Now()
	return e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		held := t.ByID(by.ID)
		if held == nil {
			return change.Absent("user")
		}
		p := *held
		what, err := edit(&p)
		if err != nil {
			return err
		}
		p.Revision++
		p.Modified = now
		if err := tx.Write().Parties().Put(&p); err != nil {
			return err
		}
		if err := e.log.Write(ctx, tx, audit.NewRow(by, now, audit.SecondFactor, string(p.Name), what)); err != nil {
			return err
		}
		return e.Refresh(tx)
	})
}
