package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/document"
	"flowdrive/route"
)

// Destination is a service that is told of notices.
type Destination struct {
	Template  string // how it is told: one of Templates
	URL       string // its address; "" if that is a secret
	URLSecret string // the name of the secret with its address
	Token     string // the name of the secret by which we log in there, "" for none
	Secret    string // the name of the secret that signs, "" for the default one; Template "standard" alone
}

// StandardTemplate tells a service by the payload itself.
const StandardTemplate = "standard"

// Templates returns the names of all templates, sorted.
func Templates() []string { return slices.Sorted(maps.Keys(templates())) }

// ID names the destination as long as it has the same address. It tells nothing of
// a secret.
func (d *Destination) ID() string {
	sum := sha256.Sum256([]byte(d.Template + "\x00" + d.URL + "\x00" + d.URLSecret + "\x00" + d.Token + "\x00" + d.Secret))
	return d.Template + "-" + hex.EncodeToString(sum[:6])
}

// NameOf says for people which destination it is, by its host alone.
func (g *Gateway) NameOf(d *Destination) string {
	text := d.URL
	if d.URLSecret != "" {
		text, _ = g.Secrets.Text(d.URLSecret)
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return d.Template + " at " + u.Host
	}
	return d.Template
}

// Refusal is what is wrong with a part of a destination or command, named as in the settings.
type Refusal struct{ Part, Detail string }

// RefusesDestination returns what is wrong with a destination.
func (g *Gateway) RefusesDestination(d *Destination) (wrong []Refusal) {
	refuse := func(part, detail string) {
		if detail != "" {
			wrong = append(wrong, Refusal{part, detail})
		}
	}
	t, known := templates()[d.Template]
	if !known {
		refuse("template", fmt.Sprintf("must be one of %s, not %q%s", strings.Join(Templates(), ", "), d.Template, document.Hint(d.Template, Templates())))
	}
	address := d.URL
	if d.URLSecret != "" {
		refuse("webhook", g.RefusesSecret(nil, route.ReachSecretURL, d.URLSecret))
		address, _ = g.Secrets.Text(d.URLSecret)
	} else {
		refuse("webhook", g.RefusesURL(d.URL))
	}
	if u, err := url.Parse(address); err == nil && t.fits != nil && len(wrong) == 0 {
		refuse("webhook", t.fits(u))
	}
	if d.Token != "" {
		if known && t.header == "" {
			refuse("token", "is not for the template "+d.Template+", whose address is the secret")
		} else {
			refuse("token", g.RefusesSecret(nil, route.ReachSecretText, d.Token))
		}
	}
	if d.Secret != "" {
		refuse("sign", g.RefusesSecret(nil, route.ReachSecret, d.Secret))
		if known && d.Template != StandardTemplate {
			refuse("sign", "is for the template standard alone")
		}
	}
	return wrong
}

// announce tells a destination. What must not be told of it is added to h.
func (g *Gateway) announce(ctx context.Context, key string, b *outbox.Bulletin, h *hidden) error {
	i := slices.IndexFunc(g.Destinations, func(d Destination) bool { return d.ID() == b.Destination })
	if i < 0 {
		return final("the settings do not have this destination any more")
	}
	call, err := g.announcement(&g.Destinations[i], key, b, h)
	if err != nil {
		return err
	}
	_, err = g.call(ctx, key, call, h)
	return err
}

// announcement writes the request by which a destination is told.
func (g *Gateway) announcement(d *Destination, key string, b *outbox.Bulletin, h *hidden) (*outbox.HTTPCall, error) {
	t := templates()[d.Template]
	call, err := g.fillInCall(nil, &outbox.HTTPCall{
		Method: t.method, URL: d.URL, URLSecret: d.URLSecret, Header: map[string]string{}, MediaType: "application/json", Body: b.Body,
		Secret: d.Secret, Unsigned: d.Template != StandardTemplate,
	}, h)
	if err != nil {
		return nil, err
	}
	h.addURL(call.URL) // also if the settings have it in the clear
	if d.Token != "" {
		token, err := g.secret(nil, route.ReachSecretText, d.Token)
		if err != nil {
			return nil, err
		}
		h.add(token)
		if t.bearer {
			token = "Bearer " + token
		}
		call.Header[t.header] = token
	}
	if t.write == nil {
		return call, nil
	}
	var p notice.Payload
	if err := json.Unmarshal(b.Body, &p); err != nil {
		return nil, final("the notice cannot be read: %v", err)
	}
	u, err := url.Parse(call.URL)
	if err != nil {
		return nil, final("the address is not a URL")
	}
	to, body := t.write(u, key, &p)
	call.URL = to.String()
	call.Body = document.Line(body)
	return call, nil
}
