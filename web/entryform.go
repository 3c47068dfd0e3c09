package web

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/label"
)

// entryFormView is what entryform.html shows.
type entryFormView struct {
	Title   string
	Post    string
	Cancel  string
	Submit  string
	Key     string
	Match   string // ETag of the entry that is edited, "" of a new one
	Curl    string
	Refused *refusal
	Types   []option
	Fields  map[string]*field
	Zones   []string
	More    bool // what is folded is to be seen
	Theirs  []difference
	Take    string // the address of the form as it is stored now
	Preview *previewView
}

// difference is a field that somebody else has changed.
type difference struct{ Label, Mine, Theirs string }

// previewView is what would come of the form as it stands.
type previewView struct {
	Words   string
	Zone    string
	Doubts  []string
	Faults  []fault
	Rows    []instantRow
	Trouble string
	Title   string // of the first case
	Xattrs  []aboutLine
	Unknown string
	None    string
}

// entryTypes are the types of an entry, and how the form calls them.
func entryTypes() []option {
	return []option{
		{Value: "simple", Title: "Once"},
		{Value: "interval", Title: "Interval"},
		{Value: "cron", Title: "Calendar"},
		{Value: "crontab", Title: "Crontab line"},
	}
}

func drawNewEntry(x *visit) error {
	v := &entryFormView{Title: "New entry", Post: "/schedule/new", Cancel: "/schedule", Submit: "Schedule it", Take: "/schedule/new"}
	values := entryDefaults()
	for _, name := range entryFieldNames() {
		if x.query.Has(name) {
			values.Set(name, x.query.Get(name))
		}
	}
	for _, name := range []string{"date", "start", "end"} { // as somebody types it who sees this page
		if d, err := clock.ParseDate(values.Get(name), nil); err == nil && d.Fixed {
			values.Set(name, x.Words.Typed(d.Time))
		}
	}
	if kind := x.query.Get("type"); kind != "" && !slices.ContainsFunc(entryTypes(), func(o option) bool { return o.Value == kind }) {
		return errs.New(errs.BadParameter, "type can be simple, interval, cron or crontab, not %q.", kind)
	}
	if x.query.Has("type") { // it is said when it comes: what is not said is free
		for _, name := range []string{"hour", "minute", "hours"} {
			if !x.query.Has(name) {
				values.Del(name)
			}
		}
	}
	h := head{Title: v.Title, Nav: "schedule", Path: entryFolder + "/new.json"}
	return x.scheduleDrawing().drawEntryForm(h, v, values, "new")
}

func drawEditEntry(x *visit) error {
	uuid := x.r.PathValue("uuid")
	e, _, err := x.Queries.EntryDetail(x.r.Context(), x.by, uuid, x.now, 1)
	if err != nil {
		return err
	}
	if e.UUID != uuid || !e.MayChange || !e.Ended.IsZero() {
		return absent()
	}
	v := &entryFormView{Title: "Edit " + entryTitle(e.Entry), Post: "/schedule/" + uuid + "/edit", Cancel: "/schedule/" + uuid, Submit: "Store", Match: e.ETag, Take: "/schedule/" + uuid + "/edit"}
	stored := entryDefaults()
	for name, values := range entryValues(e.Entry, x.Words.Typed) {
		stored[name] = values
	}
	if x.refused != nil && x.refused.Kind == errs.Precondition {
		v.Submit = "Save mine all the same"
		for _, name := range entryFieldNames() {
			if mine, was := x.Sent(name); was && mine != stored.Get(name) {
				v.Theirs = append(v.Theirs, difference{entryFields()[name].Label, mine, stored.Get(name)})
			}
		}
	} else if match, was := x.Sent("match"); was {
		v.Match = match
	}
	h := head{Title: v.Title, Nav: "schedule", Path: entryFolder + "/" + uuid + ".json", JSON: entryFolder + "/" + uuid + ".json"}
	return x.scheduleDrawing().drawEntryForm(h, v, stored, uuid)
}

