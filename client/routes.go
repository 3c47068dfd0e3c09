package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
)

// Route is a workflow definition.
type Route struct {
	Document `json:"-"`

	ID          int64                 `json:"id"`
	Name        string                `json:"name"`
	Title       string                `json:"title"`
	Description string                `json:"description"`
	Model       string                `json:"model"`
	Version     int                   `json:"version"`
	Author      string                `json:"author"`   // who made it
	StoredBy    string                `json:"storedBy"` // who stored this version; "" if that is not known
	States      map[string]RouteState `json:"states"`
	XAttrs      map[string]RouteXAttr `json:"xattrs"`
	Warnings    []string              `json:"warnings"`
	Modified    time.Time             `json:"modified"`
	// Notes are told of a PUT, and are not kept: that it takes the place of another author's
	// version, or what became of a scenario.
	Notes []string `json:"notes"`
	// Migration is what became of the cases if they were to move, or would become of them.
	Migration *Migration `json:"migration"`
}

// Migration says which cases of a route have moved to a version.
type Migration struct {
	Version int     `json:"version"`
	Moved   int     `json:"moved"`
	Cases   []int64 `json:"cases"` // the first thousand of those that moved
	Failed  int     `json:"failed"`
	Faults  []struct {
		Case   int64  `json:"case"`
		Detail string `json:"detail"`
	} `json:"faults"` // why the others did not
}

// RouteState is a state of a route.
type RouteState struct {
	Title string `json:"title"`
	Type  string `json:"type"` // start, normal, complete, denied, cancelled or failed
}

// RouteXAttr is an XATTR that a route declares.
type RouteXAttr struct {
	Title   string `json:"title"`
	Type    string `json:"type"`    // string, number, boolean and the like
	Default any    `json:"default"` // nil for none
}

// Routes returns the routes that the user may see.
func (c *Client) Routes(ctx context.Context) iter.Seq2[Route, error] {
	return list[Route](ctx, c, routes+".contents", nil)
}

// Route returns the complete form of a route's newest version.
func (c *Client) Route(ctx context.Context, name string) (Route, error) {
	for r, err := range c.Routes(ctx) {
		if err != nil {
			return Route{}, err
		}
		if strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return Route{}, noRoute(name)
}

func noRoute(name string) error {
	return notFound(fmt.Sprintf("There is no route %q that you may see: flowdrive route list has their names.", name))
}

// RouteSource is the document of a route as its author stored it.
type RouteSource struct {
	Text []byte
	File string // the name of its file, which ends in .yaml or .json
	ETag string // for PutOptions.Match
}

// RouteVersion returns the complete form of a version of a route, which may be an old one.
func (c *Client) RouteVersion(ctx context.Context, name string, version int) (Route, error) {
	raw, err := c.rawDocument(ctx, fmt.Sprintf("%s%s/Versions/%d.json", routes, name, version))
	if err != nil {
		return Route{}, err
	}
	return parse[Route](raw)
}

// RouteSource returns the document of a route as its author stored it.
func (c *Client) RouteSource(ctx context.Context, name string) (RouteSource, error) {
	type line struct {
		Document `json:"-"`

		Name string `json:"name"`
	}
	for l, err := range list[line](ctx, c, routes+".ls", nil) {
		if err != nil {
			return RouteSource{}, err
		}
		if sameName(l.Name, name) {
			text, header, err := c.read(ctx, request{method: http.MethodGet, path: routes + l.Name})
			return RouteSource{Text: text, File: l.Name, ETag: header.Get("ETag")}, err
		}
	}
	return RouteSource{}, noRoute(name)
}

// PutRoute stores a route, JSON or YAML by the name's ending, or its scenario:
// "bug.yaml", "bug.scenario.yaml". What is returned has the warnings of a route; for a
// scenario it is empty.
func (c *Client) PutRoute(ctx context.Context, file string, document []byte, o PutOptions) (Route, error) {
	if strings.HasSuffix(strings.ToLower(stem(file)), ".scenario") {
		o.Migrate = false // no case runs by a scenario
	}
	return putForForm[Route](ctx, c, o.request(routes+file, document))
}

// KeepScenario keeps a scenario, as "bug.scenario.yaml", for the user, without playing it with
// the route as it is stored: it is played when the user next stores the route, and both are
// stored if it holds. So a route and its scenario can change in ways that only fit together.
func (c *Client) KeepScenario(ctx context.Context, file string, document []byte) error {
	r := PutOptions{}.request(routes+file, document)
	r.query.Set("waits", "1")
	_, err := putForForm[Route](ctx, c, r)
	return err
}

// StateType returns the type that the state of a case has in its route now: normal, complete,
// denied, cancelled or failed. It is empty if the case is in no state, or if the user may not
// see the route.
func (c *Client) StateType(ctx context.Context, of Case) (string, error) {
	if of.Status == "" {
		return "", nil
	}
	r, err := c.Route(ctx, of.Route)
	if IsSlug(err, "not-found") {
		return "", nil // who sees a case need not see its route
	}
	return r.States[of.Status].Type, err
}

// Denied reports whether a case that is completed has come to a state that denies what it
// asked for.
func (c *Client) Denied(ctx context.Context, of Case) (bool, error) {
	if of.State != "completed" && of.State != "closed" {
		return false, nil
	}
	kind, err := c.StateType(ctx, of)
	return kind == "denied", err
}

// Overview is the server at a glance, as the user sees it.
func (c *Client) Overview(ctx context.Context) (json.RawMessage, error) {
	return c.rawDocument(ctx, workflow+"Status/overview.json")
}

// Text returns a page of Status/ in words: "overview", "week" or "late".
func (c *Client) Text(ctx context.Context, page string) (string, error) {
	body, _, err := c.read(ctx, request{method: http.MethodGet, path: workflow + "Status/" + page + ".txt"})
	return string(body), err
}
