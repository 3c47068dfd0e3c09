// Package webhook signs requests, and says of those that come in whether their
// sender knows the secret: in the forms of Standard Webhooks, GitHub and Stripe, and
// by an HMAC of the body.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// Scheme is how a sender proves that it knows the secret.
type Scheme string

// The schemes.
const (
	None     Scheme = "none"
	Standard Scheme = "standard-webhooks"
	GitHub   Scheme = "github"
	Stripe   Scheme = "stripe"
	HMAC     Scheme = "hmac"
)

// Schemes are all there are.
func Schemes() []Scheme { return []Scheme{None, Standard, GitHub, Stripe, HMAC} }

// Tolerance is how far a time that a sender has signed may be from ours.
const Tolerance = 5 * time.Minute

const mostSignatures = 20 // of one request: senders sign with several keys while they change them

// Incoming is a request that came in.
type Incoming struct {
	Header map[string][]string // by canonical names
	Body   []byte
	Now    time.Time // of the machine
}

func (in *Incoming) get(name string) string {
	if values := in.Header[textproto.CanonicalMIMEHeaderKey(name)]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Check says how a request is judged.
type Check struct {
	Scheme Scheme
	Secret string // as an administrator has set it
	Header string // HMAC: of the signature; "": X-Signature, X-Signature-256 or X-Hub-Signature-256
}

// Verify returns nil if the sender of the request knows the secret, and has signed
// it now. Else the error says what is missing or wrong, as the sender may know it.
// Signatures are compared in constant time.
func (c Check) Verify(in *Incoming) error {
	for _, name := range c.headers() {
		if len(in.Header[textproto.CanonicalMIMEHeaderKey(name)]) > 1 {
			return fmt.Errorf("the header %s is there twice", name) // another reader may take the other one
		}
	}
	switch c.Scheme {
	case Standard:
		return c.standard(in)
	case GitHub, HMAC:
		return c.hexadecimal(in, c.headers()...)
	case Stripe:
		return c.stripe(in)
	case None:
	}
	return nil
}

// headers returns those by which a request is verified.
func (c Check) headers() []string {
	switch c.Scheme {
	case Standard:
		return []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}
	case GitHub:
		return []string{"X-Hub-Signature-256"}
	case Stripe:
		return []string{stripeHeader}
	case HMAC:
		if c.Header != "" {
			return []string{c.Header}
		}
		return []string{"X-Signature", "X-Signature-256", "X-Hub-Signature-256"}
	case None:
	}
	return nil
}

// Announced returns nil if the request may turn out to be signed: it has the headers
// that its scheme asks for, and was signed now by what they say. Its body need not be
// there yet.
func (c Check) Announced(in *Incoming) error {
	switch err := c.Verify(&Incoming{Header: in.Header, Now: in.Now}); {
	case err == nil, !errors.Is(err, errWrong):
		return err
	}
	switch c.Scheme {
	case Standard:
		return checkTime(in.get("Webhook-Timestamp"), in.Now)
	case Stripe:
		stamp, _ := stripeSignatures(in.get(stripeHeader))
		return checkTime(stamp, in.Now)
	case None, GitHub, HMAC:
	}
	return nil
}

// ID returns by what the sender knows the request: the same when it is sent again.
// It returns "" if the sender does not say.
func (c Check) ID(in *Incoming) string {
	switch c.Scheme {
	case GitHub:
		return in.get("X-GitHub-Delivery")
	case Stripe:
		var event struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(in.Body, &event) != nil {
			return ""
		}
		return event.ID
	case Standard:
		return in.get("Webhook-Id")
	case None, HMAC:
	}
	for _, name := range []string{"Idempotency-Key", "Webhook-Id"} {
		if id := in.get(name); id != "" {
			return id
		}
	}
	return ""
}

// KeyPrefix begins a secret that has its key in base64.
const KeyPrefix = "whsec_"

// Key returns the key of a secret of Standard Webhooks: what follows whsec_ in
// base64, or the text itself.
func Key(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(secret, KeyPrefix)
	if !ok {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("what follows whsec_ must be base64")
	}
	return key, nil
}

// Signature returns the signature of Standard Webhooks 1.0 of a message: "v1," and
// the HMAC in base64. stamp is its time in Unix seconds.
func Signature(key []byte, id, stamp string, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, []byte(id+"."+stamp+"."), body))
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

var errWrong = errors.New("the signature does not match the body and the secret")

func missing(header string) error { return fmt.Errorf("the header %s is missing", header) }

func (c Check) standard(in *Incoming) error {
	id, stamp, signatures := in.get("Webhook-Id"), in.get("Webhook-Timestamp"), in.get("Webhook-Signature")
	switch {
	case id == "":
		return missing("webhook-id")
	case stamp == "":
		return missing("webhook-timestamp")
	case signatures == "":
		return missing("webhook-signature")
	}
	key, err := Key(c.Secret)
	if err != nil {
		return errWrong // the operator is told by the setting's own check
	}
	want := []byte(Signature(key, id, stamp, in.Body))
	for i, signature := range strings.Fields(signatures) {
		if i < mostSignatures && hmac.Equal([]byte(signature), want) {
			return checkTime(stamp, in.Now)
		}
	}
	return errWrong
}

func (c Check) stripe(in *Incoming) error {
	text := in.get(stripeHeader)
	if text == "" {
		return missing(stripeHeader)
	}
	stamp, signatures := stripeSignatures(text)
	want := mac([]byte(c.Secret), []byte(stamp+"."), in.Body)
	for _, signature := range signatures[:min(len(signatures), mostSignatures)] {
		if given, err := hex.DecodeString(signature); err == nil && hmac.Equal(given, want) {
			return checkTime(stamp, in.Now)
		}
	}
	return errWrong
}

const stripeHeader = "Stripe-Signature"

// stripeSignatures returns the time and the signatures in a header of Stripe.
func stripeSignatures(text string) (stamp string, signatures []string) {
	for part := range strings.SplitSeq(text, ",") {
		switch key, value, _ := strings.Cut(strings.TrimSpace(part), "="); key {
		case "t":
			stamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	return stamp, signatures
}

// hexadecimal compares the HMAC of the body with the first of the headers that is
// there: hexadecimal or base64, with or without "sha256=" before it.
func (c Check) hexadecimal(in *Incoming, names ...string) error {
	for _, name := range names {
		text := strings.TrimPrefix(strings.TrimSpace(in.get(name)), "sha256=")
		if text == "" {
			continue
		}
		given, err := hex.DecodeString(text)
		if err != nil && c.Scheme == HMAC {
			given, err = base64.StdEncoding.DecodeString(text)
		}
		if err == nil && hmac.Equal(given, mac([]byte(c.Secret), in.Body)) {
			return nil
		}
		return errWrong
	}
	return missing(names[0])
}

// checkTime judges the time of a signature that matches.
func checkTime(stamp string, now time.Time) error {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the time of the signature is not a number of seconds")
	}
	if off := now.Sub(time.Unix(seconds, 0)).Abs(); off > Tolerance {
		return fmt.Errorf("the request was signed more than %d minutes ago or ahead; it may be repeated by somebody else, or a clock is wrong", int(Tolerance/time.Minute))
	}
	return nil
}