// drawEntryForm draws the form with what was typed, else with the values. name is that of
// the file of the dry run.
func (x scheduleDrawing) drawEntryForm(h head, v *entryFormView, values url.Values, name string) error {
	routes := x.Queries.RouteNames(x.by)
	if len(routes) > 0 && values.Get("route") == "" {
		values.Set("route", routes[0])
	}
	if values.Get("context") == "" {
		values.Set("context", x.Me())
	}
	if x.sent != nil {
		for _, field := range entryFieldNames() {
			values[field] = x.sent[field]
		}
	}
	dry, err := x.hand(&driveRequest{Method: http.MethodPut, Path: entryFolder + "/" + name + ".json?dryRun", Body: entryBody(x.Words, values)}, "")
	if err != nil {
		return err
	}
	if v.Preview, err = x.previewOf(dry); err != nil {
		return err
	}
	if x.sent != nil && x.refused == nil && dry.status >= http.StatusBadRequest && x.query.Get("part") == "" {
		x.refused = readRefusal(dry)
	}
	v.Fields = x.entryFieldsOf(values, routes)
	all := slices.Collect(maps.Values(v.Fields))
	v.Preview.Faults = (&refusal{Faults: v.Preview.Faults}).within(all).Faults
	v.Types = entryTypes()
	for i := range v.Types {
		v.Types[i].Chosen = values.Get("type") == v.Types[i].Value
	}
	if !slices.ContainsFunc(v.Types, func(o option) bool { return o.Chosen }) {
		v.Types[2].Chosen = true
	}
	v.Zones, v.Key, v.Refused = commonZones(), x.Key(), x.refused.within(all)
	v.More = foldedFields(values, v.Fields)
	if a, err := storeEntry(x.visit, withMatch(values, v.Match)); err == nil {
		v.Curl = x.curlLines(a.requests)
	}
	return x.draw("entryform.html", h, v)
}

func withMatch(values url.Values, match string) url.Values {
	out := url.Values{"match": {match}}
	for name, list := range values {
		out[name] = list
	}
	return out
}

// foldedFields reports whether a field that is folded has a value, or a fault.
func foldedFields(values url.Values, fields map[string]*field) bool {
	standard := entryDefaults()
	for _, name := range []string{
		"year", "week", "overlap", "graceSeconds", "jitterSeconds", "repeat", "start", "end", "exclude", "excludeCalendar", "dstOverlap", "document", "attachmentUUID", "xattrDict", "priority", "heartbeat", "note", "paused",
	} {
		if f := fields[name]; f != nil && f.Fault != "" || values.Get(name) != "" && values.Get(name) != standard.Get(name) {
			return true
		}
	}
	return false
}

// storeEntry stores the entry of the form: a new one under the name that its title gives
// it, or the one of the page, if it is still as it was shown.
func storeEntry(x *visit, v url.Values) (*act, error) {
	body := entryBody(x.Words, v)
	if uuid := x.r.PathValue("uuid"); uuid != "" {
		q := driveRequest{Method: http.MethodPut, Path: entryFolder + "/" + url.PathEscape(uuid) + ".json", Body: body}
		if match := v.Get("match"); match != "" {
			q.Header = [][2]string{{"If-Match", match}}
		}
		return &act{requests: []driveRequest{q}, to: "/schedule/" + uuid, done: func([]*driveAnswer) notice { return notice{Text: "The entry is stored."} }}, nil
	}
	where, err := x.scheduleDrawing().freeEntry(v, body)
	if err != nil {
		return nil, err
	}
	return &act{
		requests: []driveRequest{{Method: http.MethodPut, Path: where, Header: [][2]string{{"If-None-Match", "*"}}, Body: body}},
		lead: func(answers []*driveAnswer) string {
			return "/schedule/" + strings.TrimSuffix(path.Base(answers[0].header.Get("Location")), ".json")
		},
		done: func([]*driveAnswer) notice { return notice{Text: "It is scheduled."} },
	}, nil
}

