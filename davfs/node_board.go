package davfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
)

// boardFolder is Routes/<route>/Board/: a folder for each open state and for
// each in which there are cases that the caller sees.
type boardFolder struct {
	*scope
	route string
}

func (n boardFolder) stat(ctx context.Context) (*info, error) {
	about, err := dropFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Board", about.modified), nil
}

func (n boardFolder) child(_ context.Context, name string) (node, error) {
	if !legalWord(name) {
		return nil, absent()
	}
	return stateFolder{n.scope, n.route, name}, nil
}

func (n boardFolder) list(ctx context.Context) ([]*info, error) {
	about, err := n.stat(ctx)
	if err != nil {
		return nil, err
	}
	states, err := n.engine.Cases.Board(ctx, n.by, n.route)
	if err != nil {
		return nil, err
	}
	var out []*info
	for _, s := range states {
		if s.Listed {
			out = append(out, folderInfo(s.Name, about.modified))
		}
	}
	return out, nil
}

// stateFolder is Board/<state>/: the cases in that state.
type stateFolder struct {
	*scope
	route string
	state string
}

func (n stateFolder) stat(ctx context.Context) (*info, error) {
	about, err := boardFolder{n.scope, n.route}.stat(ctx)
	if err != nil {
		return nil, err
	}
	state, err := n.engine.Cases.BoardState(ctx, n.by, n.route, n.state)
	if err != nil {
		return nil, err
	}
	return folderInfo(state, about.modified), nil
}

// child finds a case by the id with which its name begins: its title may have
// changed since the client saw it. The name of a destination means nothing.
func (n stateFolder) child(_ context.Context, name string) (node, error) {
	stem, ext := splitName(name)
	number, _, _ := strings.Cut(stem, " ")
	id, ok := parseID(number)
	if (ext != ".json" || !ok) && !n.writes {
		return nil, absent()
	}
	return boardFile{n, id}, nil
}

func (n stateFolder) list(ctx context.Context) ([]*info, error) { return allOf(ctx, n.parts()) }

func (n stateFolder) parts() parts {
	var read parts
	return func(ctx context.Context) ([]*info, bool, error) {
		if read == nil {
			state, err := n.engine.Cases.BoardState(ctx, n.by, n.route, n.state)
			if err != nil {
				return nil, false, err
			}
			read = partsOf(n.casesPage, engine.Filter{Route: n.route, Status: state, OnBoard: true}, func(r *engine.Resource) ([]*info, int, error) {
				brief, err := readBoardCase(r)
				if err != nil {
					return nil, 0, err
				}
				return []*info{formInfo(brief.name(), r)}, 0, nil
			})
		}
		return read(ctx)
	}
}

func (n stateFolder) casesPage(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Cases.Cases(ctx, n.by, f)
}

// boardFile is Board/<state>/<id> <title>.json: the complete form of a case.
type boardFile struct {
	folder stateFolder
	id     int64
}

// boardCase is what a board shows of a case's form.
type boardCase struct {
	ID     int64        `json:"id"`
	Route  string       `json:"route"`
	Title  string       `json:"title"`
	State  machine.Life `json:"state"`
	Status string       `json:"status"`
}

func readBoardCase(r *engine.Resource) (boardCase, error) {
	var c boardCase
	if err := json.Unmarshal(r.Form, &c); err != nil {
		return c, errs.Wrap("read the form of case "+r.Name, err)
	}
	return c, nil
}

// name returns the file name of the case.
func (c boardCase) name() string {
	return filename.Titled(strconv.FormatInt(c.ID, 10), c.Title, ".json")
}

func (n boardFile) load(ctx context.Context) (*engine.Resource, string, error) {
	r, err := n.folder.engine.Cases.Case(ctx, n.folder.by, engine.Ref{CaseID: n.id})
	if err != nil {
		return nil, "", err
	}
	c, err := readBoardCase(r)
	if err != nil {
		return nil, "", err
	}
	if !same(c.Route, n.folder.route) || !same(c.Status, n.folder.state) || c.State == machine.Canceled || r.Archived != 0 {
		return nil, "", absent()
	}
	return r, c.name(), nil
}

func (n boardFile) stat(ctx context.Context) (*info, error) {
	r, name, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(name, r), nil
}

func (n boardFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, name, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(name, r), contentOf(r.Form), nil
}

// staysOnBoard says what to do with a case instead of deleting its file on the board.
func (n boardFile) staysOnBoard(ctx context.Context) error {
	return errs.New(errs.NotDeletable, "This shows where case %d stands. To give the case up, move it to a state that ends it, or delete its file %s: that cancels an open case.",
		n.id, n.folder.fileOfCase(ctx, n.id))
}

// moveTo performs the action that leads to the state into whose folder the
// file is moved (docs/contract/drive.md#performing-by-a-move-on-the-board).
func (n boardFile) moveTo(ctx context.Context, req engine.Request, to node, _ *transfer) (*answer, error) {
	place, ok := to.(boardFile)
	if !ok || !same(place.folder.route, n.folder.route) {
		return nil, notMovable(n)
	}
	if _, err := place.folder.stat(ctx); errs.Is(err, errs.NotFound) {
		return nil, noPlace()
	} else if err != nil {
		return nil, err
	}
	move := engine.BoardMove{CaseID: n.id, Route: n.folder.route, From: n.folder.state, To: place.folder.state}
	out, err := n.folder.engine.Cases.MoveOnBoard(ctx, req, move)
	if e, is := errors.AsType[*errs.Error](err); is && e.Kind == errs.ActionNotEnabled && same(move.From, move.To) {
		e.Detail += fmt.Sprintf(" To call it something else, change \"title\" in its file %s.", n.folder.fileOfCase(ctx, n.id))
	}
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusCreated}
	actionFile{n.folder.scope, n.id, ""}.describe(a, out)
	return a, nil
}
