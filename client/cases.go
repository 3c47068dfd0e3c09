package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Case is a run of a route.
type Case struct {
	Document `json:"-"`

	ID             int64               `json:"id"`
	Route          string              `json:"route"`
	Title          string              `json:"title"`
	State          string              `json:"state"`  // where it is in its life: queued, active, suspended, completed, closed, canceled, failed, draft
	Status         string              `json:"status"` // the state of the route that it is in
	Context        string              `json:"context"`
	Starter        string              `json:"starter"`
	Priority       int                 `json:"priority"`
	Roles          map[string][]string `json:"roles"`
	XAttrs         map[string]any      `json:"xattrDict"`
	EnabledActions []string            `json:"enabledActions"`
	PendingActions []string            `json:"pendingActions"`
	Resolution     string              `json:"resolution"`
	Created        time.Time           `json:"created"`
	Modified       time.Time           `json:"modified"`
	Completed      *time.Time          `json:"completed"`
	Version        int64               `json:"version"`
}

// Ended reports whether nothing happens to the case any more, unless a person reopens or
// retries it.
func (c *Case) Ended() bool {
	switch c.State {
	case "completed", "closed", "canceled", "failed":
		return true
	}
	return false
}

// CaseFilter restricts a listing of cases. The zero value finds all that are not canceled.
type CaseFilter struct {
	Route, State, Status, Role, Context string
	Query                               string            // words in the title
	XAttrs                              map[string]string // values of XATTRs
	Warnings                            bool              // only those that have warnings
	CreatedFrom, CreatedTo              string            // dates, both included
}

func (f CaseFilter) values() url.Values {
	v := url.Values{}
	for key, value := range map[string]string{
		"route": f.Route, "state": f.State, "status": f.Status, "role": f.Role, "context": f.Context,
		"q": f.Query, "createdFrom": f.CreatedFrom, "createdTo": f.CreatedTo,
	} {
		if value != "" {
			v.Set(key, value)
		}
	}
	for key, value := range f.XAttrs {
		v.Set("xattr."+key, value)
	}
	if f.Warnings {
		v.Set("warnings", "1")
	}
	return v
}

// Cases returns the cases that the user may see, the oldest first.
func (c *Client) Cases(ctx context.Context, f CaseFilter) iter.Seq2[Case, error] {
	return list[Case](ctx, c, cases+".contents", f.values())
}

// Case returns a case by its number.
func (c *Client) Case(ctx context.Context, id int64) (Case, error) {
	return get[Case](ctx, c, casePath(id)+".json")
}

func casePath(id int64) string { return cases + strconv.FormatInt(id, 10) }

// FindCase returns the number of the case that has this number or given name.
func (c *Client) FindCase(ctx context.Context, name string) (int64, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	type line struct {
		Document `json:"-"`

		Name string `json:"name"`
		ID   int64  `json:"id"`
	}
	for l, err := range list[line](ctx, c, cases+".ls", nil) {
		if err != nil {
			return 0, err
		}
		if sameName(l.Name, name) {
			return l.ID, nil
		}
	}
	return 0, notFound(fmt.Sprintf("There is no case %q that you may see: a case is named by its number or by the name of the file that started it.", name))
}

// notFound is the problem of something that a listing does not have.
func notFound(detail string) error {
	return &Problem{Type: "urn:flowdrive:problem:not-found", Title: "Not found", Status: http.StatusNotFound, Detail: detail}
}