// freeEntry returns the address of a new entry: its title made legal, numbered if the name
// is taken. A form that comes twice finds its own entry there, whose document is the same.
func (x scheduleDrawing) freeEntry(v url.Values, body []byte) (string, error) {
	const most = 100
	title := cmp.Or(strings.TrimSpace(v.Get("title")), strings.TrimSpace(v.Get("route")), "entry")
	for n := 1; n <= most; n++ {
		name := title
		if n > 1 {
			name = fmt.Sprintf("%s %d", filename.Cut(title, 80), n)
		}
		where := dav.Href("dav", "Workflow", "Schedule", strings.TrimLeft(filename.Titled("", name, ".json"), " ."))
		found, err := x.hand(&driveRequest{Method: http.MethodGet, Path: where}, "")
		if err != nil {
			return "", err
		}
		if found.status == http.StatusNotFound || bytes.Equal(found.body.Bytes(), body) {
			return where, nil
		}
	}
	return "", errs.New(errs.NameTaken, "There are too many entries of that title. Choose another one.")
}

// previewOf says what the answer to a dry run means.
func (x scheduleDrawing) previewOf(dry *driveAnswer) (*previewView, error) {
	p := &previewView{}
	if dry.status >= http.StatusBadRequest {
		refused := readRefusal(dry)
		if p.Faults = refused.Faults; len(p.Faults) == 0 {
			p.Faults = []fault{{Detail: refused.Detail}}
		}
		return p, nil
	}
	e, err := x.Queries.ForeseeEntry(x.r.Context(), x.by, dry.body.Bytes())
	if err != nil {
		return nil, err
	}
	p.Words, p.Zone, p.Doubts, p.Trouble = x.entryWords(e.Entry), x.zoneOfEntry(e.Entry).String(), e.Doubts(), e.Trouble
	if p.Rows = x.instantRows(e.Entry); len(p.Rows) == 0 {
		p.None = "No instant is to come."
		if e.Paused {
			p.None = "Nothing comes while it is paused."
		}
	}
	if strings.Contains(e.Entry.Title, "$__") {
		p.Title = e.Title
	}
	for _, one := range e.Xattrs {
		p.Xattrs = append(p.Xattrs, aboutLine{Key: one.Key, Value: plainText(label.Value.AppendJSON(one.Value, nil))})
	}
	p.Unknown = strings.Join(e.Unknown, ", ")
	return p, nil
}

// entryFieldsOf returns the fields of the form, by name, with their values and faults.
func (x scheduleDrawing) entryFieldsOf(values url.Values, routes []string) map[string]*field {
	fields := entryFields()
	contexts := x.Queries.Contexts(x.by)
	if !slices.Contains(contexts, values.Get("context")) && values.Get("context") != "" {
		contexts = append(contexts, values.Get("context"))
	}
	if !slices.Contains(routes, values.Get("route")) && values.Get("route") != "" {
		routes = append(slices.Clip(routes), values.Get("route"))
	}
	for name, list := range map[string][]string{"route": routes, "context": contexts} {
		for _, one := range list {
			fields[name].Options = append(fields[name].Options, option{Value: one, Title: one})
		}
	}
	for name, f := range fields {
		f.Name, f.ID, f.Value = name, "f-"+name, values.Get(name)
		f.Fault = x.refused.Of(name)
		f.choose()
		if name == "date" || name == "start" || name == "end" {
			f.Hint += ", in " + x.Words.Zone()
		}
	}
	return fields
}

