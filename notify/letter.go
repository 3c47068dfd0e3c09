package notify

import (
	"crypto/sha256"
	"encoding/hex"
	netmail "net/mail"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"flowdrive/engine/outbox"
)

// letter is a mail to one recipient.
type letter struct {
	*outbox.Mail
	key  string // of the delivery
	to   string
	date time.Time
}

// compose writes the mail. Its Message-ID follows from the key, so that a
// recipient who gets it twice can tell.
func compose(from *netmail.Address, l *letter) *mail.Msg {
	domain := from.Address[strings.LastIndexByte(from.Address, '@')+1:]
	identity := func(kind, text string) string {
		sum := sha256.Sum256([]byte(kind + "\x00" + text))
		return hex.EncodeToString(sum[:16]) + "@" + domain
	}
	msg := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP), mail.WithNoDefaultUserAgent(),
		mail.WithBoundary(identity("part", l.key)[:32])) // equal mails are equal bytes
	msg.FromMailAddress(from)
	msg.ToMailAddress(&netmail.Address{Address: l.to})
	msg.Subject(clean([]byte(l.Subject), 500))
	msg.SetDateWithValue(l.date)
	msg.SetMessageIDWithValue(identity("mail", l.key+"\x00"+l.to))
	if l.Thread != "" {
		thread := "<" + identity("thread", l.Thread) + ">"
		msg.SetGenHeader(mail.HeaderInReplyTo, thread)
		msg.SetGenHeader(mail.HeaderReferences, thread)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // so that no absence notice answers (RFC 3834)
	msg.SetBodyString(mail.TypeTextPlain, strings.ToValidUTF8(l.Text, "\ufffd"))
	if l.HTML != "" {
		msg.AddAlternativeString(mail.TypeTextHTML, strings.ToValidUTF8(l.HTML, "\ufffd"))
	}
	return msg
}
