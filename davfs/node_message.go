package davfs

import (
	"context"
	"io"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// messagesFolder is Cases/<id>/Messages/: every message by its UUID.
type messagesFolder struct {
	*scope
	id int64
}

func (n messagesFolder) stat(ctx context.Context) (*info, error) {
	about, err := caseFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Messages", about.modified), nil
}

func (n messagesFolder) child(_ context.Context, name string) (node, error) {
	uuid, ok := parseUUID(name)
	if !ok {
		return nil, absent()
	}
	return messageFile{scope: n.scope, id: n.id, name: uuid.String(), uuid: uuid}, nil
}

func (n messagesFolder) list(ctx context.Context) ([]*info, error) {
	messages, err := n.engine.Cases.Messages(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	out := make([]*info, len(messages))
	for i := range messages {
		out[i] = messageInfo(messages[i].UUID.String(), &messages[i])
	}
	return out, nil
}

// messageInfo describes a message.
func messageInfo(name string, m *store.Message) *info {
	return &info{
		name: name, size: m.Size, etag: engine.MessageETag(m),
		mediaType: m.MediaType, created: m.Created, modified: m.Modified,
	}
}

// messageFile is a message by its UUID or its label; what a case calls its
// input, output and exception has labels that no message bears.
type messageFile struct {
	*scope
	id    int64
	name  string
	uuid  store.UUID
	label string // "" for a message by its UUID
}

func (n messageFile) stat(ctx context.Context) (*info, error) {
	about, content, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	return about, content.Close()
}

func (n messageFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	content, err := n.engine.Cases.Message(ctx, n.by, n.id, n.uuid, n.label)
	if err != nil {
		return nil, nil, err
	}
	return messageInfo(n.name, &content.Message), content.Body, nil
}

// labelsFolder is Cases/<id>/Labels/: messages by label.
type labelsFolder struct {
	*scope
	id int64
}

func (n labelsFolder) stat(ctx context.Context) (*info, error) {
	about, err := caseFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Labels", about.modified), nil
}

//nolint:unparam // folder's method may fail
func (n labelsFolder) child(_ context.Context, name string) (node, error) {
	return labelFile{n.scope, n.id, name}, nil
}

func (n labelsFolder) list(ctx context.Context) ([]*info, error) {
	messages, err := n.engine.Cases.Messages(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	var out []*info
	for i := range messages {
		if m := &messages[i]; m.Label != "" {
			about := messageInfo(m.Label, m)
			about.lockKey = store.LocksOnLabelsOf(n.id) + store.LockKey(m.Label)
			out = append(out, about)
		}
	}
	return out, nil
}

// labelFile is Labels/<label>: PUT creates or replaces the message of that
// label and wakes the case.
type labelFile struct {
	*scope
	id    int64
	label string
}

func (n labelFile) message() messageFile {
	return messageFile{scope: n.scope, id: n.id, name: n.label, label: n.label}
}

func (n labelFile) stat(ctx context.Context) (*info, error) {
	if !legalWord(n.label) {
		return nil, absent()
	}
	about, err := n.message().stat(ctx)
	if err == nil {
		about.lockKey = store.LocksOnLabelsOf(n.id) + store.LockKey(n.label)
	}
	return about, err
}

func (n labelFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	if !legalWord(n.label) {
		return nil, nil, absent()
	}
	return n.message().open(ctx)
}

func (n labelFile) putRules() putRules {
	rules := putRules{content: true}
	if !legalWord(n.label) {
		rules.illegal = errs.New(errs.NameNotAllowed,
			"The label %q is not valid: use letters, digits, _ and -, at most 63, the first a letter or digit.", n.label)
	}
	return rules
}

func (n labelFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Cases.PutLabel(ctx, req, n.id, engine.NewMessage{Label: n.label, MediaType: in.mediaType, Body: in.body})
}

func (n labelFile) describe(a *answer, _ *engine.Outcome) {
	a.locate(casePath(n.id, "Labels", n.label)...)
}
