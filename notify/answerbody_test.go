package notify

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"flowdrive/engine/outbox"
)

// TestAnswerOfFailure: the beginning of an answer that is an error goes with it, with its
// type and without the secrets that the request has used.
func TestAnswerOfFailure(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", outbox.MostKept+1000)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, map[string]string{"/long": long, "/secret": `{"got": "` + r.Header.Get("X-Key") + `"}`}[r.URL.Path])
	})
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1"), Secrets: secretsOf(t, map[string]string{"key": "tk_0123456789"})})
	for _, test := range []struct{ path, mediaType, content string }{
		{"/long?type=text/plain", "text/plain", long[:outbox.MostKept]},
		{"/secret?type=application/json", "application/json", `{"got": "[secret]"}`},
		{"/none?type=text/html", "text/html", ""},
	} {
		d := get(s.URL + test.path)
		d.Key, d.HTTP.HeaderSecrets = "key", map[string]string{"X-Key": "key"}
		_, err := g.Deliver(t.Context(), d)
		failed, is := errors.AsType[*outbox.Failed](err)
		if !is || failed.Status != http.StatusBadRequest || failed.Body == nil || failed.Body.MediaType != test.mediaType || string(failed.Body.Content) != test.content {
			t.Errorf("%s: %+v (%v)", test.path, failed, err)
		}
	}
}
