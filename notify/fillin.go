package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"flowdrive/engine/outbox"
	"flowdrive/internal/webhook"
	"flowdrive/route"
)

// fillIn returns the delivery with its secrets in their places, and what must not
// be told of them. The delivery itself stays as it was: it is stored and logged.
// An unknown secret, or one that does not fit, is a *outbox.Final with its name.
func (g *Gateway) fillIn(d *outbox.Delivery) (*outbox.Delivery, *hidden, error) {
	out, h := *d, &hidden{}
	var err error
	switch {
	case d.HTTP != nil:
		out.HTTP, err = g.fillInCall(d.By, d.HTTP, h)
	case d.Mail != nil:
		out.Mail, err = g.fillInMail(d.By, d.Mail, h)
	case d.Exec != nil:
		for _, name := range g.Commands.named[d.Exec.Name].Hidden {
			h.add(g.Commands.named[d.Exec.Name].Env[name])
		}
	}
	return &out, h, err
}

// secret returns a secret for a use by an author, nil for the settings.
func (g *Gateway) secret(by *outbox.Author, use route.ReachKind, name string) (string, error) {
	if reason := g.RefusesSecret(by, use, name); reason != "" {
		return "", &outbox.Final{Reason: reason}
	}
	text, _ := g.Secrets.Text(name)
	return text, nil
}

func (g *Gateway) fillInCall(by *outbox.Author, c *outbox.HTTPCall, h *hidden) (*outbox.HTTPCall, error) {
	out := *c
	if c.URLSecret != "" {
		text, err := g.secret(by, route.ReachSecretURL, c.URLSecret)
		if err != nil {
			return nil, err
		}
		out.URL = text
		h.addURL(text)
	}
	if len(c.HeaderSecrets) > 0 {
		out.Header = maps.Clone(c.Header)
		if out.Header == nil {
			out.Header = map[string]string{}
		}
	}
	for _, header := range slices.Sorted(maps.Keys(c.HeaderSecrets)) {
		text, err := g.secret(by, route.ReachSecretText, c.HeaderSecrets[header])
		if err != nil {
			return nil, err
		}
		if by != nil {
			if err := g.boundHost(c.HeaderSecrets[header], out.URL); err != nil {
				return nil, err
			}
		}
		out.Header[header] = text
		h.add(text)
		if _, credentials, found := strings.Cut(text, " "); found { // Bearer …
			h.add(credentials)
		}
	}
	if by != nil && c.Secret != "" {
		if _, err := g.signer(by, c); err != nil {
			return nil, err
		}
		if err := g.boundHost(c.Secret, out.URL); err != nil {
			return nil, err
		}
	}
	h.addKey(g.Secrets, g.signing(c)) // not sent, but a service that shares it can say it
	return &out, nil
}

// boundHost returns why a secret may not go to the host of an address.
func (g *Gateway) boundHost(name, address string) error {
	to, err := url.Parse(address)
	if err != nil {
		return final("the address is not a valid URL")
	}
	if wrong := g.Secrets.refusesHost(name, to); wrong != "" {
		return final("the secret %q %s", name, wrong)
	}
	return nil
}

func (g *Gateway) fillInMail(by *outbox.Author, m *outbox.Mail, h *hidden) (*outbox.Mail, error) {
	out := *m
	out.To = slices.Clone(m.To)
	for _, name := range m.ToSecrets {
		text, err := g.secret(by, route.ReachSecretMail, name)
		if err != nil {
			return nil, err
		}
		for _, address := range addressesOf(text) {
			out.To = append(out.To, address)
			h.add(address)
		}
	}
	if m.TextSecret != "" {
		text, err := g.secret(by, route.ReachSecretBody, m.TextSecret)
		if err != nil {
			return nil, err
		}
		if by != nil {
			if wrong := g.Secrets.refusesReaders(m.TextSecret, out.To); wrong != "" {
				return nil, final("the secret %q %s", m.TextSecret, wrong)
			}
		}
		out.Text = text
		h.add(text)
	}
	return &out, nil
}

// hidden are texts that must not be told: those of the secrets of one delivery.
// What a service or a command says may repeat them.
type hidden struct{ texts []string }

const (
	inPlace     = "[secret]"
	leastHidden = 4 // bytes; less would be found everywhere
	leastPart   = 8 // bytes of a part of a URL, which else may be a word
)

