package account

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// The address at which a user wants to be told, as the user changes it
// (docs/contract/drive.md#own-addresses). Administrators and directories set any.

// OwnAddress says what is wrong with an address that a user gives themselves, or returns
// "". confirm says that it is used only once it is confirmed.
type OwnAddress func(address string) (refused string, confirm bool)

const (
	codeLasts  = 24 * time.Hour
	mostCodes  = 3           // mails with codes for one user in an hour
	sameAsking = time.Minute // a request for the same address within it is a repeated one
)

// newCode returns what confirms an address: 60 random bits, which people can copy.
func newCode() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails; see crypto/rand
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:])
	return text[:4] + "-" + text[4:8] + "-" + text[8:12]
}

func codeSum(code string) []byte {
	sum := sha256.Sum256([]byte(strings.ToUpper(strings.TrimSpace(code))))
	return sum[:]
}

// readAddress reads what me.json says of the address of the user.
func readAddress(root document.Value, c *Change, now time.Time, own OwnAddress) {
	p := &c.Party
	pending := root.Get("emailPending")
	switch {
	case pending.Node == nil:
	case pending.Node.Kind == document.Null:
		forgetPending(&p.Pending)
	default:
		if text, ok := pending.Str(); ok && text != p.Pending.Address {
			pending.Fail(errs.CodeReadOnly, "is read-only, and can only be made null; store a new address as email")
		}
	}
	before := p.Email
	email := root.Get("email")
	readEmail(email, &p.Email)
	if p.Email == "" && before != "" {
		forgetPending(&p.Pending)
	}
	if p.Email != before && p.Email != "" {
		c.askFor(email, before, now, own)
	}
	if code := root.Get("emailCode"); code.Given() {
		c.confirm(code, now, own)
	}
}

// askFor has the address of the document used, or confirmed first: the former one stays
// until then.
func (c *Change) askFor(email document.Value, before string, now time.Time, own OwnAddress) {
	p := &c.Party
	address, refused, confirm := p.Email, "", false
	if own != nil {
		refused, confirm = own(address)
	}
	switch {
	case refused != "":
		email.Fail(errs.CodeRange, "%s", refused)
		return
	case !confirm:
		forgetPending(&p.Pending)
		return
	}
	p.Email = before
	mailed := slices.DeleteFunc(slices.Clone(p.Pending.Mailed), func(at int64) bool { return now.Unix()-at >= int64(time.Hour/time.Second) })
	last := slices.Max(append([]int64{0}, mailed...))
	switch {
	case p.Pending.Address == address && p.Pending.Failed == "" && now.Unix()-last < int64(sameAsking/time.Second):
		return
	case len(mailed) >= mostCodes:
		again := time.Unix(slices.Min(mailed), 0).Add(time.Hour)
		email.Fail(errs.CodeConflict, "must be confirmed by a code that is mailed to it, and %d mails with codes were written for you within an hour; try again after %s", mostCodes, again.UTC().Format(time.RFC3339))
		return
	}
	c.Code = newCode()
	p.Pending = store.PendingAddress{Address: address, Code: codeSum(c.Code), Until: now.Add(codeLasts).Unix(), Mailed: append(mailed, now.Unix())}
}

// confirm has the address used that was asked for, if the code is right.
func (c *Change) confirm(v document.Value, now time.Time, own OwnAddress) {
	p := &c.Party
	code, ok := v.Str()
	if !ok {
		return
	}
	asked := p.Pending
	switch {
	case c.Code != "" || asked.Address == "":
		v.Fail(errs.CodeConflict, "confirms an address that was stored before, and none waits for that")
		return
	case now.Unix() >= asked.Until:
		v.Fail(errs.CodeConflict, "was valid for a day; store the address again for another code")
		return
	case subtle.ConstantTimeCompare(codeSum(code), asked.Code) != 1:
		v.Fail(errs.CodeConflict, "is not the code of the last mail to %s", asked.Address)
		return
	}
	if own != nil {
		if refused, _ := own(asked.Address); refused != "" {
			v.Fail(errs.CodeRange, "cannot confirm %s any more, which %s", asked.Address, refused)
			return
		}
	}
	p.Email = asked.Address
	forgetPending(&p.Pending)
}

// forgetPending forgets the address that a user has asked for. When mails were written for
// that stays, so that they remain bounded.
func forgetPending(p *store.PendingAddress) { *p = store.PendingAddress{Mailed: p.Mailed} }

// pendingWarning says what a user has to do for the address that they have asked for; ""
// for nothing.
func pendingWarning(p *store.Party, now time.Time) string {
	asked := &p.Pending
	still := "mails go to " + p.Email + " until then"
	if p.Email == "" {
		still = "you get no mails until then"
	}
	switch {
	case asked.Address == "":
		return ""
	case asked.Failed != "":
		return fmt.Sprintf("email: the mail with the code did not reach %s: %s. Store another address, or this one again.", asked.Address, asked.Failed)
	case now.Unix() >= asked.Until:
		return fmt.Sprintf("email: %s was not confirmed within a day. Store it again for another code.", asked.Address)
	}
	return fmt.Sprintf("email: %s is used once you confirm it with the code of the mail that was sent there (emailCode); %s.", asked.Address, still)
}

// CodeFailed notes that a mail with a code did not arrive, for the users who wait for it. It
// reports whether the address is one that users wait to confirm.
func (e *Accounts) CodeFailed(tx store.Tx, address, reason string) (waited bool, err error) {
	t, err := Read(tx)
	if err != nil {
		return false, err
	}
	for _, of := range t.Directory().Parties() {
		stored := t.ByID(of.ID)
		if stored.Pending.Address != address {
			continue
		}
		p := *stored
		p.Pending.Failed = reason
		p.Revision++
		if err := tx.Write().Parties().Put(&p); err != nil {
			return true, err
		}
		waited = true
	}
	if waited {
		err = e.Refresh(tx)
	}
	return waited, err
}
