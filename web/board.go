package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// laneCards is how many cards a column of a board shows; its list has all.
const laneCards = 30

// boardView is what board.html shows.
type boardView struct {
	Name, Title string
	Tabs        []tab
	Query       string
	Filters     []chooser
	Filter      bool
	Lanes       []lane
	Cards       int
	Start       string // address of the form that starts a case, "" if the reader may not
	Post        string // where a move is sent to
	Key         string
	Ask         *asking
	Elsewhere   []anchor // moves of the card that is asked about that ask more than its form
}

// lane is a column of a board: the cases in a state.
type lane struct {
	ID, Name string
	State    mark
	Count    string
	Cards    []boardCard
	More     string // address of its list, "" if all cards are shown
}

// boardCard is a case on a board.
type boardCard struct {
	caseRow
	Ways string // what leads it elsewhere, as JSON for the script
	Move string // address of the page that asks where to, "" if nothing does
}

// cardWay is an action that leads a card to other columns.
type cardWay struct {
	Action  string   `json:"action"`
	Title   string   `json:"title"`
	To      []string `json:"to"`
	Decided bool     `json:"decided,omitempty"`
	Ask     string   `json:"ask,omitempty"` // the page that asks what else it needs, "" if it needs nothing
}

func drawBoard(x *visit) error {
	name := x.r.PathValue("name")
	drawn, err := x.Queries.RoutePicture(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	states, err := x.Queries.Board(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	r := drawn.Route
	parts := []string{"starter", "stakeholder"}
	for i := range r.Roles {
		parts = append(parts, r.Roles[i].Name)
	}
	if role := x.query.Get("role"); role != "" && !slices.Contains(parts, role) {
		return errs.New(errs.BadParameter, "role can be %s, not %q.", strings.Join(parts, ", "), role)
	}
	if x.query.Get("case") != "" {
		if _, err := caseNumber(x.query.Get("case")); err != nil {
			return err
		}
	}
	v := &boardView{
		Name: r.Name, Title: cmp.Or(r.Title, r.Name), Tabs: tabsOfRoute(r, "board"), Query: x.query.Get("q"), Filter: x.query.Get("q") != "" || x.query.Get("role") != "",
		Post: x.with("do", "", "case", ""), Key: x.Key(),
	}
	if x.Queries.MayStart(x.by, r.Name) {
		v.Start = pageOfRoute(r.Name) + "/start"
	}
	for i := range states {
		if !states[i].Listed {
			continue
		}
		l, err := x.boardDrawing().lane(r, states[i].Name, i)
		if err != nil {
			return err
		}
		v.Cards += len(l.Cards)
		v.Lanes = append(v.Lanes, l)
	}
	v.Filters = []chooser{x.chooser("My part", "role", parts)}
	if x.asked() == "move" {
		if err := x.boardDrawing().askMove(v); err != nil {
			return err
		}
	}
	at := boardFolder(r.Name)
	shown := make([]int64, 0, v.Cards)
	for _, l := range v.Lanes {
		for i := range l.Cards {
			shown = append(shown, l.Cards[i].ID)
		}
	}
	return x.draw("board.html", head{Title: "Board: " + v.Title, Nav: "routes", Path: at, JSON: at + "/", Script: "board.js", Cases: shown}, v)
}

// boardFolder returns the path of a board on the drive.
func boardFolder(name string) string { return routeFolder + "/" + url.PathEscape(name) + "/Board" }

// boardDrawing draws the board of a route.
type boardDrawing struct{ *visit }

func (x *visit) boardDrawing() boardDrawing { return boardDrawing{x} }

// lane returns the column of a state. The number of the state makes its id.
func (x boardDrawing) lane(r *route.Route, state string, number int) (lane, error) {
	l := lane{ID: "lane-" + strconv.Itoa(number), Name: state, State: mark{"off", "active", state}}
	if i := r.State(state); i >= 0 && i < len(r.States) {
		l.State = markOfState(&r.States[i])
	}
	found, err := x.Queries.NewestCases(x.r.Context(), x.by, engine.NewestQuery{
		Route: r.Name, Status: state, Query: x.query.Get("q"), Part: x.query.Get("role"), Limit: laneCards,
		Lives: []machine.Life{machine.Active, machine.Suspended, machine.Completed, machine.Closed, machine.Failed},
	})
	if err != nil {
		return l, err
	}
	slices.SortStableFunc(found.Cases, func(a, b *engine.CaseView) int { return compareDue(a.Case.FirstDue(), b.Case.FirstDue()) })
	for _, view := range found.Cases {
		card, err := x.boardCard(view)
		if err != nil {
			return l, err
		}
		l.Cards = append(l.Cards, card)
	}
	l.Count = strconv.Itoa(len(l.Cards))
	if found.Next != 0 {
		l.Count += "+"
		l.More = casesOfRoute(r, state)
	}
	return l, nil
}

// compareDue orders by due date; what has none comes last.
func compareDue(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		if a.IsZero() {
			return 1
		}
		return -1
	}
	return a.Compare(b)
}

func (x boardDrawing) boardCard(view *engine.CaseView) (boardCard, error) {
	card := boardCard{caseRow: x.caseRow(view)}
	ways := waysOf(view)
	if len(ways) == 0 {
		return card, nil
	}
	text, err := json.Marshal(ways)
	if err != nil {
		return card, errs.Wrap("write the ways of a card", err)
	}
	card.Ways, card.Move = string(text), x.with("do", "move", "case", strconv.FormatInt(view.Case.ID, 10))+"#ask"
	return card, nil
}

// waysOf returns what leads a case of the board elsewhere.
func waysOf(view *engine.CaseView) (out []cardWay) {
	for _, w := range view.Ways() {
		a := &view.Route.Actions[w.Action]
		one := cardWay{Action: a.Name, Title: cmp.Or(a.Title, a.Name), To: w.To, Decided: w.Decided && len(w.To) > 1}
		if len(a.Resolutions) > 0 || len(fieldsOf(a.Form, view.Case.Xattrs)) > 0 {
			one.Ask = "/cases/" + strconv.FormatInt(view.Case.ID, 10) + "?open=" + url.QueryEscape(a.Name)
		}
		out = append(out, one)
	}
	return out
}

// askMove asks where the card goes that the form or the address names.
func (x boardDrawing) askMove(v *boardView) error {
	view, err := x.cardOf(cmp.Or(x.formValue("case"), x.query.Get("case")))
	if err != nil {
		return err
	}
	way := &field{Key: "way", Name: "way", Label: "Where to", Kind: "select", Needed: true}
	for _, w := range waysOf(view) {
		words := w.Title + " → " + strings.Join(titlesOf(view.Route, w.To), " or ")
		if w.Ask != "" {
			v.Elsewhere = append(v.Elsewhere, anchor{Href: w.Ask, Label: words})
			continue
		}
		way.Options = append(way.Options, option{Value: w.Action, Title: words, Chosen: len(way.Options) == 0})
	}
	a := asking{Do: "move", Title: "Move " + titleOf(view), Submit: "Move", Cancel: v.Post, Post: v.Post, Hidden: []hidden{{"case", strconv.FormatInt(view.Case.ID, 10)}, {"from", view.Case.Status}}}
	if len(way.Options) > 0 {
		way.Value = way.Options[0].Value
		a.Fields = []*field{way, {Key: "comment", Name: "comment", Label: "Comment", Kind: "area", typ: "string"}}
	} else if x.sent == nil && len(v.Elsewhere) == 0 {
		return errs.New(errs.BadParameter, "Nothing that you may do leads the case %d to another state.", view.Case.ID)
	} else {
		return nil // the refusal says why, and has what was typed
	}
	v.Ask = x.asks(a, moveCard)
	return nil
}

// formValue returns a field of the form that was sent, "" before.
func (x boardDrawing) formValue(name string) string { return x.sent.Get(name) }

func titlesOf(r *route.Route, states []string) (out []string) {
	for _, s := range states {
		out = append(out, stateTitle(r, s))
	}
	return out
}

// caseNumber reads the number of a case.
func caseNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, errs.New(errs.BadParameter, "case is not the number of a case.")
	}
	return id, nil
}

