package signon

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
)

// hostile is a provider of OpenID Connect that sends whatever a test wants, so that it can
// be seen what is believed.
type hostile struct {
	*httptest.Server
	key      *rsa.PrivateKey
	token    func(claims map[string]any) string // the ID token; nil: a good one
	claims   func(claims map[string]any)        // changes what the good one says
	says     map[string]any                     // of itself, in place of what is right
	info     map[string]any                     // what the address of user information says, nil: 404
	verifier string                             // as it came with the last code
	refuses  [2]string                          // the status and the error in place of a token
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{key: key}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *hostile) serve(w http.ResponseWriter, r *http.Request) {
	var answer any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		says := map[string]any{
			"issuer": h.URL, "authorization_endpoint": h.URL + "/auth", "token_endpoint": h.URL + "/token",
			"jwks_uri": h.URL + "/keys", "userinfo_endpoint": h.URL + "/info", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		}
		for name, value := range h.says {
			says[name] = value
		}
		answer = says
	case "/keys":
		text := base64.RawURLEncoding.EncodeToString
		answer = map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "n": text(h.key.N.Bytes()), "e": text(big.NewInt(int64(h.key.E)).Bytes()),
		}}}
	case "/token":
		h.verifier = r.PostFormValue("code_verifier")
		if status, err := strconv.Atoi(h.refuses[0]); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error": "`+h.refuses[1]+`"}`)
			return
		}
		now := time.Now()
		claims := map[string]any{
			"iss": h.URL, "aud": "flowdrive", "sub": "5f2c", "nonce": "the nonce", "preferred_username": "ann", "email": "ann@example.org",
			"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}
		if h.claims != nil {
			h.claims(claims)
		}
		token := h.signed
		if h.token != nil {
			token = h.token
		}
		answer = map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": token(claims)}
	case "/info":
		if h.info == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer = h.info
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

// jwt puts a token together.
func jwt(algorithm string, claims map[string]any, sign func(text string) []byte) string {
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": algorithm, "kid": "1", "typ": "JWT"}) + "." + part(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(text))
}

func (h *hostile) signed(claims map[string]any) string { return signedBy(h.key, claims) }

func signedBy(key *rsa.PrivateKey, claims map[string]any) string {
	return jwt("RS256", claims, func(text string) []byte {
		sum := sha256.Sum256([]byte(text))
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		return signature
	})
}

// TestTokensThatAreNotBelieved: an ID token logs nobody in unless the provider has signed it
// with its own key, for this server, for this log-in and for now.
func TestTokensThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) func(*hostile) {
		return func(h *hostile) { h.claims = func(c map[string]any) { c[name] = value } }
	}
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	for _, test := range []struct {
		name   string
		change func(h *hostile)
		want   string // part of the refusal, "" if it logs in
	}{
		{"a good one", func(*hostile) {}, ""},
		{"without a signature", func(h *hostile) {
			h.token = func(c map[string]any) string { return jwt("none", c, func(string) []byte { return nil }) }
		}, "not valid"},
		{"signed with the public key as a secret", func(h *hostile) {
			h.token = func(c map[string]any) string {
				return jwt("HS256", c, func(text string) []byte {
					public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&h.key.PublicKey)})
					mac := hmac.New(sha256.New, public)
					_, _ = mac.Write([]byte(text)) // never fails
					return mac.Sum(nil)
				})
			}
		}, "not valid"},
		{"signed with another key", func(h *hostile) { h.token = func(c map[string]any) string { return signedBy(other, c) } }, "not valid"},
		{"changed after it was signed", func(h *hostile) {
			h.token = func(c map[string]any) string {
				signed := strings.Split(h.signed(c), ".")
				c["sub"] = "admin"
				return strings.Split(h.signed(c), ".")[0] + "." + strings.Split(h.signed(c), ".")[1] + "." + signed[2]
			}
		}, "not valid"},
		{"no token", func(h *hostile) { h.token = func(map[string]any) string { return "" } }, "not valid"},
		{"of another issuer", set("iss", "https://evil.example.org"), "of another provider"},
		{"for another server", set("aud", "another"), "for another program"},
		{"expired", set("exp", ago(time.Minute)), "had expired at"},
		{"without an end", set("exp", nil), "not valid"},
		{"that does not say when it ends", func(h *hostile) { h.claims = func(c map[string]any) { delete(c, "exp") } }, "does not say how long"},
		{"of the future", set("nbf", ago(-time.Hour)), "not valid yet"},
		{"of a clock that is a minute ahead", func(h *hostile) {
			h.claims = func(c map[string]any) { c["nbf"], c["iat"] = ago(-time.Minute), ago(-time.Minute) }
		}, ""},
		{"of another log-in", set("nonce", "another"), "another log-in"},
		{"of no log-in", set("nonce", nil), "another log-in"},
		{"of nobody", set("sub", ""), "how the user is called"},
		{"without a name", set("preferred_username", nil), "who that is"},
		{"with a number for a name", set("preferred_username", 7), "how the user is called"},
		{"with a name elsewhere", func(h *hostile) {
			set("preferred_username", nil)(h)
			h.info = map[string]any{"sub": "5f2c", "preferred_username": "ann"}
		}, ""},
		{"with the name of somebody else elsewhere", func(h *hostile) {
			set("preferred_username", nil)(h)
			h.info = map[string]any{"sub": "another", "preferred_username": "admin"}
		}, "who that is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			test.change(h)
			o := NewOIDC(OIDCConfig{Issuer: h.URL, ClientID: "flowdrive", Callback: "http://example.com/login/oidc/callback"})
			who, err := o.Finish(t.Context(), "code", "the nonce", "the verifier")
			if test.want == "" && (err != nil || who.Origin != "oidc "+h.URL+" 5f2c" || who.Name != "ann") {
				t.Errorf("got %+v, %v", who, err)
			}
			if test.want != "" && (!errs.Is(err, errs.LogIn) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %+v, %v, want %q", who, err, test.want)
			}
			if h.verifier != "the verifier" {
				t.Errorf("the provider got the verifier %q", h.verifier)
			}
		})
	}
}

