package client

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Entry is a schedule entry: when cases of a route are started.
type Entry struct {
	Document `json:"-"`

	UUID        string         `json:"UUID"`
	Type        string         `json:"type"` // simple, interval, cron or crontab
	Route       string         `json:"route"`
	Context     string         `json:"context"`
	Title       string         `json:"title"`
	Description string         `json:"description"` // what it means, in words
	Spec        string         `json:"spec"`        // of the type crontab: its line
	Zone        string         `json:"timezone"`
	Next        *time.Time     `json:"next"`
	Upcoming    []string       `json:"upcoming"` // up to five instants in UTC, without a zone
	Misfire     string         `json:"misfire"`
	Grace       int            `json:"graceSeconds"`
	Overlap     string         `json:"overlap"`
	Paused      bool           `json:"paused"`
	Note        string         `json:"note"`
	Performed   int64          `json:"iterationsPerformed"`
	Remaining   int64          `json:"iterationsRemaining"` // -1 is endless
	LastCase    *int64         `json:"lastCase"`
	LastError   *string        `json:"lastError"`
	XAttrs      map[string]any `json:"xattrDict"`
	Warnings    []string       `json:"warnings"`
}

// ID returns the UUID as 32 hexadecimal digits.
func (e *Entry) ID() string { return hexUUID(e.UUID) }

// shortID is how many digits of a UUID lists show.
const shortID = 8

func hexUUID(text string) string {
	return strings.ToLower(strings.NewReplacer("{", "", "}", "", "-", "").Replace(text))
}

// Entries returns the schedule entries that the user may see, the oldest first.
func (c *Client) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return list[Entry](ctx, c, schedule+".contents", nil)
}