// sameName reports whether a file of the drive is meant by a name, with or without its
// extension.
func sameName(file, name string) bool {
	stem := file
	for _, ext := range []string{".json", ".yaml", ".yml"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	return strings.EqualFold(file, name) || strings.EqualFold(stem, name)
}

// NewCase is what a case is started with.
type NewCase struct {
	Route      string         `json:"route"`
	Title      string         `json:"title,omitempty"`
	XAttrs     map[string]any `json:"xattrDict,omitempty"`
	StartAt    string         `json:"startAt,omitempty"` // a date as people write it
	Priority   int            `json:"priority,omitempty"`
	Attachment string         `json:"attachmentUUID,omitempty"` // its input; see Attach
}

// Start starts a case.
func (c *Client) Start(ctx context.Context, n NewCase) (Case, error) {
	data, err := json.Marshal(n)
	if err != nil {
		return Case{}, fmt.Errorf("write the case: %w", err)
	}
	return putForForm[Case](ctx, c, request{path: cases + "new.json", body: data, header: jsonHeader()})
}

// Attach stores a file for a case that is to be started, and returns the UUID of the
// attachment.
func (c *Client) Attach(ctx context.Context, name string, content io.Reader, size int64) (string, error) {
	_, header, err := c.read(ctx, request{method: http.MethodPut, path: "/attachfs/" + name, body: c.counting(content, size), size: size}.keyed())
	if err != nil {
		return "", err
	}
	return header.Get("X-OpenGroupware-AttachmentUUID"), nil
}

// Detach deletes an attachment. A case that was started with it keeps its input.
func (c *Client) Detach(ctx context.Context, uuid string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/attachfs/" + uuid, once: true})
}

// Change changes fields of a case: "title", "priority", "state", "suspendedUntil",
// "xattrDict" and others.
func (c *Client) Change(ctx context.Context, id int64, fields map[string]any) error {
	_, err := c.putJSON(ctx, casePath(id)+".json", fields)
	return err
}

// SetTimer sets the limit of a timer of a case: a date, a duration such as PT5M, or empty
// for none.
func (c *Client) SetTimer(ctx context.Context, id int64, timer, limit string) error {
	var value any
	if limit != "" {
		value = limit
	}
	_, err := c.putJSON(ctx, casePath(id)+"/Timers/"+timer+".json", map[string]any{"limit": value})
	return err
}

// Timer is a date of a case at which something happens.
type Timer struct {
	Document `json:"-"`

	Name    string     `json:"name"`
	State   string     `json:"state"`
	Limit   string     `json:"limit"`
	Date    *time.Time `json:"expirationDate"`
	Expired bool       `json:"expired"`
}

// Timer returns a timer of a case.
func (c *Client) Timer(ctx context.Context, id int64, timer string) (Timer, error) {
	return get[Timer](ctx, c, casePath(id)+"/Timers/"+timer+".json")
}

// CaseFile returns a file of a case, such as input, output, log.txt or diagram.svg.
func (c *Client) CaseFile(ctx context.Context, id int64, name string) (content io.ReadCloser, size int64, err error) {
	return c.open(ctx, casePath(id)+"/"+name)
}

// AddFile stores a file with a case.
func (c *Client) AddFile(ctx context.Context, id int64, name string, content io.Reader, size int64) error {
	_, err := c.put(ctx, request{path: casePath(id) + "/Files/" + name, body: c.counting(content, size), size: size})
	return err
}

// LogEntry is a line of a case's log.
type LogEntry struct {
	Document `json:"-"`

	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Action  string    `json:"action"`
	Actor   string    `json:"actor"`
	For     string    `json:"onBehalfOf"` // whose deputy the actor was
	From    string    `json:"from"`
	To      string    `json:"to"`
	Comment string    `json:"comment"`
	Text    string    `json:"text"`

	Resolution string `json:"resolution"` // how the action was resolved, if it asks for that
}

// Log returns what has happened to a case, the oldest first.
func (c *Client) Log(ctx context.Context, id int64) iter.Seq2[LogEntry, error] {
	return list[LogEntry](ctx, c, casePath(id)+"/log.json", nil)
}

// WhyQueued returns in a sentence what a queued case waits for, "" if it is not queued.
func (c *Client) WhyQueued(ctx context.Context, id int64) (string, error) {
	raw, err := c.rawDocument(ctx, workflow+"Status/cases/"+strconv.FormatInt(id, 10)+".json")
	if err != nil {
		return "", err
	}
	var doc struct {
		State string `json:"state"`
		Why   string `json:"why"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return "", fmt.Errorf("read what the case waits for: %w", err)
	}
	if doc.State != "queued" {
		return "", nil
	}
	return doc.Why, nil
}

// CaseStatus returns in words where a case is, whom it waits for, and what happens if
// nobody does anything.
func (c *Client) CaseStatus(ctx context.Context, id int64) (string, error) {
	body, _, err := c.read(ctx, request{method: http.MethodGet, path: workflow + "Status/cases/" + strconv.FormatInt(id, 10) + ".txt"})
	return string(body), err
}