// TestProvidersThatAreNotBelieved: a provider that is somebody else, or answers with
// something else than it should, logs nobody in.
func TestProvidersThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	h.says = map[string]any{"issuer": "https://evil.example.org"}
	o := NewOIDC(OIDCConfig{Issuer: h.URL, ClientID: "flowdrive"})
	if _, err := o.Begin(t.Context(), "s", "n", "v"); !errs.Is(err, errs.Unavailable) || !strings.Contains(err.Error(), "calls itself something else") {
		t.Errorf("a provider with another name: %v", err)
	}
	h.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>down for maintenance</html>")
	})
	if _, err := o.Begin(t.Context(), "s", "n", "v"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a page in place of an answer: %v", err)
	}
}

// TestProviderIsLookedAt: what keeps everybody from logging in is known without anybody who
// asks, and from the log-in that has shown it until one is good; what one person has done wrong
// is not.
func TestProviderIsLookedAt(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	o := NewOIDC(OIDCConfig{Issuer: h.URL, ClientID: "flowdrive"})
	finish := func(nonce string) { _, _ = o.Finish(t.Context(), "code", nonce, "v") } // what it says is looked at elsewhere
	said := func() string {
		t.Helper()
		if err := o.Look(t.Context()); err != nil {
			return Why(err)
		}
		return ""
	}
	check := func(what, want string) {
		t.Helper()
		if got := said(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: it says %q, want %q", what, got, want)
		}
	}
	check("it answers", "")
	finish("of somebody else")
	check("a log-in that is not taken", "")
	h.refuses = [2]string{"400", "invalid_grant"}
	finish("the nonce")
	check("a code that is not taken", "")
	h.refuses = [2]string{"503", ""}
	if _, err := o.Finish(t.Context(), "code", "the nonce", "v"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("an address of tokens that is away: %v", err)
	}
	h.refuses = [2]string{"401", "invalid_client"}
	finish("the nonce")
	check("a secret that has expired", "it refuses this server")
	h.refuses = [2]string{}
	finish("of somebody else")
	check("until a log-in is good", "it refuses this server")
	finish("the nonce")
	check("a good one", "")
	h.claims = func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }
	finish("the nonce")
	check("a clock that is off", "set the clocks of both")
	h.claims = nil
	finish("the nonce")
	check("a good one again", "")
	away := httptest.NewServer(http.NotFoundHandler())
	gone := away.URL
	h.says = map[string]any{"token_endpoint": gone + "/token"}
	check("an address of tokens at another host, which refuses a GET in its own way", "")
	away.Close()
	check("an address of tokens that is away", "the address of its tokens (token_endpoint): it cannot be reached")
	h.says = map[string]any{"jwks_uri": gone + "/keys"}
	check("an address of keys that is away", "the address of its keys (jwks_uri): it cannot be reached")
	if err := NewOIDC(OIDCConfig{Issuer: h.URL, ClientID: "flowdrive"}).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "its jwks_uri, the address of its keys: ") {
		t.Errorf("those who run the server are told %v", err)
	}
	h.says = map[string]any{"jwks_uri": h.URL + "/info"}
	check("an address of keys that has none", "the address of its keys (jwks_uri): it does not answer as it should")
	h.says = nil
	h.refuses = [2]string{"503", ""}
	check("an address of tokens behind a proxy whose server is away", "the address of its tokens (token_endpoint): it does not answer as it should")
	h.refuses = [2]string{}
	check("it answers again", "")
	h.says = map[string]any{"issuer": "https://evil.example.org"}
	check("another name", "oidc-issuer")
	h.Close()
	check("it is away", "it cannot be reached")
}

// TestClaims: what a provider says of mail and groups is taken as far as it is certain.
func TestClaims(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	o := NewOIDC(OIDCConfig{Issuer: h.URL, ClientID: "flowdrive"})
	for _, test := range []struct {
		name   string
		claims map[string]any
		email  string
		groups []string
	}{
		{"nothing said of groups", map[string]any{}, "ann@example.org", nil},
		{"mail that is verified", map[string]any{"email_verified": true}, "ann@example.org", nil},
		{"mail that is not", map[string]any{"email_verified": false}, "", nil},
		{"the same as a text", map[string]any{"email_verified": "false"}, "", nil},
		{"groups", map[string]any{"groups": []string{"b", "a"}}, "ann@example.org", []string{"a", "b"}},
		{"one group as a text", map[string]any{"groups": "a"}, "ann@example.org", []string{"a"}},
		{"no groups", map[string]any{"groups": []string{}}, "ann@example.org", nil},
		{"groups that are a number", map[string]any{"groups": 7}, "ann@example.org", nil},
		{"groups that are an object", map[string]any{"groups": map[string]any{"a": true}}, "ann@example.org", nil},
		{"groups, one of them a number", map[string]any{"groups": []any{"a", 7, "b"}}, "ann@example.org", []string{"a", "b"}},
	} {
		h.claims = func(c map[string]any) {
			for name, value := range test.claims {
				c[name] = value
			}
		}
		who, err := o.Finish(t.Context(), "code", "the nonce", "v")
		if err != nil || who.Email != test.email || !slices.Equal(who.Groups, test.groups) {
			t.Errorf("%s: %+v, %v", test.name, who, err)
		}
	}
}
