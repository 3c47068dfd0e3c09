package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/errs"
)

// caching answers without what the client has already.
type caching struct{ *visit }

// mostChanged is of how many cases a list can be asked whether it has them.
const mostChanged = 100

// unchanged answers 204 if the list of the page has none of the cases that the request says have
// changed.
func (x caching) unchanged(h head) (bool, error) {
	if x.changed == nil {
		return false, nil
	}
	if h.Cases == nil || !x.query.Has("part") {
		return false, errs.New(errs.BadParameter, "changed goes with the part of a list of cases.")
	}
	ids := strings.Split(*x.changed, ",")
	if len(ids) > mostChanged {
		return false, errs.New(errs.BadParameter, "changed can be the numbers of %d cases at most.", mostChanged)
	}
	same := true
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return false, errs.New(errs.BadParameter, "changed can be numbers of cases with commas between them, not %q.", text)
		}
		same = same && !slices.Contains(h.Cases, id)
	}
	if same {
		x.headers("")
		x.w.WriteHeader(http.StatusNoContent)
	}
	return same, nil
}

// writeIfNew answers with HTML, or with 304 if the client has it. Pages with a form that acts
// once do not come here: a page that was kept has a key that may have been used.
func (x caching) writeIfNew(body []byte) error {
	sum := sha256.Sum256(body)
	header := x.w.Header()
	header.Set("ETag", `W/"`+hex.EncodeToString(sum[:16])+`"`)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Server-Timing", x.timing())
	whole := x.r.Clone(x.r.Context())
	whole.Header.Del("Range") // pages have no ranges
	http.ServeContent(x.w, whole, "", time.Time{}, bytes.NewReader(body))
	return nil
}
