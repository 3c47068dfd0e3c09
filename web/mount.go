package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
)

func mountPages() []page {
	g := page{query: []string{"device", "do", "name"}, draw: drawMount, forms: mountForms(), fields: mountFields()}
	first, of := g, g
	first.pattern, of.pattern = "/mount", "/mount/{system}"
	return []page{first, of}
}

// system is a kind of machine on which the drive is mounted.
type system struct {
	Name  string // in the address
	Label string
	Agent string // part of the User-Agent of its browsers
	Title string // of the step
	Text  string
	Lines func(m *mountView) string
	Note  string
	Plain bool // it takes plain HTTP
}

// systems lists them. Each line is to be typed as it stands.
func systems() []system {
	return []system{
		{
			Name: "windows", Label: "Windows", Agent: "Windows", Title: "Connect a network drive",
			Text:  "In the Explorer: This PC, then Map network drive. As the folder give the address, tick Connect using different credentials, then your name and the password of step 1. Or in a terminal:",
			Lines: func(m *mountView) string { return "net use F: " + m.Address + " /user:" + m.Me + " *" },
			Note:  "Windows refuses files above 50 MB and lists at most the newest 2,000 names of a folder. For more use rclone or the page Documents.",
		},
		{
			Name: "macos", Label: "macOS", Agent: "Mac OS X", Title: "Connect to the server",
			Text:  "In the Finder: Go, then Connect to Server. Give the address, then your name and the password of step 1. Or in a terminal:",
			Lines: func(m *mountView) string { return "open " + m.Address },
		},
		{
			Name: "gnome", Label: "GNOME", Agent: "Linux", Title: "Connect to the server", Plain: true,
			Text:  "In Files: Other Locations, and below Connect to Server the line here. It asks for the password of step 1.",
			Lines: func(m *mountView) string { return m.dav("dav") },
		},
		{
			Name: "kde", Label: "KDE", Title: "Open the address", Plain: true,
			Text:  "In Dolphin: Network, then Add Network Folder, WebFolder. Or type the line here into the address bar. It asks for the password of step 1.",
			Lines: func(m *mountView) string { return m.dav("webdav") },
		},
		{
			Name: "davfs2", Label: "davfs2", Title: "Mount it", Plain: true,
			Text: "Save the first five lines as flow.conf, then mount. It asks for your name and the password of step 1.",
			Lines: func(m *mountView) string {
				return "dir_refresh 1\nfile_refresh 1\ndelay_upload 0\nuse_locks 0\nbuf_size 1024\n\nmount -t davfs -o uid=$(id -u),conf=$PWD/flow.conf " + m.Address + " /mnt/flow"
			},
		},
		{
			Name: "rclone", Label: "rclone", Title: "Mount it", Plain: true,
			Text: "On Linux, macOS and Windows. PASSWORD is that of step 1.",
			Lines: func(m *mountView) string {
				return "rclone mount :webdav: /mnt/flow --webdav-url " + m.Address + " \\\n  --webdav-user " + m.Me + " --webdav-pass $(rclone obscure PASSWORD) \\\n  --vfs-cache-mode minimal --dir-cache-time 5s"
			},
		},
		{
			Name: "phone", Label: "Phone", Agent: "iPhone", Title: "Add a server to a file manager", Plain: true,
			Text:  "On a phone a file manager that knows WebDAV shows the drive. It asks for the address, your name and the password of step 1.",
			Lines: func(m *mountView) string { return m.Address },
		},
	}
}

// mountView is what mount.html shows.
type mountView struct {
	Address  string
	Me       string
	Tabs     []tab
	System   system
	Shown    string // the lines of step 2
	Insecure bool   // plain HTTP, which the system refuses
	Here     string
	Make     *asking
	Device   *device // that was made here last
	Devices  []device
	Links    []device
	Link     *asking
	Ask      *asking
}

// dav returns the address with another scheme and the user's name.
func (m *mountView) dav(scheme string) string {
	u, err := url.Parse(m.Address)
	if err != nil {
		return m.Address
	}
	if u.Scheme == "https" {
		scheme += "s"
	}
	u.Scheme, u.User = scheme, url.User(m.Me)
	return u.String()
}

// device is an app password or a calendar address.
type device struct {
	Label    string     `json:"label"`
	Created  time.Time  `json:"created"`
	LastUsed *time.Time `json:"lastUsed"`
	Scope    string     `json:"scope"`   // "": everything
	Expires  *time.Time `json:"expires"` // nil: never
	Ended    bool       `json:"-"`
}

const (
	passwordsPath = "/dav/Account/AppPasswords/"
	linksPath     = "/dav/Account/CalendarLinks/"
)

