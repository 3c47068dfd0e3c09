package notice

import (
	"net/url"

	"flowdrive/engine/machine"
	"flowdrive/internal/link"
)

// AddressCode is the mail with the code that confirms the address of a user. It comes to
// somebody who may never have heard of the server, so that nothing stands in it that the
// user has written.
func AddressCode(p *Person, code string, links link.Base) *machine.Mail {
	l := &letter{
		Subject: "Confirm your address: " + code,
		Opening: "The user " + string(p.Name) + " of this server of Flowdrive has given this address as theirs.",
		Detail:  "Code: " + code,
	}
	l.link("If that is you", links.To("/account?emailCode="+url.QueryEscape(code)))
	l.Closing = append(l.Closing,
		"On the drive, store {\"emailCode\": \""+code+"\"} in Account/me.json. The code is valid for a day.",
		"If that is not you, nothing needs to be done: this address gets no other mails unless it is confirmed.")
	return l.mail(p, "")
}