// cardOf returns the case of that number, if its route is that of the board.
func (x boardDrawing) cardOf(number string) (*engine.CaseView, error) {
	id, err := caseNumber(number)
	if err != nil {
		return nil, err
	}
	view, err := oneCase(x.visit, id)
	if err != nil || !strings.EqualFold(view.Case.RouteName, x.r.PathValue("name")) {
		return nil, cmp.Or(err, absent())
	}
	return view, nil
}

// caseOfPage returns the case that the page is of, if the reader sees it.
func caseOfPage(x *visit) (*engine.CaseView, error) {
	id, err := caseNumber(x.r.PathValue("id"))
	if err != nil {
		return nil, absent()
	}
	return oneCase(x, id)
}

// oneCase returns the case of that number, if the reader sees it.
func oneCase(x *visit, id int64) (*engine.CaseView, error) {
	views, err := x.Queries.CaseViews(x.r.Context(), x.by, []int64{id})
	if err != nil {
		return nil, err
	}
	if len(views) == 0 {
		return nil, absent()
	}
	return views[0], nil
}

// moveCard is the request that moves a card: a MOVE on the board if that says which
// action is meant, else what performs the action. With "to" it is the MOVE in any case,
// as a mounted drive would do it.
func moveCard(x *visit, v url.Values) (*act, error) {
	view, err := x.boardDrawing().cardOf(v.Get("case"))
	if err != nil {
		return nil, err
	}
	name, to, comment := v.Get("way"), v.Get("to"), strings.TrimSpace(v.Get("comment"))
	if name == "" && to == "" {
		return nil, missing("way")
	}
	from := cmp.Or(v.Get("from"), view.Case.Status) // as it was drawn
	if from != view.Case.Status {
		if err := x.boardDrawing().movedBefore(view, v); err != nil {
			return nil, err
		}
		if comment == "" {
			return &act{to: x.with("do", "", "case", ""), done: x.boardDrawing().movedCard(view)}, nil // it was sent twice
		}
	}
	switch {
	case to == "" && comment == "":
		to = onlyWay(view, name)
	case to != "" && comment != "": // a MOVE has no comment
		if name == "" {
			name = actionTo(view, to)
		}
		if name == "" && from == view.Case.Status {
			return nil, fieldMissing("way", "A comment is that of an action. Choose which one: not exactly one leads there.")
		}
		to = ""
	}
	number := strconv.FormatInt(view.Case.ID, 10)
	q := taskRequest(url.Values{"case": {number}, "action": {name}, "comment": {comment}}, nil)
	if to != "" {
		folder := boardFolder(view.Case.RouteName)
		at := func(state string) string { return folder + "/" + url.PathEscape(state) + "/" + number + ".json" }
		q = driveRequest{Method: "MOVE", Path: at(from), Header: [][2]string{{"Destination", at(to)}}}
	}
	return &act{
		requests: []driveRequest{q}, to: x.with("do", "", "case", ""), done: x.boardDrawing().movedCard(view),
		gone: errs.New(errs.ActionNotEnabled, "This cannot be done any more: %s is in %s now.", titleOf(view), stateTitle(view.Route, view.Case.Status)),
	}, nil
}

