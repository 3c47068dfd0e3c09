package notify

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"

	"flowdrive/engine/notice"
)

// chat is what a chat service shows of a notice.
type chat struct {
	severity notice.Severity
	title    string // the notice in a sentence
	lines    []string
	url      string     // of the page of what it is about; "" if the server does not know its address
	links    []chatLink // to what can be done, and to what it is about
}

type chatLink struct{ label, url string }

// The most that is shown: no service takes less.
const (
	mostChatLines = 20
	mostChatLinks = 5
	mostChatLine  = 500 // characters
	mostChatTitle = 240
	mostChatLabel = 70
)

// chatOf returns what is shown of a notice.
func chatOf(p *notice.Payload) *chat {
	d := &p.Data
	c := &chat{severity: d.Severity, title: shorten(d.Text, mostChatTitle)}
	switch {
	case d.Trouble != nil && d.Trouble.Ended: // else it reads as why it is over
		c.add("What had been wrong: " + d.Trouble.Text)
	case d.Trouble != nil:
		c.add(d.Trouble.Text)
	}
	for i := range d.Cases {
		c.add(fmt.Sprintf("%d, %s", d.Cases[i].ID, d.Cases[i].Text))
	}
	for i := range d.Over {
		c.add("This also ends: " + d.Over[i].Text)
	}
	for i := range d.Acts {
		c.add(d.Acts[i].Line)
		if d.Acts[i].Comment != nil {
			for said := range strings.SplitSeq(strings.TrimSpace(*d.Acts[i].Comment), "\n") {
				c.add("> " + said)
			}
		}
	}
	for _, x := range d.XAttrs {
		c.add(x.Title + ": " + x.Text)
	}
	if names := d.Waiting(); len(names) > 0 {
		c.add("Waits for " + strings.Join(names, ", ") + ".")
	}
	for i := range d.Tasks {
		c.link(d.Tasks[i].Title, d.Tasks[i].Page)
	}
	switch {
	case d.Case != nil:
		c.link("Open the case", d.Page)
	case d.Entry != nil:
		c.link("Open the schedule entry", d.Page)
	case d.Hook != nil:
		c.link("Open the route", d.Page)
	case d.Server != nil || d.Count > 0:
		c.link("See what is wrong", d.Page)
	}
	if strings.Contains(d.Page, "://") {
		c.url = d.Page
	}
	return c
}

func (c *chat) add(line string) {
	if line = shorten(line, mostChatLine); line != "" && len(c.lines) < mostChatLines {
		c.lines = append(c.lines, line)
	}
}

// link adds a link that can be followed.
func (c *chat) link(label, to string) {
	if strings.Contains(to, "://") && len(c.links) < mostChatLinks {
		c.links = append(c.links, chatLink{shorten(label, mostChatLabel), to})
	}
}

// Most bytes of a message, less some for what an address adds.
const (
	mostTeams  = 26 << 10 // 28 KB
	mostMatrix = 60 << 10 // 65,536 bytes of an event
	mostNtfy   = 4000     // 4,096 bytes of a text; one that is longer becomes an attachment, or is refused
)

// within leaves out the last lines until the message has no more bytes than that.
func (c *chat) within(most int, size func() int) {
	for n := len(c.lines); n > 0 && size() > most; n-- {
		c.lines = append(c.lines[:n-1:n-1], "…")
		if size() <= most {
			return
		}
		c.lines = c.lines[:n-1]
	}
}

// sizeOf returns how many bytes a value has as JSON.
func sizeOf(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0 // it cannot be sent, which is reported when that is tried
	}
	return len(b)
}

func (c *chat) text() string { return strings.Join(c.lines, "\n") }

// shorten returns the text as one line of that many characters at most.
func shorten(text string, most int) string { return clean([]byte(text), most) }

// template writes the request by which a service is told: what it adds to the
// address, and the body.
type template struct {
	method string
	header string                // that a token goes into, "" if the service takes none
	bearer bool                  // the token is written "Bearer …" there
	fits   func(*url.URL) string // what is wrong with an address; nil: any will do
	write  func(to *url.URL, key string, p *notice.Payload) (*url.URL, any)
}

