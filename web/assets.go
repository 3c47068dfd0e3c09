package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"flowdrive/internal/mediatype"
)

// Built are the files that the pages are drawn with, as tools/assets makes them: each as
// it is and compressed.
//
//go:embed assets/dist
var builtFiles embed.FS

// assets serves the files under the hash of their content, so that browsers keep them.
type assets struct{ files map[string]*asset } // by name

type asset struct {
	hash      string
	mediaType string
	plain     []byte
	encoded   map[string][]byte // by content coding
}

func newAssets() (*assets, error) {
	out := &assets{files: map[string]*asset{}}
	names, err := fs.Glob(builtFiles, "assets/dist/*")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for _, path := range names {
		content, err := fs.ReadFile(builtFiles, path)
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		name := strings.TrimPrefix(path, "assets/dist/")
		plain, coding := name, ""
		for _, c := range [...][2]string{{".br", "br"}, {".gz", "gzip"}} {
			if cut, ok := strings.CutSuffix(name, c[0]); ok {
				plain, coding = cut, c[1]
			}
		}
		a := out.files[plain]
		if a == nil {
			a = &asset{mediaType: mediatype.Of(plain), encoded: map[string][]byte{}}
			out.files[plain] = a
		}
		if coding != "" {
			a.encoded[coding] = content
			continue
		}
		sum := sha256.Sum256(content)
		a.plain, a.hash = content, hex.EncodeToString(sum[:6])
	}
	return out, nil
}

// href returns the address of a file. A file that is not there is a mistake of a
// template, which tests find.
func (a *assets) href(name string) string {
	file := a.files[name]
	if file == nil {
		return "/assets/none/" + name
	}
	return "/assets/" + file.hash + "/" + name
}

// ServeHTTP serves a file.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/assets/"), "/")
	file := a.files[name]
	h := w.Header()
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case file == nil || file.hash != hash || r.URL.RawQuery != "":
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Type", file.mediaType)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Vary", "Accept-Encoding")
	body := file.plain
	for _, coding := range [...]string{"br", "gzip"} {
		if encoded := file.encoded[coding]; encoded != nil && accepts(r.Header.Values("Accept-Encoding"), coding) {
			h.Set("Content-Encoding", coding)
			body = encoded
			break
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

// accepts reports whether a client takes the content coding (RFC 9110, section 12.5.3).
func accepts(accept []string, coding string) bool {
	for _, line := range accept {
		for one := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), coding) {
				weight = strings.ReplaceAll(weight, " ", "")
				return weight != "q=0" && !strings.HasPrefix(weight, "q=0.0")
			}
		}
	}
	return false
}