func mountForms() map[string]form {
	return map[string]form{
		"device": func(x *visit, v url.Values) (*act, error) {
			a, err := makeSecret(v, passwordsPath, "secret", "This password opens the drive only. It is shown this once.", text("scope", strings.Trim(strings.TrimSpace(v.Get("scope")), "/")), text("expires", x.Words.sentDate(v.Get("expires"))))
			if err == nil {
				a.to = x.with("device", strings.TrimSpace(v.Get("label")), "do", "", "name", "")
			}
			return a, err
		},
		"calendar": func(_ *visit, v url.Values) (*act, error) {
			return makeSecret(v, linksPath, "url", "Give this address to your calendar program. It is shown this once.")
		},
		"revoke":      func(x *visit, v url.Values) (*act, error) { return revoke(x, v, passwordsPath) },
		"revoke-link": func(x *visit, v url.Values) (*act, error) { return revoke(x, v, linksPath) },
	}
}

// makeSecret makes an app password or a calendar address, with what bounds it. What is
// secret is in no address and in no later page.
func makeSecret(v url.Values, path, key, text string, bounds ...member) (*act, error) {
	label := strings.TrimSpace(v.Get("label"))
	if label == "" {
		return nil, fieldMissing("label", "A name is needed, such as that of the device.")
	}
	request := driveRequest{Method: "PUT", Path: path + url.PathEscape(label) + ".json"}
	if slices.ContainsFunc(bounds, func(m member) bool { return m.value != nil }) {
		request = put(request.Path, bounds)
	}
	return &act{
		requests: []driveRequest{request},
		done: func(answers []*driveAnswer) notice {
			var made map[string]any
			if json.Unmarshal(answers[0].body.Bytes(), &made) != nil {
				return notice{}
			}
			secret, _ := made[key].(string)
			return notice{Text: text, Name: label, Secret: secret}
		},
	}, nil
}

func revoke(x *visit, v url.Values, path string) (*act, error) {
	label := v.Get("name")
	if label == "" {
		return nil, missing("name")
	}
	return &act{
		requests: []driveRequest{{Method: "DELETE", Path: path + url.PathEscape(label) + ".json"}},
		to:       x.with("do", "", "name", "", "device", ""), done: said(label + " is revoked. It opens nothing any more."),
	}, nil
}

func drawMount(x *visit) error {
	name := x.r.PathValue("system")
	m := &mountView{Address: x.address() + "/dav/", Me: x.Me(), Here: x.with("do", "", "name", "")}
	for _, s := range systems() {
		if s.Name == name || name == "" && m.System.Name == "" && s.Agent != "" && strings.Contains(x.r.UserAgent(), s.Agent) {
			m.System = s
		}
	}
	if m.System.Name == "" {
		if name != "" {
			return absent()
		}
		m.System = systems()[0]
	}
	for _, s := range systems() {
		t := tab{Label: s.Label, Href: "/mount/" + s.Name, Current: s.Name == m.System.Name}
		if t.Current && name == "" { // the caller's own comes first
			m.Tabs = append([]tab{t}, m.Tabs...)
			continue
		}
		m.Tabs = append(m.Tabs, t)
	}
	m.Shown = m.System.Lines(m)
	m.Insecure = strings.HasPrefix(m.Address, "http:") && !m.System.Plain
	if err := x.readJSON(passwordsPath+".contents", &m.Devices); err != nil {
		return err
	}
	if err := x.readJSON(linksPath+".contents", &m.Links); err != nil {
		return err
	}
	for i := range m.Devices {
		m.Devices[i].Ended = m.Devices[i].Expires != nil && !m.Devices[i].Expires.After(x.Words.now)
		if m.Devices[i].Label == x.query.Get("device") {
			m.Device = &m.Devices[i]
		}
	}
	forms := mountForms()
	m.Make = x.asks(asking{Do: "device", Submit: "Make a password", Post: m.Here, Fields: []*field{
		{Name: "label", Label: "Name of the device", Kind: "text", Needed: true, Hint: "Such as laptop."},
		{Name: "scope", Label: "What it may do", Kind: "text", Suggest: []option{{Value: "read", Title: "change nothing"}, {Value: "Documents/" + m.Me, Title: "your documents only"}}, Hint: "Everything that you may if this is empty; read to change nothing; or a folder, such as Documents/" + m.Me + "."},
		{Name: "expires", Label: "Until", Kind: "date", Hint: "It ends as that day begins. Without a day it does not end."},
	}}, forms["device"])
	m.Link = x.asks(asking{Do: "calendar", Submit: "Make an address", Post: m.Here, Fields: []*field{
		{Name: "label", Label: "Name", Kind: "text", Needed: true, Hint: "Such as phone."},
	}}, forms["calendar"])
	if label := x.about(); label != "" && (x.asked() == "revoke" || x.asked() == "revoke-link") {
		m.Ask = x.asks(asking{
			Do: x.asked(), Title: "Revoke " + label, Text: "What uses it is refused from then on.", Submit: "Revoke", Post: m.Here,
			Cancel: m.Here, Hidden: []hidden{{"name", label}},
		}, forms[x.asked()])
	}
	h := head{Title: "Mount the drive", Nav: "mount", Path: "/dav/Account/AppPasswords/", JSON: passwordsPath + ".contents"}
	return x.draw("mount.html", h, m)
}