// templates are the services that have forms of their own, by the name that the
// settings have for them.
func templates() map[string]template {
	return map[string]template{
		"standard": {method: "POST", header: "Authorization", bearer: true},
		"slack":    {method: "POST", write: slackMessage},
		"teams":    {method: "POST", write: teamsMessage},
		"matrix":   {method: "PUT", header: "Authorization", bearer: true, fits: endsWith("/send/m.room.message"), write: matrixMessage},
		"ntfy":     {method: "POST", header: "Authorization", bearer: true, fits: ntfyTopic, write: ntfyMessage},
		"gotify":   {method: "POST", header: "X-Gotify-Key", fits: endsWith("/message"), write: gotifyMessage},
	}
}

// endsWith wants the path of an address to end so.
func endsWith(end string) func(*url.URL) string {
	return func(u *url.URL) string {
		if strings.HasSuffix(u.Path, end) {
			return ""
		}
		return "must end with " + end
	}
}

// ntfyTopic wants an address to end with the name of a topic.
func ntfyTopic(u *url.URL) string {
	if strings.Trim(u.Path, "/") == "" {
		return "must end with the topic, as in https://ntfy.sh/topic"
	}
	return ""
}

type object = map[string]any

// slackMessage is a message for an incoming webhook of Slack
// (https://api.slack.com/messaging/webhooks; blocks:
// https://api.slack.com/reference/block-kit/blocks; what is escaped:
// https://api.slack.com/reference/surfaces/formatting#escaping).
func slackMessage(to *url.URL, _ string, p *notice.Payload) (*url.URL, any) {
	c := chatOf(p)
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	section := func(text string) object {
		return object{"type": "section", "text": object{"type": "mrkdwn", "text": text}}
	}
	title := "*" + strings.ReplaceAll(escape(c.title), "*", "∗") + "*"
	if c.url != "" {
		title = "*<" + c.url + "|" + strings.ReplaceAll(strings.ReplaceAll(escape(c.title), "*", "∗"), "|", "¦") + ">*"
	}
	if mark := slackMark(c.severity); mark != "" {
		title = mark + " " + title
	}
	blocks := []object{section(title)}
	if text := c.text(); text != "" {
		const most = 2900 // a section has 3,000 characters at most
		blocks = append(blocks, section(escapeWithin(text, most, escape)))
	}
	var buttons []object
	for _, l := range c.links {
		buttons = append(buttons, object{"type": "button", "text": object{"type": "plain_text", "text": l.label}, "url": l.url})
	}
	if len(buttons) > 0 {
		blocks = append(blocks, object{"type": "actions", "elements": buttons})
	}
	return to, object{"text": escape(c.title), "blocks": blocks}
}