// entryFields are the fields of the form of an entry, by name.
func entryFields() map[string]*field {
	choice := func(pairs ...string) (out []option) {
		for i := 0; i+1 < len(pairs); i += 2 {
			out = append(out, option{Value: pairs[i], Title: pairs[i+1]})
		}
		return out
	}
	return map[string]*field{
		"type":            {Label: "Kind"},
		"title":           {Label: "Title", Kind: "text"},
		"route":           {Label: "Route to start", Kind: "select", Needed: true},
		"context":         {Label: "Belongs to", Kind: "select"},
		"priority":        {Label: "Priority", Hint: "0 to 65535; 200 without. A higher one starts sooner.", Number: true},
		"date":            {Label: "Date and time", Hint: "Such as 2012-11-21 09:00"},
		"weeks":           {Label: "Weeks", Number: true},
		"days":            {Label: "Days", Number: true},
		"hours":           {Label: "Hours", Number: true},
		"minutes":         {Label: "Minutes", Number: true},
		"seconds":         {Label: "Seconds", Number: true},
		"year":            {Label: "Year"},
		"month":           {Label: "Month", Hint: "1 to 12"},
		"day":             {Label: "Day", Hint: "1 to 31, last, last fri, 2nd tue"},
		"week":            {Label: "Week of the year"},
		"weekday":         {Label: "Weekday", Hint: "mon to sun; mon-fri. 0 is Monday"},
		"hour":            {Label: "Hour", Hint: "0 to 23; 8,12; 8-17; */2"},
		"minute":          {Label: "Minute", Hint: "0 to 59; * is every minute"},
		"spec":            {Label: "Crontab line", Hint: "minute hour day month weekday; here 0 and 7 are Sunday"},
		"timezone":        {Label: "Time zone"},
		"xattrDict":       {Label: "Fields of the case", Hint: "One a line, such as month = $__MONTHSTART__;", Kind: "json"},
		"attachmentUUID":  {Label: "or an attachment, by its UUID"},
		"document":        {Label: "Input: a document", Hint: "Its path, such as /dav/Documents/core/inbox.csv"},
		"repeat":          {Label: "How many cases at most", Hint: "Empty: without end", Number: true},
		"graceSeconds":    {Label: "In time within, in seconds", Hint: "58 without", Number: true},
		"jitterSeconds":   {Label: "Random delay, in seconds at most", Number: true},
		"start":           {Label: "Not before", Hint: "A day, or a date and time"},
		"end":             {Label: "Not after", Hint: "A day, or a date and time"},
		"exclude":         {Label: "Days to leave out", Hint: "One a line: 2012-12-24, or 2012-12-24 to 2013-01-02 without the second", Kind: "json"},
		"excludeCalendar": {Label: "Days of a calendar to leave out", Hint: "The path of an .ics file, such as /dav/Documents/core/holidays.ics"},
		"heartbeat":       {Label: "Address to call when a case is complete", Hint: "A service that waits for signs of life; or an object with done, started and failed"},
		"note":            {Label: "Note"},
		"paused":          {Label: "Paused: nothing fires", Kind: "check"},
		"overlap": {Label: "When an earlier case of it is still open", Kind: "select", Options: choice(
			"allow", "Start all the same", "skip", "Skip this one", "bufferOne", "Let one wait", "bufferAll", "Let each wait for its turn", "cancelOther", "Cancel the open one")},
		"misfire":    {Label: "When it was missed, the server being down", Kind: "radio", Options: choice("once", "Once, for all missed", "all", "Each", "skip", "Not at all")},
		"dstGap":     {Label: "When the clocks go forward and the time does not exist", Kind: "radio", Options: choice("shift", "The first moment after", "skip", "Not that day")},
		"dstOverlap": {Label: "When the clocks go back and the time comes twice", Kind: "radio", Options: choice("first", "The first", "last", "The second", "both", "Both")},
	}
}

// commonZones are the time zones that are proposed. Any other of the IANA database can be
// typed.
func commonZones() []string {
	return []string{
		"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Argentina/Buenos_Aires", "America/Bogota", "America/Chicago",
		"America/Denver", "America/Halifax", "America/Lima", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Sao_Paulo", "America/St_Johns",
		"America/Toronto", "Asia/Bangkok", "Asia/Dhaka", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Jakarta", "Asia/Jerusalem", "Asia/Karachi", "Asia/Kathmandu",
		"Asia/Kolkata", "Asia/Manila", "Asia/Riyadh", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Asia/Tehran", "Asia/Tokyo", "Atlantic/Reykjavik",
		"Australia/Adelaide", "Australia/Brisbane", "Australia/Perth", "Australia/Sydney", "Europe/Amsterdam", "Europe/Athens", "Europe/Berlin", "Europe/Brussels",
		"Europe/Bucharest", "Europe/Budapest", "Europe/Copenhagen", "Europe/Dublin", "Europe/Helsinki", "Europe/Istanbul", "Europe/Kyiv", "Europe/Lisbon", "Europe/London",
		"Europe/Madrid", "Europe/Moscow", "Europe/Oslo", "Europe/Paris", "Europe/Prague", "Europe/Rome", "Europe/Stockholm", "Europe/Vienna", "Europe/Warsaw",
		"Europe/Zurich", "Pacific/Auckland", "Pacific/Honolulu",
	}
}
