package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
)

// Secrets sign what is sent, each by its name.
type Secrets struct{ keys map[string][]byte }

// defaultSecret signs what names no secret.
const defaultSecret = "default"

// ParseSecrets reads secrets: texts as they are, or in the form of Standard
// Webhooks, "whsec_" and the key in base64. One error has all faults, a line
// each. It does not contain a secret.
func ParseSecrets(texts map[string]string) (Secrets, error) {
	const least = 16 // bytes, less than which can be guessed from what is signed
	s := Secrets{keys: map[string][]byte{}}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		key := []byte(texts[name])
		if encoded, ok := strings.CutPrefix(texts[name], "whsec_"); ok {
			var err error
			if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
				faults = append(faults, fmt.Errorf("%s: what follows whsec_ must be base64", name))
				continue
			}
		}
		if len(key) < least {
			faults = append(faults, fmt.Errorf("%s: has only %d bytes and can be guessed; it needs at least %d", name, len(key), least))
		}
		s.keys[name] = key
	}
	return s, errors.Join(faults...)
}

// named returns the key of that name, or the default one for "". It is nil if
// there is no such key.
func (s Secrets) named(name string) []byte {
	if name == "" {
		name = defaultSecret
	}
	return s.keys[name]
}

// RefusesSecret implements engine.Outside.
func (g *Gateway) RefusesSecret(name string) string {
	if g.Secrets.keys[name] != nil {
		return ""
	}
	known := slices.Sorted(maps.Keys(g.Secrets.keys))
	return fmt.Sprintf("there is no secret %q%s; an administrator adds it with the setting secrets", name, document.Hint(name, known))
}

// sign makes the header say who sends the body, when, and as which message
// (Standard Webhooks 1.0). Without a key it says the latter two.
func sign(header http.Header, key []byte, id string, now time.Time, body []byte) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", stamp)
	if key == nil {
		return
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