// escapeWithin escapes as many lines as there is room for.
func escapeWithin(text string, most int, escape func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = slackQuote(line, escape); b.Len()+len(line) > most {
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// slackQuote escapes a line, and lets one that quotes somebody be a quotation.
func slackQuote(line string, escape func(string) string) string {
	if rest, quoted := strings.CutPrefix(line, "> "); quoted {
		return "> " + escape(rest)
	}
	return escape(line)
}

func slackMark(s notice.Severity) string {
	switch s {
	case notice.Serious:
		return ":red_circle:"
	case notice.Warning:
		return ":warning:"
	case notice.Info:
	}
	return ""
}

// teamsMessage is a message for a workflow of Microsoft Teams that begins "when a
// webhook request is received": an adaptive card as an attachment
// (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using;
// cards: https://adaptivecards.io/explorer).
func teamsMessage(to *url.URL, _ string, p *notice.Payload) (*url.URL, any) {
	c := chatOf(p)
	c.within(mostTeams, func() int { return sizeOf(teamsCard(c)) })
	return to, teamsCard(c)
}

func teamsCard(c *chat) any {
	// The text of a card is Markdown; what people have written is not.
	plain := strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "`", "\\`", "#", `\#`, "<", "&lt;", ">", "&gt;").Replace
	colours := map[notice.Severity]string{notice.Serious: "Attention", notice.Warning: "Warning"}
	title := object{"type": "TextBlock", "text": plain(c.title), "weight": "Bolder", "size": "Medium", "wrap": true}
	if colour := colours[c.severity]; colour != "" {
		title["color"] = colour
	}
	body := []object{title}
	for _, line := range c.lines {
		body = append(body, object{"type": "TextBlock", "text": plain(line), "wrap": true, "spacing": "Small"})
	}
	card := object{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	var actions []object
	for _, l := range c.links {
		actions = append(actions, object{"type": "Action.OpenUrl", "title": l.label, "url": l.url})
	}
	if len(actions) > 0 {
		card["actions"] = actions
	}
	return object{"type": "message", "attachments": []object{{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card,
	}}}
}

// matrixMessage is a message for a Matrix room. The address in the settings ends
// with /send/m.room.message; the key of the delivery follows as the transaction, so
// that a repeated attempt is not a second message
// (https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid;
// the formatted body: https://spec.matrix.org/latest/client-server-api/#mtext).
func matrixMessage(to *url.URL, key string, p *notice.Payload) (*url.URL, any) {
	c := chatOf(p)
	c.within(mostMatrix, func() int { return sizeOf(matrixText(c)) })
	return to.JoinPath(url.PathEscape(key)), matrixText(c)
}

func matrixText(c *chat) any {
	var plain, rich strings.Builder
	plain.WriteString(c.title)
	if c.url != "" {
		fmt.Fprintf(&rich, `<b><a href="%s">%s</a></b>`, html.EscapeString(c.url), html.EscapeString(c.title))
	} else {
		fmt.Fprintf(&rich, "<b>%s</b>", html.EscapeString(c.title))
	}
	for _, line := range c.lines {
		plain.WriteString("\n" + line)
		rich.WriteString("<br>" + html.EscapeString(line))
	}
	for _, l := range c.links {
		fmt.Fprintf(&plain, "\n%s: %s", l.label, l.url)
		fmt.Fprintf(&rich, `<br><a href="%s">%s</a>`, html.EscapeString(l.url), html.EscapeString(l.label))
	}
	return object{
		"msgtype": "m.text", "body": plain.String(), "format": "org.matrix.custom.html", "formatted_body": rich.String(),
	}
}

// ntfyMessage is a message for ntfy. The address in the settings is the topic's, as
// people subscribe to it; JSON goes to the folder above it, with the topic in it
// (https://docs.ntfy.sh/publish/#publish-as-json).
func ntfyMessage(to *url.URL, _ string, p *notice.Payload) (*url.URL, any) {
	c := chatOf(p)
	c.within(mostNtfy, func() int { return max(len(c.text()), sizeOf(c.text())/2) }) // the whole may be twice as long
	path := strings.TrimSuffix(to.Path, "/")
	at := strings.LastIndexByte(path, '/')
	topic := path[at+1:]
	above := *to
	above.Path, above.RawPath = path[:at+1], ""
	priorities := map[notice.Severity]int{notice.Info: 3, notice.Warning: 4, notice.Serious: 5} // 1 to 5, 3 by default
	out := object{"topic": topic, "title": c.title, "message": orTitle(c), "priority": priorities[c.severity]}
	tags := map[notice.Severity]string{notice.Warning: "warning", notice.Serious: "rotating_light"}
	if tag := tags[c.severity]; tag != "" {
		out["tags"] = []string{tag}
	}
	if c.url != "" {
		out["click"] = c.url
	}
	const most = 3 // buttons
	var actions []object
	for _, l := range c.links[:min(len(c.links), most)] {
		actions = append(actions, object{"action": "view", "label": l.label, "url": l.url})
	}
	if len(actions) > 0 {
		out["actions"] = actions
	}
	return &above, out
}

// gotifyMessage is a message for Gotify, whose address ends with /message
// (https://gotify.net/docs/pushmsg; extras: https://gotify.net/docs/msgextras).
func gotifyMessage(to *url.URL, _ string, p *notice.Payload) (*url.URL, any) {
	c := chatOf(p)
	priorities := map[notice.Severity]int{notice.Info: 4, notice.Warning: 6, notice.Serious: 8} // from 4 on a phone makes a sound
	extras := object{"client::display": object{"contentType": "text/plain"}}
	if c.url != "" {
		extras["client::notification"] = object{"click": object{"url": c.url}}
	}
	text := orTitle(c)
	for _, l := range c.links {
		text += "\n" + l.label + ": " + l.url
	}
	return to, object{"title": c.title, "message": text, "priority": priorities[c.severity], "extras": extras}
}

// orTitle returns the text of a message that must have one.
func orTitle(c *chat) string {
	if text := c.text(); text != "" {
		return text
	}
	return c.title
}
