package notify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// rehearsalSender is who mails are from in a sandbox that was given no sender.
func rehearsalSender() *netmail.Address {
	return &netmail.Address{Name: "Flowdrive", Address: "flowdrive@sandbox.invalid"}
}

// Letter writes a mail to one of its recipients as an RFC 5322 message, as it would be
// sent. It is an outbox.WriteLetter.
func (g *Gateway) Letter(key string, m *outbox.Mail, to string, at time.Time) ([]byte, error) {
	if !validAddress(to) {
		return nil, fmt.Errorf("%q is not an e-mail address", clean([]byte(to), 100))
	}
	from := rehearsalSender()
	if g.Mail != nil {
		from = g.Mail.from
	}
	var b bytes.Buffer
	_, err := compose(from, &letter{Mail: m, key: key, to: to, date: at}).WriteTo(&b)
	return b.Bytes(), err
}
