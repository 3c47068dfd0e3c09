package davfs

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/internal/errs"
)

// meaninglessTypes are the media types that programs give to the body of any request,
// whether it says anything or not.
var meaninglessTypes = []string{
	"", "application/json", "application/octet-stream", "application/x-www-form-urlencoded", "application/xml", "text/html", "text/plain", "text/xml",
}

// checkFolderBody answers errs.MediaType if the body of a MKCOL says what else to make
// than a folder (RFC 4918, section 9.3): it has a type of its own, or is an extended
// MKCOL (RFC 5689) of something else. Any other body is passed over: some sync programs
// send one with every request and give up at a 415.
func checkFolderBody(r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	body, err := readXML(r)
	if err != nil || len(body) == 0 {
		return err
	}
	kind := r.Header.Get("Content-Type")
	if parsed, _, err := mime.ParseMediaType(kind); err == nil {
		kind = parsed
	}
	if !slices.Contains(meaninglessTypes, strings.ToLower(kind)) {
		return errs.New(errs.MediaType, "MKCOL makes a folder and takes no body of the type %q; send none.", kind)
	}
	if !dav.MakesFolder(body) {
		return errs.New(errs.MediaType, "This MKCOL asks for more than a folder (RFC 5689), which cannot be made here; send no body, and set properties afterwards.")
	}
	return nil
}