// add hides a text, also as it is written in JSON and in a URL.
func (h *hidden) add(text string) {
	text = strings.TrimSpace(text)
	if len(text) < leastHidden {
		return
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = nil // a text always has a form
	}
	for _, spelling := range []string{text, strings.Trim(string(quoted), `"`), url.QueryEscape(text), url.PathEscape(text)} {
		if spelling != "" && !slices.Contains(h.texts, spelling) {
			h.texts = append(h.texts, spelling)
		}
	}
	// Longer ones first: one may be a part of another.
	slices.SortStableFunc(h.texts, func(a, b string) int { return len(b) - len(a) })
}

// addKey hides the secret of that name, which signs, also without what says that its key is in base64.
func (h *hidden) addKey(s Secrets, name string) {
	text, _ := s.Text(name)
	h.add(text)
	h.add(strings.TrimPrefix(strings.TrimSpace(text), webhook.KeyPrefix))
}

// addURL hides an address and its parts, except its host.
func (h *hidden) addURL(text string) {
	h.add(text)
	u, err := url.Parse(text)
	if err != nil {
		return
	}
	parts := append(strings.Split(u.Path, "/"), u.RequestURI(), u.Path, u.RawQuery)
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	slices.Sort(parts)
	for _, part := range parts {
		if len(part) >= leastPart {
			h.add(part)
		}
	}
}

// in returns the text without what must not be told.
func (h *hidden) in(text string) string {
	for _, secret := range h.texts {
		text = strings.ReplaceAll(text, secret, inPlace)
	}
	return text
}

// bytes is in, of bytes; what has nothing hidden in it stays as it is.
func (h *hidden) bytes(content []byte) []byte {
	for _, secret := range h.texts {
		if bytes.Contains(content, []byte(secret)) {
			content = bytes.ReplaceAll(content, []byte(secret), []byte(inPlace))
		}
	}
	return content
}

// piece is bytes, of a piece of what is written: it may end within a text of which the
// rest is still to come, and begin within one if what came before is not kept.
func (h *hidden) piece(content []byte, cut bool) []byte {
	content = h.bytes(content)
	head, tail := 0, 0
	for _, secret := range h.texts {
		most := min(len(secret)-1, len(content))
		for n := most; n > tail && n >= leastHidden; n-- {
			if bytes.HasSuffix(content, []byte(secret[:n])) {
				tail = n
			}
		}
		for n := most; cut && n > head && n >= leastHidden; n-- {
			if bytes.HasPrefix(content, []byte(secret[len(secret)-n:])) {
				head = n
			}
		}
	}
	if tail > 0 {
		content = append(content[:len(content)-tail:len(content)-tail], inPlace...)
	}
	if head > 0 && head+tail <= len(content) {
		content = append([]byte(inPlace), content[head:]...)
	}
	return content
}

// outcome returns what became of an attempt, without what must not be told.
func (h *hidden) outcome(r *outbox.Reply, err error) (*outbox.Reply, error) {
	if len(h.texts) == 0 {
		return r, err
	}
	if r != nil {
		r.Content, r.MediaType = h.bytes(r.Content), h.in(r.MediaType)
	}
	return r, h.failure(err)
}

// failure returns the error without what must not be told, of the same kind.
func (h *hidden) failure(err error) error {
	if failed, is := errors.AsType[*outbox.Failed](err); is {
		told := *failed
		told.Output, told.Err = h.in(failed.Output), h.failure(failed.Err)
		return &told
	}
	if err == nil || h.in(err.Error()) == err.Error() {
		return err
	}
	if final, is := errors.AsType[*outbox.Final](err); is {
		told := *final
		told.Reason = h.in(told.Reason)
		return &told
	}
	if later, is := errors.AsType[*outbox.Later](err); is {
		told := *later
		told.Err = errors.New(h.in(later.Err.Error()))
		return &told
	}
	return &hushed{text: h.in(err.Error()), err: err}
}

// hushed is an error whose own text must not be told.
type hushed struct {
	text string
	err  error
}

func (e *hushed) Error() string { return e.text }

// Is keeps what kind of error it is.
func (e *hushed) Is(target error) bool { return errors.Is(e.err, target) }
