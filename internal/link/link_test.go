package link_test

import (
	"strings"
	"testing"

	"flowdrive/internal/link"
)

func TestParseBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want, fault string }{
		{"", "", ""},
		{"https://flow.example.org", "https://flow.example.org", ""},
		{"https://Flow.Example.ORG/", "https://flow.example.org", ""},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080", ""},
		{"https://[::1]:8443", "https://[::1]:8443", ""},
		{"flow.example.org", "", "is not an address such as"},
		{"//flow.example.org", "", "is not an address such as"},
		{"ftp://flow.example.org", "", "is not an address such as"},
		{"https://", "", "is not an address such as"},
		{"https://flow.example.org:port", "", "is not an address such as"},
		{"https:flow.example.org", "", "is not an address such as"},
		{"https://flow.example.org\r\nBcc: x", "", "is not an address such as"},
		{"https://ann:top@flow.example.org", "", "must not have a user"},
		{"https://flow.example.org/dav/", "", "must end after the host"},
		{"https://flow.example.org?", "", "must end after the host"},
		{"https://flow.example.org#x", "", "must end after the host"},
	} {
		got, err := link.ParseBase(test.text)
		if string(got) != test.want || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%q: got %q, %v; want %q, %q", test.text, got, err, test.want, test.fault)
		}
	}
}

// TestLinks: links are absolute if the server's address is known, and paths if
// not.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, base := range []link.Base{"", "https://flow.example.org"} {
		for got, want := range map[string]string{
			base.Case(7):                    "/cases/7",
			base.Log(7):                     "/cases/7#log",
			base.Timers(7):                  "/cases/7#timers",
			base.Action(7, "sign & off"):    "/cases/7?open=sign+%26+off#todo",
			base.Retry(7, "run.3-1"):        "/cases/7?do=retry&open=run.3-1#todo",
			base.Entry("0123"):              "/schedule/0123",
			base.History("0123"):            "/schedule/0123#history",
			base.Route("my desk"):           "/routes/my%20desk",
			base.CaseFile(7):                "/dav/Workflow/Cases/7.json",
			base.ActionFolder(7):            "/dav/Workflow/Cases/7/Actions/",
			base.ActionFile(7, "sign off"):  "/dav/Workflow/Cases/7/Actions/sign%20off.json",
			base.EntryFile("0123"):          "/dav/Workflow/Schedule/0123.json",
			base.HistoryFile("0123"):        "/dav/Workflow/Schedule/0123/occurrences.json",
			base.Calendar("abc"):            "/calendar/abc.ics",
			base.To("/dav/Account/me.json"): "/dav/Account/me.json",
		} {
			if got != string(base)+want {
				t.Errorf("got %s, want %s%s", got, base, want)
			}
		}
		if base.Absolute() != (base != "") {
			t.Errorf("%q: absolute is %t", base, base.Absolute())
		}
	}
}
