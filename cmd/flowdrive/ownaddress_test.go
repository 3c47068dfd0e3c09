package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"flowdrive/internal/mailbox"
)

// addressServer starts a server that sends mails to box, with a user sam.
func addressServer(t *testing.T, box *mailbox.Server, settings string) *program {
	t.Helper()
	p := startConfigured(t, "smtp: smtp://"+box.Address+"\nmail-from: flowdrive@example.org\n"+settings)
	p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/sam.json", `{"password": "sam works upstairs", "email": "sam@example.org"}`)
	return p.as("sam", "sam works upstairs")
}

// TestConfirmedAddress: with a mail server and a public address, an address that a user gives
// themselves is used once the code is stored that came there. If the mail is refused, the
// user is told, and no administrator (docs/contract/drive.md#own-addresses).
func TestConfirmedAddress(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{Refuse: func(command, argument string) error {
		if command == "RCPT" && strings.Contains(argument, "nobody@") {
			return &smtp.SMTPError{Code: 550, Message: "no such user"}
		}
		return nil
	}})
	sam := addressServer(t, box, "public-url: https://flow.example.org\n")
	const me = "/dav/Account/me.json"
	told := sam.must(t, http.StatusOK, "PUT", me, `{"email": "nobody@example.com"}`)
	if !strings.Contains(told.String(), "nobody@example.com is used once you confirm it") {
		t.Errorf("got %s", told)
	}
	eventually(t, func() string {
		if got := sam.must(t, http.StatusOK, "GET", me, "").String(); !strings.Contains(got, "did not reach nobody@example.com") || !strings.Contains(got, "no such user") {
			return got
		}
		return ""
	})
	sam.must(t, http.StatusOK, "PUT", me, `{"email": "new@example.com"}`)
	mails := box.Wait(t.Context(), 1)
	if len(mails) != 1 || mails[0].To[0] != "new@example.com" || !strings.Contains(mails[0].Text, "https://flow.example.org/account?emailCode=") {
		t.Fatalf("got %+v", mails)
	}
	code := regexp.MustCompile(`Code: (\S+)`).FindStringSubmatch(mails[0].Text)[1]
	if got := sam.must(t, http.StatusOK, "GET", me, "").String(); !strings.Contains(got, `"email": "sam@example.org"`) || !strings.Contains(got, `"emailPending": "new@example.com"`) {
		t.Errorf("got %s", got)
	}
	sam.must(t, http.StatusNoContent, "PUT", me, `{"emailCode": "`+code+`"}`)
	if got := sam.must(t, http.StatusOK, "GET", me, "").String(); !strings.Contains(got, `"email": "new@example.com"`) || !strings.Contains(got, `"emailPending": null`) {
		t.Errorf("got %s", got)
	}
}

// TestAddressesOfUsers: which address a user may give themselves follows from the settings.
func TestAddressesOfUsers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, settings, address string
		want                    int
		says                    string
	}{
		{"no public address", "", "new@example.com", http.StatusNoContent, ""},
		{"off", "public-url: https://flow.example.org\nconfirm-addresses: off\n", "new@example.com", http.StatusNoContent, ""},
		{"on", "confirm-addresses: on\n", "new@example.com", http.StatusOK, "once you confirm it"},
		{"of a domain", "public-url: https://flow.example.org\nmail-domain: [example.com]\n", "new@Example.com", http.StatusNoContent, ""},
		{"of another", "mail-domain: [example.com, \"*.example.net\"]\n", "new@example.net", http.StatusUnprocessableEntity, "(example.com, *.example.net)"},
		{"of a domain, on", "mail-domain: [example.com]\nconfirm-addresses: on\n", "new@example.com", http.StatusOK, "once you confirm it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sam := addressServer(t, mailbox.Start(t, mailbox.Options{}), tt.settings)
			if got := sam.must(t, tt.want, "PUT", "/dav/Account/me.json", `{"email": "`+tt.address+`"}`); !strings.Contains(got.String(), tt.says) {
				t.Errorf("got %s", got)
			}
		})
	}
}