// movedBefore refuses a move of a card that is elsewhere since the board was drawn, unless it
// is the very move that was made: then the form was sent twice. A comment that was typed is
// sent once more, which the key of the form makes harmless.
func (x boardDrawing) movedBefore(view *engine.CaseView, v url.Values) error {
	now := titleOf(view) + " is in " + stateTitle(view.Route, view.Case.Status) + " now."
	last, _ := machine.Last(view.Case, view.Route)
	if last == nil || last.By == "" {
		return errs.New(errs.ActionNotEnabled, "%s Nothing was done.", now)
	}
	when := x.Words.Moment(last.At)
	if !strings.EqualFold(last.By, x.Me()) {
		return errs.New(errs.ActionNotEnabled, "%s was faster: %s. %s Nothing was done.", x.Queries.Person(last.By).Shown(), when, now)
	}
	mine := last.From == v.Get("from") && (v.Get("way") == "" || v.Get("way") == last.Action) && (v.Get("to") == "" || v.Get("to") == view.Case.Status)
	if !mine || strings.TrimSpace(v.Get("comment")) != "" && v.Get("key") == "" {
		return errs.New(errs.ActionNotEnabled, "You have moved it yourself: %s. %s Nothing more was done.", when, now)
	}
	return nil
}

// actionTo returns the action that leads to the state, "" if there is not exactly one.
func actionTo(view *engine.CaseView, state string) (name string) {
	for _, w := range waysOf(view) {
		if !slices.Contains(w.To, state) {
			continue
		}
		if name != "" {
			return ""
		}
		name = w.Action
	}
	return name
}

// onlyWay returns the state to which the action leads, if it is certain and no other
// action leads there; else "".
func onlyWay(view *engine.CaseView, name string) (to string) {
	ways := waysOf(view)
	for _, w := range ways {
		if w.Action == name && len(w.To) == 1 && !w.Decided {
			to = w.To[0]
		}
	}
	for _, w := range ways {
		if w.Action != name && slices.Contains(w.To, to) {
			return ""
		}
	}
	return to
}

// movedCard says in which state a card is after its move.
func (x boardDrawing) movedCard(before *engine.CaseView) func([]*driveAnswer) notice {
	return func(answers []*driveAnswer) notice {
		said := notice{Text: titleOf(before) + " is moved.", Link: fmt.Sprintf("/cases/%d", before.Case.ID), Name: "Open the case"}
		views, err := x.Queries.CaseViews(x.r.Context(), x.by, []int64{before.Case.ID})
		if err == nil && len(views) == 1 {
			said.Text = titleOf(before) + " is in " + stateTitle(views[0].Route, views[0].Case.Status) + " now."
		}
		return said
	}
}
