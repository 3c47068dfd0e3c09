package web

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// documentTitles are the things that can be done with a document: title, button.
func documentTitles() map[string][2]string {
	return map[string][2]string{
		"folder": {"New folder", "Make the folder"},
		"rename": {"Rename", "Rename"},
		"move":   {"Move", "Move"},
		"copy":   {"Copy", "Copy"},
		"delete": {"Delete", "Delete"},
		"unlock": {"Break the lock", "Break the lock"},
	}
}

// documentCommands are the forms of a folder.
func documentCommands() map[string]form {
	return map[string]form{
		"folder": makeFolder, "rename": renameDocument, "move": moveDocument, "copy": moveDocument,
		"delete": deleteDocument, "unlock": unlockDocument, "restore": restoreVersion, "purge": purgeVersion,
	}
}

// named returns the path of what the form is about: a member of the folder of the page.
func (x documentDrawing) named(v url.Values) ([]string, error) {
	name := v.Get("name")
	if name == "" {
		return nil, missing("name")
	}
	return under(x.documentPath(), name), nil
}

func makeFolder(x *visit, v url.Values) (*act, error) {
	name := strings.TrimSpace(v.Get("folder"))
	if name == "" {
		return nil, fieldMissing("folder", "A folder needs a name.")
	}
	at := under(x.documentDrawing().documentPath(), name)
	return &act{
		requests: []driveRequest{{Method: "MKCOL", Path: onDrive(at...)}},
		done: func([]*driveAnswer) notice {
			return notice{Text: "The folder is made:", Link: pageOfDocument(at...), Name: name}
		},
	}, nil
}

// fieldMissing is the refusal of a form in which a field of its own is empty.
func fieldMissing(field, detail string) error {
	return &errs.Error{Kind: errs.Invalid, Detail: detail, Faults: []errs.Fault{{Pointer: "/" + field, Detail: detail}}}
}

// transferRequest returns the MOVE or COPY of a document, which overwrites nothing.
func transferRequest(method string, from, to []string) driveRequest {
	return driveRequest{Method: method, Path: onDrive(from...), Header: [][2]string{{"Destination", onDrive(to...)}, {"Overwrite", "F"}}}
}

func renameDocument(x *visit, v url.Values) (*act, error) {
	from, err := x.documentDrawing().named(v)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(v.Get("to"))
	if name == "" || strings.Contains(name, "/") {
		return nil, fieldMissing("to", "A name is needed, without a slash.")
	}
	to := under(x.documentDrawing().documentPath(), name)
	return &act{
		requests: []driveRequest{transferRequest("MOVE", from, to)},
		done: func([]*driveAnswer) notice {
			return notice{Text: v.Get("name") + " has another name:", Link: pageOfDocument(to...), Name: name}
		},
	}, nil
}

func moveDocument(x *visit, v url.Values) (*act, error) {
	from, err := x.documentDrawing().named(v)
	if err != nil {
		return nil, err
	}
	folder := strings.FieldsFunc(v.Get("to"), func(r rune) bool { return r == '/' })
	if len(folder) == 0 {
		return nil, fieldMissing("to", "A folder is needed, such as core/2012.")
	}
	method, word := "MOVE", "moved"
	if v.Get("do") == "copy" {
		method, word = "COPY", "copied"
	}
	to := append(folder, v.Get("name"))
	return &act{
		requests: []driveRequest{transferRequest(method, from, to)},
		done: func([]*driveAnswer) notice {
			return notice{Text: v.Get("name") + " is " + word + ":", Link: pageOfDocument(to...), Name: strings.Join(to, "/")}
		},
	}, nil
}

func deleteDocument(x *visit, v url.Values) (*act, error) {
	at, err := x.documentDrawing().named(v)
	if err != nil {
		return nil, err
	}
	return &act{
		requests: []driveRequest{{Method: "DELETE", Path: onDrive(at...)}},
		done: func([]*driveAnswer) notice {
			return notice{Text: v.Get("name") + " is deleted. It can be brought back from the", Link: pageOfDocument(under(x.documentDrawing().documentPath(), historyName)...), Name: "old versions"}
		},
	}, nil
}

func unlockDocument(x *visit, v url.Values) (*act, error) {
	at, err := x.documentDrawing().named(v)
	if err != nil {
		return nil, err
	}
	return &act{requests: []driveRequest{{Method: "UNLOCK", Path: onDrive(at...) + "?force"}}, done: said("The lock on " + v.Get("name") + " is broken.")}, nil
}

// askDocument returns the form that the address of a folder asks for, nil for none.
func (x documentDrawing) askDocument(at engine.DocumentPath, found *DocumentFolder) *asking {
	do := x.asked()
	title, known := documentTitles()[do]
	if !known || !found.Writable && do != "copy" {
		return nil
	}
	a := asking{Do: do, Title: title[0], Submit: title[1], Cancel: x.with("do", "", "name", "")}
	name := x.about()
	if do != "folder" {
		if name == "" {
			return nil
		}
		a.Title += " " + name
		a.Hidden = []hidden{{"name", name}}
	}
	switch do {
	case "folder":
		a.Fields = []*field{{Name: "folder", Label: "Name", Kind: "text", Needed: true}}
	case "rename":
		a.Fields = []*field{{Name: "to", Label: "New name", Kind: "text", Needed: true, Value: name}}
	case "move", "copy":
		a.Fields = []*field{{Name: "to", Label: "Into the folder", Hint: "A path below Documents, such as core/2012.", Kind: "text", Needed: true, Value: path.Join(at...)}}
	case "delete":
		a.Text = x.deletionText(under(at, name))
	case "unlock":
		a.Text = "What the other program has not stored yet can then be overwritten."
	}
	return x.asks(a, documentCommands()[do])
}

// deletionText says what a deletion takes with it.
func (x documentDrawing) deletionText(at []string) string {
	kept := "It is kept among the old versions for a while, and can be brought back."
	n, more, err := x.Queries.DocumentsBelow(x.r.Context(), x.by, at)
	switch {
	case err != nil || n == 0: // the drive says what is wrong when it is asked to delete it
		return kept
	case more:
		return fmt.Sprintf("There are more than %d files and folders in it. They go with it. ", n) + kept
	}
	if n == 1 {
		return "There is one file or folder in it, which goes with it. " + kept
	}
	return fmt.Sprintf("There are %d files and folders in it. They go with it. ", n) + kept
}
