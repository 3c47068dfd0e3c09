package engine

import (
	"context"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Everybody who sees a case may remark something on it, as they may attach a file to it
// (docs/contract/drive.md#remarks).

// fieldComment is the field of the document of a case that is a remark.
const fieldComment = "comment"

// RemarkFile is the file in the folder of a case that takes a remark as a text.
const RemarkFile = "comment.txt"

// RemarkETag is the ETag of that file, which is empty to read.
const RemarkETag = `"empty"`

// RemarkKey is the key of locks on that file: each user has it alone.
func RemarkKey(id int64, by identity.Principal) store.LockKey {
	return store.LabelKey(id, RemarkFile+"/"+string(by.Name))
}

// withLife gives the remark to what becomes of the life of the case, if something does: it
// says why.
func (ed *edit) withLife() {
	switch event := ed.life.(type) {
	case machine.Suspend:
		event.Comment = ed.Remark
		ed.life = event
	case machine.Resume:
		event.Comment = ed.Remark
		ed.life = event
	case machine.Cancel:
		event.Comment = ed.Remark
		ed.life = event
	case machine.Reopen:
		event.Comment = ed.Remark
		ed.life = event
	default:
		return
	}
	ed.Remark = ""
}

// onlyRemarks reports whether a document of a case is a remark and nothing else. Like a
// command it is not stored: the case is not what it says.
func onlyRemarks(node *document.Node) bool {
	if node.Kind != document.Object || node.Get(fieldComment) == nil {
		return false
	}
	for i := range node.Members {
		if m := &node.Members[i]; m.Key != fieldComment && !document.NamesSchema(m) {
			return false
		}
	}
	return true
}

// Remark notes a text as a remark on a case: what a PUT of {"comment": text} does. If the
// text begins with the remark that the caller has made last, and nobody has made another
// since, what follows it in a new line is the remark: programs that add to a file send the
// whole of it. Errors: those of PutCase.
func (e *Cases) Remark(ctx context.Context, req Request, id int64, text string) (*Outcome, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errs.New(errs.EmptyDocument, "The file is empty. Write into it what you want to remark on the case.")
	}
	last, err := e.lastRemark(ctx, req.By, id)
	if err != nil {
		return nil, err
	}
	if last != nil && identity.Fold(last.By) == identity.Fold(string(req.By.Name)) {
		if added, continues := strings.CutPrefix(text, last.Text+"\n"); continues {
			text = strings.TrimSpace(added)
		}
	}
	body := document.AppendString([]byte(`{"`+fieldComment+`":`), text)
	return e.PutCase(ctx, req, Ref{CaseID: id}, append(body, '}'))
}

// lastRemark returns the last remark on a case that by sees, nil for none.
func (e *Cases) lastRemark(ctx context.Context, by identity.Principal, id int64) (last *machine.Remark, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		h, err := e.decider.loadCase(r, by, Ref{CaseID: id})
		if err == nil {
			last = h.core.Remark
		}
		return err
	})
	return last, err
}
