package bucket

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/minio/minio-go/v7"

	"flowdrive/internal/errs"
)

// Refused says in words for people why a bucket cannot be used as it is asked for.
// Trying again does not help.
type Refused struct{ text string }

// Error returns the words.
func (r *Refused) Error() string { return r.text }

// failure translates an error of the store. What was refused is errs.Unavailable with
// a *Refused as its cause: only a start can tell whom to tell.
func (b *Bucket) failure(op string, err error) error {
	if err == nil {
		return nil
	}
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	if !answered {
		return unavailable(op, fmt.Errorf("%s: %w", b.config.Address, err))
	}
	if answer.Code == minio.NoSuchKey {
		return &errs.Error{Kind: errs.NotFound, Detail: "There is no such content.", Err: err}
	}
	if refused := b.refused(answer); refused != nil {
		return unavailable(op, refused)
	}
	return unavailable(op, fmt.Errorf("%s answers %d, %s: %w", b.config.Address, answer.StatusCode, answer.Code, err))
}

// refused returns what is to be done about an answer that the same request will get
// again, nil for others.
func (b *Bucket) refused(answer minio.ErrorResponse) error {
	host, _ := b.config.endpoint()
	switch {
	case answer.Code == minio.NoSuchBucket:
		return &Refused{fmt.Sprintf("there is no bucket %q at %s; make it, or correct the address", b.config.Bucket, host)}
	case b.config.Key == "" && answer.StatusCode == http.StatusForbidden:
		return &Refused{fmt.Sprintf("%s wants an access key for the bucket %q; give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", host, b.config.Bucket)}
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return &Refused{fmt.Sprintf("%s does not accept the access key for the bucket %q (%s); look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what the key may do", host, b.config.Bucket, answer.Code)}
	case answer.StatusCode == http.StatusMovedPermanently || answer.Code == "AuthorizationHeaderMalformed":
		return &Refused{fmt.Sprintf("the bucket %q is not in the region %s (%s); correct region=", b.config.Bucket, b.config.Region, answer.Code)}
	}
	return nil
}

func unavailable(op string, err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: "The store of contents does not answer as it should. Nothing was stored; try again.", Err: fmt.Errorf("%s: %w", op, err)}
}

// AsRefused returns the *Refused that an error has as its cause.
func AsRefused(err error) (*Refused, bool) { return errors.AsType[*Refused](err) }
