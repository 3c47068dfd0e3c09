package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
)

// Document is a document of the drive as the server sent it. The types of this package
// that hold one have the fields that programs need most.
type Document struct{ raw json.RawMessage }

// Raw returns the document as the server sent it.
func (d *Document) Raw() json.RawMessage { return d.raw }

func (d *Document) setRaw(raw json.RawMessage) { d.raw = raw }

// keeper is a pointer to a type with a Document.
type keeper[T any] interface {
	*T
	setRaw(raw json.RawMessage)
}

func parse[T any, P keeper[T]](raw json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("the answer of the server cannot be read: %w", err)
	}
	P(&v).setRaw(raw)
	return v, nil
}

// get reads one document.
func get[T any, P keeper[T]](ctx context.Context, c *Client, path string) (T, error) {
	body, _, err := c.read(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		var none T
		return none, err
	}
	return parse[T, P](body)
}

// list reads the documents of a listing one after the other, as they come.
func list[T any, P keeper[T]](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		resp, err := c.send(ctx, request{method: http.MethodGet, path: path, query: query})
		if err != nil {
			yield(none, err)
			return
		}
		err = eachOf(resp, func(raw json.RawMessage) (more bool) {
			v, err := parse[T, P](raw)
			return yield(v, err) && err == nil
		})
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			yield(none, c.unreachable(err))
		}
	}
}

// eachOf calls f with the members of an array in an answer, until it returns false.
func eachOf(resp *http.Response, f func(json.RawMessage) bool) error {
	dec := json.NewDecoder(resp.Body)
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if !f(raw) {
			return nil
		}
	}
	_, err := dec.Token()
	return err
}

// Collect returns all that a listing yields, or its error.
func Collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// putJSON sends a document with an Idempotency-Key.
func (c *Client) putJSON(ctx context.Context, path string, document any) (http.Header, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	_, header, err := c.read(ctx, request{method: http.MethodPut, path: path, body: data, header: jsonHeader()}.keyed())
	return header, err
}

// putForForm sends a document with an Idempotency-Key, and reads the complete form that
// became of it.
func putForForm[T any, P keeper[T]](ctx context.Context, c *Client, r request) (T, error) {
	r.method = http.MethodPut
	r.header = withHeader(r.header, "Prefer", "return=representation")
	body, _, err := c.read(ctx, r.keyed())
	if err != nil || len(body) == 0 { // a scenario has no complete form
		var none T
		return none, err
	}
	return parse[T, P](body)
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }
