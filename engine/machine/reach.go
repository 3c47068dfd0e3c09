package machine

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// Bounds on what steps send.
const (
	maxAddresses = 1000    // of one mail
	maxURL       = 8 << 10 // bytes, with its labels replaced
	maxHeader    = 8 << 10
)

// Call is a callback that a rule takes parties from. Case is what it is told of the
// case, as JSON.
type Call struct{ Name, Case string }

// Called is the result of a callback: names of users and teams, or what went wrong.
type Called struct {
	Names []string
	Fault string
}

// send makes the request of a step that reaches outside, with everything filled in,
// for the caller to put into the outbox.
func (d stepRun) send(s *route.Step, number int) error {
	if len(d.c.Outbox) >= maxOutbox {
		return routeFault("the case has more than %d deliveries that have not ended", maxOutbox)
	}
	r, what, err := d.outgoingRequest(s.Outside)
	if err != nil || r == nil {
		return err
	}
	if d.written += r.size(); d.written > maxWritten {
		return routeFault("one event writes and sends more than %d bytes", maxWritten)
	}
	if size := r.size(); size > shortLine {
		if err := d.takeRoom(d.c.Starter, "what is to be sent", int64(size)); err != nil {
			return err
		}
	}
	d.changed = true
	d.add(LogEntry{Kind: LogMessage, Action: d.sourceAction(d.source), Trigger: new(ByStep), Text: "To be sent: " + what})
	o := Outgoing{Seq: d.c.LogSeq, Step: int64(number), Verb: s.Verb, Source: d.source, Into: s.Outside.Into, At: d.now, OfError: d.handling}
	d.c.Outbox = append(slices.Clip(d.c.Outbox), o)
	d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Request: r, What: what})
	return nil
}

func (r *Request) size() int {
	switch {
	case r.Mail != nil:
		return len(r.Mail.Text)
	case r.HTTP != nil:
		return len(r.HTTP.Body)
	case r.Exec != nil:
		return len(r.Exec.Input)
	}
	return len(r.Call.Value)
}

// outgoingRequest makes the request of a step. what describes it in a few words. If
// there is nothing to send, the request is nil.
func (d stepRun) outgoingRequest(o *route.Outside) (r *Request, what string, err error) {
	r = &Request{}
	if again := o.Retry; again != nil {
		r.Retry = &Repeats{Times: again.Times, Every: again.Every, Backoff: again.Backoff, On: again.On}
	}
	switch {
	case o.Mail != nil:
		if r.Mail, what, err = d.mail(o.Mail); r.Mail == nil {
			return nil, "", err
		}
	case o.HTTP != nil:
		r.HTTP, err = d.httpCall(o.HTTP)
		if err == nil {
			what = "http " + r.HTTP.Method + " " + addressShown(o.HTTP)
		}
	case o.Exec != nil:
		if r.Exec, err = d.command(o.Exec); err == nil {
			r.Exec.Discards = o.Into == ""
		}
		what = "exec " + o.Exec.Name
	default:
		r.Call, err = d.callback(o.Call)
		what = "call " + o.Call.Name
	}
	return r, what, err
}

// mailPeople are the users to whom a mail goes, as far as people are told of them.
type mailPeople struct {
	addresses []string
	members   []string // those of the addresses that are not told, because only a team has brought them in
	told      []string // users and teams that have an address
	silent    []string // those that have none, of teams in words
}

// mailTo finds the addresses of the parties. Who is in a team is not told to all who read
// the log of a case: the author of a route names any team.
func (d stepRun) mailTo(named []string) (to mailPeople, err error) {
	if _, err := d.persons(named); err != nil {
		return to, err
	}
	users := map[string]bool{} // who is named without a team
	for _, party := range named {
		if !d.facts.isTeam(party) && party != string(identity.Everyone) {
			users[identity.Fold(party)] = true
		}
	}
	for _, party := range named {
		isUser := users[identity.Fold(party)]
		var reached, without bool
		for _, name := range d.facts.Members[party] {
			address, known := d.facts.Emails[name]
			switch {
			case !known:
				d.need(Need{Email: name})
			case !route.IsAddress(address):
				without = true
			default:
				reached = true
				to.addresses = append(to.addresses, address)
				if !users[identity.Fold(name)] {
					to.members = append(to.members, address)
				}
			}
		}
		if reached {
			to.told = append(to.told, partyWords(party, isUser))
		}
		switch {
		case without && isUser:
			to.silent = append(to.silent, party)
		case without:
			to.silent = append(to.silent, "members of "+partyWords(party, false))
		}
	}
	if len(d.needs) > 0 {
		return to, errAbsent
	}
	return to, nil
}

// partyWords names a party in a list.
func partyWords(party string, isUser bool) string {
	if isUser || party == string(identity.Everyone) {
		return party
	}
	return "the team " + party
}

// mail makes a mail to the users and addresses that a step names, each address
// once.
func (d stepRun) mail(m *route.Mail) (*Mail, string, error) {
	recipients, addresses := d.addressed(m.To)
	addresses = slices.Concat(m.Addresses, addresses)
	named, err := d.whom(recipients)
	if err != nil {
		return nil, "", err
	}
	people, err := d.mailTo(named)
	if err != nil {
		return nil, "", err
	}
	silent := people.silent
	out := &Mail{To: slices.Concat(addresses, people.addresses), Thread: d.c.GUID, Named: parties(slices.Clone(addresses)), Members: parties(people.members), ToSecrets: m.Secrets, TextSecret: m.TextSecret}
	out.To = parties(out.To)
	if len(out.To) > maxAddresses {
		return nil, "", routeFault("a mail goes to %d addresses, more than %d", len(out.To), maxAddresses)
	}
	if len(silent) > 0 {
		d.changed = true
		d.add(LogEntry{Kind: LogWarning, Text: "Without an e-mail address: " + listed(silent)})
	}
	if out.Subject, err = d.text(m.Subject); err != nil {
		return nil, "", err
	}
	if out.Text, err = d.text(m.Text); err != nil {
		return nil, "", err
	}
	if out.Subject = clipLine(out.Subject); out.Subject == "" {
		out.Subject = clipLine(d.c.Title)
	}
	nobody := len(out.To) == 0 && len(out.ToSecrets) == 0
	if nobody {
		d.changed = true
		d.add(LogEntry{Kind: LogWarning, Text: "Nobody to send a mail to: " + out.Subject})
	}
	d.notReached(m, out.Subject, reached{recipients, nobody, silent})
	if nobody {
		return nil, "", nil
	}
	shown := append(people.told, addresses...)
	for _, name := range m.Secrets {
		shown = append(shown, secretShown(name))
	}
	return out, "mail to " + listed(shown) + ": " + out.Subject, nil
}

// addressed takes the e-mail addresses that XATTRs have from the recipients of a mail. A value may
// be several, with commas between them. That of a user who is called by an address is the user.
func (d stepRun) addressed(list []route.Recipient) (others []route.Recipient, addresses []string) {
	for _, r := range list {
		var found []string
		if v, _ := d.c.Xattrs.Get(r.Name); r.Kind == route.RecipientXattr {
			found = d.addressesIn(v.Text)
		}
		if addresses = append(addresses, found...); found == nil {
			others = append(others, r)
		}
	}
	return others, addresses
}

// addressesIn returns the addresses that a text is, nil if it is something else.
func (d stepRun) addressesIn(text string) (addresses []string) {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); !route.IsAddress(one) {
			return nil
		}
		addresses = append(addresses, one)
	}
	switch kind, known := d.facts.Parties[text]; {
	case len(addresses) > 1 || known && kind == NoParty:
		return addresses
	case !known:
		d.need(Need{Party: text})
	}
	return nil
}

// reached is whom a mail goes to, as far as its route names users and teams.
type reached struct {
	recipients []route.Recipient
	nobody     bool     // it goes to nobody at all
	silent     []string // those that have no address
}

// notReached warns of a mail that goes to nobody, and of one whose recipients are not all
// known. That there are no stakeholders is not wrong: a case need not have any.
func (d stepRun) notReached(m *route.Mail, subject string, to reached) {
	h := handler{name: "the mail " + mailSubject(m) + "of " + d.source, source: d.source, number: d.sourceEnablement(d.source)}
	named := "the mail " + strconv.Quote(clip(subject)) + " of " + d.source
	others := func(r route.Recipient) bool { return r.Kind != route.RecipientStakeholders }
	unknown := d.unknownOf(to.recipients)
	var why []string
	if len(to.silent) > 0 {
		why = append(why, "without an e-mail address: "+listed(to.silent))
	}
	if len(unknown) > 0 {
		why = append(why, "no user or team is called "+listed(unknown))
	}
	switch because := strings.Join(why, "; "); {
	case to.nobody && because != "":
		d.failures().didNothing(h, named+" has nobody to go to: "+because)
	case to.nobody && slices.ContainsFunc(to.recipients, others):
		d.failures().didNothing(h, named+" has nobody to go to")
	case len(unknown) > 0:
		d.failures().didNothing(h, named+" does not go to all that it names: no user or team is called "+listed(unknown))
	default:
		d.failures().handlerRuns(h)
	}
}

// mailSubject returns the subject of a mail as the route writes it, quoted and with a
// blank, "" for none: it tells the mails of an action apart.
func mailSubject(m *route.Mail) string {
	text := ""
	switch {
	case m.Subject.Expr != nil:
		text = m.Subject.Expr.Source()
	case m.Subject.Literal != nil:
		text = m.Subject.Literal.Text
	}
	if text = OneLine(text); text == "" {
		return ""
	}
	return strconv.Quote(clip(text)) + " "
}

// unknownOf returns the names among the recipients that no user or team has.
func (d stepRun) unknownOf(list []route.Recipient) (names []string) {
	for _, r := range list {
		name := r.Name
		switch r.Kind {
		case route.RecipientXattr:
			v, _ := d.c.Xattrs.Get(r.Name)
			name = v.Text
		case route.RecipientParty:
		case route.RecipientRole, route.RecipientStarter, route.RecipientStakeholders:
			continue
		}
		if kind, known := d.facts.Parties[name]; known && kind == NoParty && name != string(identity.Everyone) {
			names = append(names, name)
		}
	}
	return names
}

// listed writes names as a list of bounded length.
func listed(names []string) string {
	const most = 10
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// text returns the text that a value stands for, "" for null.
func (d stepRun) text(v route.Value) (string, error) {
	value, _, err := d.value(v)
	return value.Text, err
}

func (d stepRun) httpCall(h *route.HTTPCall) (*HTTPCall, error) {
	out := &HTTPCall{Method: h.Method, Secret: h.Secret, URLSecret: h.URLSecret}
	var err error
	if out.URL, err = d.address(h.URL); err != nil {
		return nil, err
	}
	for _, header := range h.Headers {
		if header.Secret != "" {
			out.HeaderSecrets = with(out.HeaderSecrets, header.Name, header.Secret)
			continue
		}
		given, ok, err := d.value(header.Value)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		value := OneLine(given.Text)
		if len(value) > maxHeader {
			return nil, routeFault("http: the header %s is longer than %d bytes", header.Name, maxHeader)
		}
		if strings.EqualFold(header.Name, "Content-Type") {
			out.MediaType = value
			continue
		}
		out.Header = with(out.Header, header.Name, value)
	}
	mediaType := ""
	switch {
	case h.From != "":
		out.Body, mediaType, err = d.enclosed(h.From, "http")
	case h.Body.Given():
		mediaType = "application/json"
		out.Body, err = d.payload(h.Body, "http")
	}
	if out.MediaType == "" {
		out.MediaType = mediaType
	}
	return out, err
}

// with returns the map with a key set.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// addressShown returns what logs tell of the address of a call: host and path as
// the route writes them. What labels stand for and the query may be secret.
func addressShown(h *route.HTTPCall) string {
	if h.URLSecret != "" {
		return secretShown(h.URLSecret)
	}
	return withoutQuery(h.URL)
}

func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

// secretShown returns what is told of a secret.
func secretShown(name string) string { return "{secret: " + name + "}" }

// address replaces the labels of a URL. Their values are escaped, so that they
// cannot change where the URL leads.
func (d stepRun) address(template string) (string, error) {
	text, err := d.substituteAs(template, escapeURL)
	if err != nil {
		return "", err
	}
	if len(text) > maxURL {
		return "", routeFault("http: the address is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", routeFault("http: with its labels replaced, %s is not a valid URL", clip(withoutQuery(template)))
	}
	if dots(u.Path) > 0 && dots(template) == 0 {
		return "", routeFault("http: the labels of %s must not change its path", clip(withoutQuery(template)))
	}
	return text, nil
}

// dots counts the segments "." and ".." of a path.
func dots(path string) (n int) {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			n++
		}
	}
	return n
}

// escapeURL escapes all characters that are not unreserved (RFC 3986, section 2.3).
func escapeURL(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// enclosed returns the content and media type of the message that a step sends. The
// verb is for faults.
func (d stepRun) enclosed(name, verb string) (content []byte, mediaType string, err error) {
	if content, err = d.readBy(verb, name); err != nil {
		return nil, "", err
	}
	mediaType = d.types[name]
	for _, m := range d.messages {
		if m.Label == name {
			mediaType = m.MediaType
		}
	}
	return content, mediaType, nil
}

func (d stepRun) command(c *route.Command) (*Command, error) {
	out := &Command{Name: c.Name}
	for _, arg := range c.Args {
		value, _, err := d.filledValue(arg) // a command takes a label for what it is to do
		if err != nil {
			return nil, err
		}
		text := value.Text
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return nil, routeFault("exec: an argument contains what a command cannot be given: %s", strconv.Quote(clip(text)))
		}
		out.Args = append(out.Args, text)
	}
	var err error
	if c.From != "" {
		out.Input, _, err = d.enclosed(c.From, "exec")
	}
	return out, err
}

func (d stepRun) callback(c *route.Callback) (*Callback, error) {
	out := &Callback{Name: c.Name, Case: d.toldOfCase()}
	var err error
	if c.Value.Given() {
		out.Value, err = d.payload(c.Value, "call")
	}
	return out, err
}

// toldOfCase returns what a callback is told of the case, as JSON.
func (d *caseDecision) toldOfCase() []byte {
	b := d.about()
	b = appendString(b[:len(b)-1], `,"guid":`, d.c.GUID)
	b = appendString(b, `,"route":`, d.c.RouteName)
	return append(d.c.Xattrs.AppendJSON(append(b, `,"xattr":`...)), '}')
}

// payload returns the JSON that a step sends or writes. what names it in faults.
func (d stepRun) payload(p route.Payload, what string) ([]byte, error) {
	b, err := d.appendPayload(nil, &p, p.JSON)
	if len(d.needs) > 0 {
		return nil, errAbsent
	}
	if err != nil && !errs.Is(err, errs.RouteFault) {
		return nil, routeFault("%s: %v", what, err)
	}
	return b, err
}

// appendPayload appends a value of a payload: the result of its expression, or the
// value with the labels of its texts replaced.
func (d stepRun) appendPayload(b []byte, p *route.Payload, n *document.Node) ([]byte, error) {
	if len(b) > MaxFact {
		return nil, routeFault("the JSON of a step is longer than %s", maxFactWords)
	}
	if program := p.Exprs[n]; program != nil {
		content, err := program.JSON(d.expressions().scope(d.actor))
		if err != nil {
			err = fmt.Errorf("%s: %w", clip(program.Source()), err)
		}
		return append(b, content...), err
	}
	var err error
	switch n.Kind {
	case document.String:
		var text string
		text, err = d.substitute(n.Text)
		b = document.AppendString(b, text)
	case document.List:
		b = append(b, '[')
		for i := 0; i < len(n.Items) && err == nil; i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b, err = d.appendPayload(b, p, n.Items[i])
		}
		b = append(b, ']')
	case document.Object:
		b = append(b, '{')
		for i := 0; i < len(n.Members) && err == nil; i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(document.AppendString(b, n.Members[i].Key), ':')
			b, err = d.appendPayload(b, p, n.Members[i].Value)
		}
		b = append(b, '}')
	case document.Null, document.Bool, document.Number:
		b = n.AppendJSON(b)
	}
	return b, err
}

// call returns the parties that a callback yields. Its result is a fact, because it
// is called outside. If it fails it yields nobody, and that is logged.
func (a *assignment) call(name string) []string {
	key := Call{Name: name, Case: string(a.toldOfCase())}
	called, known := a.facts.Called[key]
	switch {
	case !known:
		a.need(Need{Call: key})
		return nil
	case called.Fault != "":
		a.yieldsNot(name, fmt.Sprintf("The callback %s yields nobody: %s", name, called.Fault))
		return nil
	}
	var found, nobody []string
	for _, one := range parties(called.Names) {
		kind, known := a.facts.Parties[one]
		switch {
		case one == string(identity.Everyone):
			found = append(found, one)
		case one == "" || one[0] == '@':
			nobody = append(nobody, one)
		case !known:
			a.need(Need{Party: one})
		case kind == NoParty:
			nobody = append(nobody, one)
		default:
			found = append(found, one)
		}
	}
	if len(nobody) > 0 && len(a.needs) == 0 {
		a.yieldsNot(name, fmt.Sprintf("The callback %s yields %s, which is nobody", name, listed(nobody)))
	}
	return found
}

// yieldsNot logs and warns that a callback does not yield whom a role is for.
func (a *assignment) yieldsNot(name, text string) {
	a.changed = true
	a.add(LogEntry{Kind: LogWarning, Text: clipLine(text)})
	a.failures().didNothing(handler{name: "the callback " + name}, clipLine(text))
}
