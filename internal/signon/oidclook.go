package signon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
)

// addressError is the error of an address that the provider names and that does not answer
// as it should.
type addressError struct {
	member string // the name of the address in what the provider says of itself
	use    string
	err    error
}

// Error implements error.
func (a *addressError) Error() string { return fmt.Sprintf("its %s, %s: %v", a.member, a.use, a.err) }

// Unwrap returns what is wrong with the address.
func (a *addressError) Unwrap() error { return a.err }

// mostKeys bounds what is read of an answer of a provider.
const mostKeys = 1 << 20

// lookAt asks the addresses without which nobody can log in. They may be at other hosts than
// what the provider says of itself.
func (o *OIDC) lookAt(ctx context.Context, p *oidc.Provider) error {
	var says struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&says); err != nil {
		return err
	}
	if err := o.lookAtKeys(ctx, says.Keys); err != nil {
		return &addressError{"jwks_uri", "the address of its keys", err}
	}
	if err := o.lookAtTokens(ctx, p.Endpoint().TokenURL); err != nil {
		return &addressError{"token_endpoint", "the address of its tokens", err}
	}
	return nil
}

func (o *OIDC) get(ctx context.Context, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return o.client.Do(req)
}

// lookAtKeys wants a set of keys (RFC 7517, section 5).
func (o *OIDC) lookAtKeys(ctx context.Context, address string) error {
	answer, err := o.get(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer has the status %d", answer.StatusCode)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostKeys)).Decode(&set); err != nil {
		return fmt.Errorf("the answer is not a set of keys: %w", err)
	}
	if len(set.Keys) == 0 {
		return errors.New("the set of keys is empty")
	}
	return nil
}

// lookAtTokens wants an answer of the provider itself. Nothing is asked for: a GET is not a
// request for a token, and how it is refused differs.
func (o *OIDC) lookAtTokens(ctx context.Context, address string) error {
	answer, err := o.get(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is not read
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("the answer has the status %d", answer.StatusCode)
	}
	return nil
}
