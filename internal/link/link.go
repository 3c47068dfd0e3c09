// Package link writes the addresses under which people find what Flowdrive tells
// them of: absolute ones if the server knows the address by which people call it,
// else paths.
package link

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Base is the address by which people call the server, such as
// "https://flow.example.org", without a slash at its end. With "" links are
// paths.
type Base string

// ParseBase reads the address. It must be http or https with a host, and may have
// a port. The text "" is a Base of paths. The error says what is wrong with the
// text, and does not name the setting.
func ParseBase(text string) (Base, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return "", fmt.Errorf("%q is not an address such as https://flow.example.org", text)
	case u.User != nil:
		return "", errors.New("must not have a user or password: everybody who gets a link can read them")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("%q must end after the host and port: the drive is always at /dav/", text)
	}
	return Base(u.Scheme + "://" + strings.ToLower(u.Host)), nil
}

// To returns the link to a path of the server, which begins with a slash and is
// escaped where it has to be.
func (b Base) To(path string) string { return string(b) + path }

// Absolute reports whether links can be followed without knowing the server.
func (b Base) Absolute() bool { return b != "" }

// Secure reports whether a browser that calls the host does so by HTTPS: at this address,
// perhaps through a proxy.
func (b Base) Secure(host string) bool { return string(b) == "https://"+strings.ToLower(host) }

// Case returns the link to the page of a case.
func (b Base) Case(id int64) string { return b.To(fmt.Sprintf("/cases/%d", id)) }

// Log returns the link to what happened in a case, on its page.
func (b Base) Log(id int64) string { return b.Case(id) + "#log" }

// Timers returns the link to the timers of a case, on its page.
func (b Base) Timers(id int64) string { return b.Case(id) + "#timers" }

// Action returns the link to the form of an action, on the page of the case.
func (b Base) Action(id int64, action string) string {
	return b.Case(id) + "?open=" + url.QueryEscape(action) + "#todo"
}

// Retry returns the link to the form by which what has failed in a case is tried
// again: that of its task.
func (b Base) Retry(id int64, task string) string {
	return b.Case(id) + "?do=retry&open=" + url.QueryEscape(task) + "#todo"
}

// Entry returns the link to the page of the schedule entry with that UUID.
func (b Base) Entry(uuid string) string { return b.To("/schedule/" + uuid) }

// History returns the link to what an entry has fired, on its page.
func (b Base) History(uuid string) string { return b.Entry(uuid) + "#history" }

// Route returns the link to the page of a route.
func (b Base) Route(name string) string { return b.To("/routes/" + url.PathEscape(name)) }

// CaseFile returns the link to a case on the drive.
func (b Base) CaseFile(id int64) string { return b.To(fmt.Sprintf("/dav/Workflow/Cases/%d.json", id)) }

// ActionFolder returns the link to the folder on the drive that has a file for each
// action of a case.
func (b Base) ActionFolder(id int64) string {
	return b.To(fmt.Sprintf("/dav/Workflow/Cases/%d/Actions/", id))
}

// ActionFile returns the link to the file with which an action of a case is
// performed.
func (b Base) ActionFile(id int64, action string) string {
	return b.ActionFolder(id) + url.PathEscape(action) + ".json"
}

// EntryFile returns the link to a schedule entry on the drive.
func (b Base) EntryFile(uuid string) string { return b.To("/dav/Workflow/Schedule/" + uuid + ".json") }

// HistoryFile returns the link to the history of an entry on the drive, which is
// there also after the entry.
func (b Base) HistoryFile(uuid string) string {
	return b.To("/dav/Workflow/Schedule/" + uuid + "/occurrences.json")
}

// Calendar returns the link to the calendar with that token.
func (b Base) Calendar(token string) string { return b.To("/calendar/" + token + ".ics") }