// EntryFile returns the name of the file of an entry in Status/schedule/, without extension: of
// a UUID as it is written with hyphens, of a given name the name without extension.
func EntryFile(name string) string {
	if id := hexUUID(name); len(id) == 32 {
		if _, err := hex.DecodeString(id); err == nil {
			return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
		}
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// entryLine is an entry in the listing of Schedule/.
type entryLine struct {
	Document `json:"-"`

	Name string `json:"name"`
	ID   string `json:"id"`
}

// EntryNames returns the given names of the schedule entries that the user may see, without
// extension, by their [Entry.ID]: "nightly", of another author "nightly@ann".
func (c *Client) EntryNames(ctx context.Context) (map[string]string, error) {
	names := map[string]string{}
	for l, err := range list[entryLine](ctx, c, schedule+".ls", nil) {
		if err != nil {
			return nil, err
		}
		if name := stem(l.Name); name != l.ID {
			names[l.ID] = name
		}
	}
	return names, nil
}

// FindEntry returns the entry that a name means: its UUID, its given name, or its title if
// no other entry has it. At least eight digits of the UUID do, if no other begins so. A name
// that only another author has given does without the author, if one author has given it.
func (c *Client) FindEntry(ctx context.Context, name string) (Entry, error) {
	id := hexUUID(name)
	var ofOthers []string
	for l, err := range list[entryLine](ctx, c, schedule+".ls", nil) {
		if err != nil {
			return Entry{}, err
		}
		if l.ID == id || sameName(l.Name, name) {
			return get[Entry](ctx, c, schedule+l.ID+".json")
		}
		if given, _, others := strings.Cut(stem(l.Name), "@"); others && sameName(given+path.Ext(l.Name), name) {
			ofOthers = append(ofOthers, l.ID)
		}
	}
	if len(ofOthers) == 1 {
		return get[Entry](ctx, c, schedule+ofOthers[0]+".json")
	}
	begun := func(e Entry) bool {
		return len(id) >= shortID && strings.HasPrefix(e.ID(), id) || slices.Contains(ofOthers, e.ID())
	}
	var found []Entry
	for e, err := range c.Entries(ctx) {
		if err != nil {
			return Entry{}, err
		}
		if begun(e) || e.Title == name {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return Entry{}, notFound(fmt.Sprintf("There is no schedule entry %q that you may see: an entry is named by its UUID, its given name or its title.", name))
	case 1:
		return found[0], nil
	}
	return Entry{}, &Problem{
		Type: "urn:flowdrive:problem:name-taken", Title: "Ambiguous", Status: http.StatusConflict,
		Detail: fmt.Sprintf("%d schedule entries have the name %q: name one by its UUID, as %s.", len(found), name, found[0].ID()),
	}
}

// PutEntry stores a schedule entry, JSON or YAML by the name's ending. Under the name
// new.json each is another entry.
func (c *Client) PutEntry(ctx context.Context, name string, document []byte, o PutOptions) (Entry, error) {
	return putForForm[Entry](ctx, c, o.request(schedule+name, document))
}

// PutOptions say how a document is stored.
type PutOptions struct {
	DryRun  bool   // all checks, and nothing is stored
	New     bool   // refused (412) if there is one of that name
	Match   string // an ETag: refused (412) if another version is stored
	Migrate bool   // running cases of a route move to its new version
}

func (o PutOptions) request(path string, document []byte) request {
	r := request{path: path, body: document, query: map[string][]string{}}
	if o.DryRun {
		r.query.Set("dryRun", "1")
	}
	if o.Migrate {
		r.query.Set("migrate", "1")
	}
	if o.New {
		r.header = withHeader(r.header, "If-None-Match", "*")
	}
	if o.Match != "" {
		r.header = withHeader(r.header, "If-Match", o.Match)
	}
	return r
}

// EntryForm is the complete form of a schedule entry, to be changed and stored again.
type EntryForm struct {
	Text []byte
	ETag string // for PutOptions.Match
}

// EntryForm returns the complete form of an entry, by its UUID.
func (c *Client) EntryForm(ctx context.Context, id string) (EntryForm, error) {
	text, header, err := c.read(ctx, request{method: http.MethodGet, path: schedule + hexUUID(id) + ".json"})
	if err != nil {
		return EntryForm{}, err
	}
	return EntryForm{Text: text, ETag: header.Get("ETag")}, nil
}

// Backfill says what became of the instants of a backfill, or would become of them.
type Backfill struct {
	Instants   int64           `json:"instants"`
	Backfilled int64           `json:"backfilled"` // have a case now
	Done       int64           `json:"done"`       // had a case before
	Skipped    int64           `json:"skipped"`
	Failed     int64           `json:"failed"`
	Left       int64           `json:"left"` // the entry has fired as often as it is to
	List       []FilledInstant `json:"list"` // the first thousand
}

// FilledInstant is an instant of a backfill.
type FilledInstant struct {
	Instant time.Time `json:"instant"`
	Outcome string    `json:"outcome"` // backfilled, done, skipped, failed or left
	Reason  string    `json:"reason"`
	Case    *int64    `json:"case"`
}

// BackfillEntry creates the cases of the instants of an entry from one time until before
// another. An instant that has had a case gets no other, so that it can be repeated. A dry run
// creates nothing, and says what would become of each instant.
func (c *Client) BackfillEntry(ctx context.Context, id string, from, to time.Time, dryRun bool) (Backfill, error) {
	document, err := json.Marshal(map[string]string{"do": "backfill", "from": from.UTC().Format(time.RFC3339), "to": to.UTC().Format(time.RFC3339)})
	if err != nil {
		return Backfill{}, fmt.Errorf("write the document: %w", err)
	}
	put := PutOptions{DryRun: dryRun}.request(schedule+hexUUID(id)+".json", document)
	put.header = withHeader(put.header, "Content-Type", "application/json")
	answer, err := putForForm[backfilled](ctx, c, put)
	return answer.Backfill, err
}

type backfilled struct {
	Document `json:"-"`

	Backfill Backfill `json:"backfill"`
}

// CommandEntry does something with a schedule entry: pause, resume or trigger; for backfill
// there is [Client.BackfillEntry], and [Client.ResumeEntry] says what was missed.
func (c *Client) CommandEntry(ctx context.Context, id, command string, fields map[string]string) error {
	document := map[string]string{"do": command}
	for key, value := range fields {
		document[key] = value
	}
	_, err := c.putJSON(ctx, schedule+hexUUID(id)+".json", document)
	return err
}

// ResumeEntry lets a paused schedule entry go on, and returns it as it is then: [Entry.Next] is
// the first instant that it has missed, which is due now, if it has missed any. With skipMissed
// those are skipped.
func (c *Client) ResumeEntry(ctx context.Context, id string, skipMissed bool) (Entry, error) {
	document := `{"do": "resume"}`
	if skipMissed {
		document = `{"do": "resume", "missed": "skip"}`
	}
	put := PutOptions{}.request(schedule+hexUUID(id)+".json", []byte(document))
	put.header = withHeader(put.header, "Content-Type", "application/json")
	return putForForm[Entry](ctx, c, put)
}

// DeleteEntry deletes a schedule entry.
func (c *Client) DeleteEntry(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: schedule + hexUUID(id) + ".json", once: true})
}

// LeftOut is an instant at which an entry does not fire.
type LeftOut struct {
	Instant time.Time `json:"instant"`
	Reason  string    `json:"reason"` // the day off, and where it stands
}

// LeftOut returns the coming instants that the days off of an entry leave out, the next one first.
func (c *Client) LeftOut(ctx context.Context, id string) ([]LeftOut, error) {
	status, err := c.EntryStatus(ctx, id)
	return status.LeftOut, err
}

// LastOccurrences returns what became of the last 30 instants of an entry, the newest first, with
// what has failed in cases that are complete.
func (c *Client) LastOccurrences(ctx context.Context, id string) ([]Occurrence, error) {
	status, err := c.EntryStatus(ctx, id)
	return status.Occurrences, err
}

// EntryStatus is what the file of an entry in Status/ says of it.
type EntryStatus struct {
	State       string       `json:"state"` // in force, paused, owner disabled, finished or deleted
	LeftOut     []LeftOut    `json:"leftOut"`
	Occurrences []Occurrence `json:"occurrences"`
}

// EntryStatus returns how an entry stands.
func (c *Client) EntryStatus(ctx context.Context, id string) (status EntryStatus, err error) {
	text, err := c.rawDocument(ctx, workflow+"Status/schedule/"+EntryFile(id)+".json")
	if err != nil {
		return status, err
	}
	if err := json.Unmarshal(text, &status); err != nil {
		return status, fmt.Errorf("the answer of the server cannot be read: %w", err)
	}
	return status, nil
}

// DeletedEntry returns the path of the document that a deleted entry had, by its UUID or given
// name: a copy of it into Schedule/ brings the entry back. It is kept for 30 days.
func (c *Client) DeletedEntry(ctx context.Context, name string) (file string, err error) {
	const folder = schedule + ".history/"
	for f, err := range c.Files(ctx, folder) {
		if err != nil {
			return "", err
		}
		if _, of, timed := strings.Cut(f.Name, " "); timed && sameName(of, name) && path.Base(file) < f.Name {
			file = folder + f.Name // names begin with the time
		}
	}
	if file == "" {
		return "", notFound(fmt.Sprintf("The document of the entry %q is not kept.", name))
	}
	return file, nil
}

// Occurrence is what became of one instant of an entry.
type Occurrence struct {
	Document `json:"-"`

	Instant time.Time `json:"instant"`
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason"`
	Lag     float64   `json:"lagSeconds"`
	Case    *int64    `json:"case"`
	State   string    `json:"state"` // of the case, now
	// Failed is what has failed in a case that is complete, "" for nothing. Of all
	// occurrences nothing is known of that, of the last ones it is.
	Failed string `json:"failed"`
}

// Occurrences returns what became of an entry's instants, the newest first.
func (c *Client) Occurrences(ctx context.Context, id string) iter.Seq2[Occurrence, error] {
	return list[Occurrence](ctx, c, schedule+hexUUID(id)+"/occurrences.json", nil)
}

// raw is a document of which only the text is of interest.
type raw struct {
	Document `json:"-"`
}

func (c *Client) rawDocument(ctx context.Context, path string) (json.RawMessage, error) {
	v, err := get[raw](ctx, c, path)
	return v.Raw(), err
}
