package route

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"flowdrive/internal/document"
)

// outsides warns of steps that reach beyond the server, in the order of the document: of
// secrets that stand in a place that takes none, of credentials that are written out, and
// of a list in retry that has no effect.
func (w *warner) outsides(steps []outsideStep) {
	for _, s := range steps {
		s.at.Faults = w.root.Faults
		w.misplacedSecrets(s)
		if s.verb == StepHTTP {
			w.credentials(s.at)
		}
		w.vainRetry(s.at.Get("retry"))
	}
}

// outsideStep is a step that reaches beyond the server, as the document has it.
type outsideStep struct {
	verb Verb
	at   document.Value
}

// writtenSecret finds the form of a secret within a text, in which it has no effect.
var writtenSecret = regexp.MustCompile(`\{\s*"?secret"?\s*:`)

// misplacedSecrets warns of {secret: …} in the parts of a step that do not take it.
func (w *warner) misplacedSecrets(s outsideStep) {
	for i := range s.at.Node.Members {
		key, member := s.at.Member(i)
		w.secretsBelow(s.verb, key, member)
	}
}

func (w *warner) secretsBelow(verb Verb, part string, v document.Value) {
	switch v.Node.Kind {
	case document.String:
		if writtenSecret.MatchString(v.Node.Text) {
			w.warn(v, "has {secret: …} within a text, which is sent as it stands: a secret is the whole value, so put all of the text into the secret")
		}
	case document.List:
		for i := range v.Node.Items {
			w.secretsBelow(verb, part, v.Item(i))
		}
	case document.Object:
		if isSecretForm(v.Node) && !takesSecret(verb, part) {
			w.warn(v, "is sent as it stands: a secret is put in only %s", secretPlaces(verb))
			return
		}
		for i := range v.Node.Members {
			_, member := v.Member(i)
			w.secretsBelow(verb, part, member)
		}
	default: // holds no text
	}
}

// isSecretForm reports whether the value is {secret: <name>}.
func isSecretForm(n *document.Node) bool {
	return len(n.Members) == 1 && n.Members[0].Key == "secret" && n.Members[0].Value.Kind == document.String
}

// takesSecret reports whether a secret is put in for {secret: …} in that part of a step.
// What the schema refuses anyway is not judged here.
func takesSecret(verb Verb, part string) bool {
	return !(verb == StepHTTP && part == "value" || verb == StepCall && part == "value")
}

func secretPlaces(verb Verb) string {
	if verb == StepHTTP {
		return "as url, as the value of a header and as secret, by which the request is signed"
	}
	return "by http and mail"
}

// credentials warns of what looks like a password or token that is written out in a
// request: everyone who reads the route, its versions and its cases reads it.
func (w *warner) credentials(v document.Value) {
	const instead = "; use {secret: <name>}, whose text an administrator sets"
	if at := v.Get("url"); isKind(at, document.String) {
		if name := credentialIn(at.Node.Text); name != "" {
			w.warn(at, "has a credential (%s) that everyone reads who reads the route%s as the whole url", clip(name), instead)
		}
	}
	headers := v.Get("headers")
	if !isKind(headers, document.Object) {
		return
	}
	for i := range headers.Node.Members {
		name, member := headers.Member(i)
		if isKind(member, document.String) && isLiteral(member.Node.Text) && isCredential(name) && !writtenSecret.MatchString(member.Node.Text) {
			w.warn(member, "is a credential that everyone reads who reads the route%s", instead)
		}
	}
}

// credentialIn returns the name of a parameter in the query of an address that is a
// credential by its name, "" for none. One with labels says what is of the case.
func credentialIn(address string) string {
	_, query, _ := strings.Cut(address, "?")
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if isLiteral(value) && isCredential(name) {
			return name
		}
	}
	return ""
}

// isLiteral reports whether there is something in the text and no label.
func isLiteral(text string) bool {
	return strings.TrimSpace(text) != "" && !strings.Contains(text, "$")
}

// isCredential reports whether what has that name, of a header or parameter, proves who
// sends a request.
func isCredential(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	known := []string{"authorization", "cookie", "password", "passwd", "token", "secret", "apikey", "sig", "signature", "credentials"}
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(known, word) }) {
		return true
	}
	joined := strings.Join(words, "")
	return slices.ContainsFunc([]string{"apikey", "accesskey", "authkey", "accesstoken", "authtoken", "clientsecret"}, func(end string) bool { return strings.HasSuffix(joined, end) })
}

// vainRetry warns of an empty list of that after which a step is tried again: it is as if
// there were none.
func (w *warner) vainRetry(v document.Value) {
	if on := v.Get("on"); isKind(on, document.List) && len(on.Node.Items) == 0 {
		w.warn(on, "is empty and has no effect: the step is tried again as without on. times: 0 has it never tried again")
	}
}
