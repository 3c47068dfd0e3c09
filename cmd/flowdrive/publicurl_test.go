package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"flowdrive/internal/mailbox"
)

// TestPublicURL: calendars and their addresses have absolute links if the server
// knows the address by which it is called. If it does not, and sends mails, it
// says at its start that their links are paths.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	mail := fmt.Sprintf("smtp: smtp://%s\nmail-from: flow@example.org\n", box.Address)
	const warning = "give the address of this server with --public-url"
	for _, test := range []struct {
		config, base string
		warned       bool
	}{
		{"", "", false},
		{mail, "", true},
		{mail + "public-url: https://Flow.example.org/\n", "https://flow.example.org", false},
	} {
		p := startConfigured(t, test.config)
		p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Schedule/tidy.json", `{"route": "bug", "type": "crontab", "spec": "30 2 * * *", "repeat": 1}`)
		link := p.must(t, http.StatusCreated, "PUT", "/dav/Account/CalendarLinks/phone.json", "").String()
		if !strings.Contains(link, `"url": "`+test.base+`/calendar/`) {
			t.Errorf("%q: the calendar's address is %s", test.config, link)
		}
		feed := strings.ReplaceAll(string(p.must(t, http.StatusOK, "GET", "/dav/Workflow/Calendar/upcoming.ics", "").body), "\r\n ", "")
		if !strings.Contains(feed, test.base+"/schedule/") || strings.Contains(feed, "\r\nURL:https://flow.example.org/schedule/") != (test.base != "") {
			t.Errorf("%q: the calendar is %s", test.config, feed)
		}
		if got := p.complaints.String(); strings.Contains(got, warning) != test.warned {
			t.Errorf("%q: logged %s", test.config, got)
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}
