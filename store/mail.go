package store

import (
	"time"

	"flowdrive/internal/identity"
)

// MailWishes says how a user wants to be told by mail. The zero MailWishes is: of
// everything, at once.
type MailWishes struct {
	Kinds  []string    `json:"kinds"`            // kinds of notices; nil: all
	Digest string      `json:"digest,omitempty"` // "07:30": one mail a day, at that time; "": each by itself
	Quiet  *QuietHours `json:"quiet,omitempty"`  // when no mails are sent; nil: never
}

// QuietHours are a part of each day, from one time to another: "20:00", "07:00".
type QuietHours struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// PendingAddress is an address that a user has asked for and not confirmed yet.
type PendingAddress struct {
	Address string  `json:"address,omitempty"` // "" for none
	Code    []byte  `json:"code,omitempty"`    // the SHA-256 of what confirms it
	Until   int64   `json:"until,omitempty"`   // when that is over, in Unix seconds
	Failed  string  `json:"failed,omitempty"`  // why the mail with the code did not arrive
	Mailed  []int64 `json:"mailed,omitempty"`  // when such mails were written lately, in Unix seconds
}

// HeldMail is a mail that waits for an hour of its recipient.
type HeldMail struct {
	ID      int64
	UserID  identity.ID
	Due     time.Time
	Digest  bool // goes in one mail with the others that are due
	Created time.Time
	Mail    []byte // JSON
}

// HeldMailReader reads mails that wait.
type HeldMailReader interface {
	Due(user identity.ID, upTo time.Time) ([]HeldMail, error) // of one user, by Due, then ID
}

// HeldMailWriter writes mails that wait.
type HeldMailWriter interface {
	Insert(m *HeldMail) error // sets ID
	Delete(user identity.ID, upTo time.Time) error
}
