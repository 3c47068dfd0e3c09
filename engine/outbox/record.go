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
			Kind    string `json:"kind"`
			To      []any  `json:"to"`
			Subject string `json:"subject"`
			Text    any    `json:"text"`
		}{"mail", addressees(r.Mail), r.Mail.Subject, textOrSecret(r.Mail.Text, r.Mail.TextSecret)}
	case r.HTTP != nil:
		form = struct {
			Kind      string         `json:"kind"`
			Method    string         `json:"method"`
			URL       any            `json:"url"`
			Header    map[string]any `json:"headers"`
			MediaType string         `json:"type,omitempty"`
			Body      any            `json:"body"`
			Secret    string         `json:"secret,omitempty"`
		}{"http", r.HTTP.Method, textOrSecret(r.HTTP.URL, r.HTTP.URLSecret), headersOf(r.HTTP), r.HTTP.MediaType, readable(r.HTTP.Body), r.HTTP.Secret}
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
	case r.News != nil:
		form = struct {
			Kind        string `json:"kind"`
			Destination string `json:"destination"`
			Body        any    `json:"body"`
		}{"notice", r.News.Destination, readable(r.News.Body)}
	default:
		return nil, errs.New(errs.Internal, "The request %s asks for nothing.", row.Key)
	}
	content, err := json.Marshal(form)
	return content, errs.Wrap("record what would be sent", err)
}

// secretOf is a secret as a route names it.
type secretOf struct {
	Name string `json:"secret"`
}

// textOrSecret returns the text, or the secret that stands in its place unless the
// name is "".
func textOrSecret(text, name string) any {
	if name != "" {
		return secretOf{name}
	}
	return text
}

func addressees(m *Mail) []any {
	to := make([]any, 0, len(m.To)+len(m.ToSecrets))
	for _, address := range m.To {
		to = append(to, address)
	}
	for _, name := range m.ToSecrets {
		to = append(to, secretOf{name})
	}
	return to
}

func headersOf(c *HTTPCall) map[string]any {
	headers := make(map[string]any, len(c.Header)+len(c.HeaderSecrets))
	for name, value := range c.Header {
		headers[name] = value
	}
	for name, secret := range c.HeaderSecrets {
		headers[name] = secretOf{secret}
	}
	return headers
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
