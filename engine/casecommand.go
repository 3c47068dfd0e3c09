package engine

import (
	"cmp"
	"strconv"

	"flowdrive/engine/access"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// commandArchive moves a case that has ended into the archive before its retention is
// over.
const commandArchive = "archive"

// readCaseCommand reads {"do": "archive"}, the command to a case
// (docs/contract/drive.md#commands-do).
func (e *Cases) readCaseCommand(req Request, h *loadedCase, node *document.Node) (*putCase, error) {
	var faults document.Faults
	root := document.Root(node, &faults)
	root.Only("do")
	if v := root.Get("do"); v.Is(document.String) && v.Node.Text != commandArchive {
		hint := cmp.Or(document.Hint(v.Node.Text, []string{commandArchive}), "; what else becomes of a case is its state, or one of its actions")
		v.Fail(errs.CodeRange, "must be %q, not %q%s", commandArchive, v.Node.Text, hint)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if !h.admin && !access.IsStarter(req.By, h.core) {
		return nil, errs.New(errs.NotAllowed, "Only its starter and the route's administrators may archive a case.")
	}
	if err := notArchived(h.row); err != nil {
		return nil, err
	}
	if !h.core.Life.Ended() {
		return nil, errs.New(errs.InUse, "The case is %s; only a case that has ended is archived. Cancel it first, or let it end.", h.core.Shown())
	}
	return &putCase{archives: h}, archivable(h)
}

// archiveByCommand archives the case and returns its form as it stays.
func (e *Cases) archiveByCommand(tx store.Tx, req Request, h *loadedCase) (*Outcome, error) {
	if err := e.decider.archiveEnded(tx, req, h); err != nil {
		return nil, err
	}
	c := h.core
	out := &Outcome{
		Changed: true, Name: strconv.FormatInt(c.ID, 10), Form: h.row.Form, FormETag: caseETag(c), Modified: c.Modified,
		CaseID: c.ID, Life: c.Shown(), Status: c.Status, LogSeq: c.LogSeq,
	}
	return out, e.Finish(tx, req, out)
}
