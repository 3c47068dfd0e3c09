package outbox

import (
	"encoding/json"
	"fmt"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Record describes what a row asks for as JSON, as people read it in a sandbox.
func Record(row *store.OutboxRow) ([]byte, error) {
	var r machine.Request
	if err := json.Unmarshal(row.Request, &r); err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read the request %s", row.Key), err)
	}
	var form any
	switch {
	case r.Mail != nil:
		form = struct {
			Kind    string   `json:"kind"`
			To      []string `json:"to"`
			Subject string   `json:"subject"`
			Text    string   `json:"text"`
		}{"mail", r.Mail.To, r.Mail.Subject, r.Mail.Text}
	case r.HTTP != nil:
		if r.HTTP.Header == nil {
			r.HTTP.Header = map[string]string{}
		}
		form = struct {
			Kind      string            `json:"kind"`
			Method    string            `json:"method"`
			URL       string            `json:"url"`
			Header    map[string]string `json:"headers"`
			MediaType string            `json:"type,omitempty"`
			Body      any               `json:"body"`
			Secret    string            `json:"secret,omitempty"`
		}{"http", r.HTTP.Method, r.HTTP.URL, r.HTTP.Header, r.HTTP.MediaType, readable(r.HTTP.Body), r.HTTP.Secret}
	case r.Exec != nil:
		form = struct {
			Kind    string   `json:"kind"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
			Input   any      `json:"input"`
		}{"exec", r.Exec.Name, append([]string{}, r.Exec.Args...), readable(r.Exec.Input)}
	case r.Call != nil:
		form = struct {
			Kind  string `json:"kind"`
			Name  string `json:"name"`
			Value any    `json:"value"`
		}{"call", r.Call.Name, readable(r.Call.Value)}
	default:
		return nil, errs.New(errs.Internal, "The request %s asks for nothing.", row.Key)
	}
	content, err := json.Marshal(form)
	return content, errs.Wrap("record what would be sent", err)
}

// readable returns a content as JSON if it is JSON, else as a text, or null for
// an empty content.
func readable(content []byte) any {
	switch {
	case len(content) == 0:
		return nil
	case json.Valid(content):
		return json.RawMessage(content)
	}
	return string(content)
}
