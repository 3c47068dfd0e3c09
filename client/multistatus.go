package client

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"path"
	"strings"
)

const propfindBody = `<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/><getcontenttype/></prop></propfind>`

// multistatus is what of an answer to PROPFIND is needed.
type multistatus struct {
	Responses []struct {
		Href  string `xml:"href"`
		Props []struct {
			Collection *struct{} `xml:"prop>resourcetype>collection"`
			Size       int64     `xml:"prop>getcontentlength"`
			Modified   string    `xml:"prop>getlastmodified"`
			ETag       string    `xml:"prop>getetag"`
			Type       string    `xml:"prop>getcontenttype"`
			Status     string    `xml:"status"`
		} `xml:"propstat"`
	} `xml:"response"`
}

func readMultistatus(body []byte, base string) ([]File, error) {
	var m multistatus
	if err := xml.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	files := make([]File, 0, len(m.Responses))
	for _, r := range m.Responses {
		u, err := url.Parse(r.Href)
		if err != nil {
			return nil, err
		}
		f := File{Href: strings.TrimPrefix(u.Path, strings.TrimSuffix(base, "/")), Name: path.Base(u.Path)}
		for _, p := range r.Props {
			if !strings.Contains(p.Status, " 200 ") {
				continue
			}
			f.Folder, f.Size, f.ETag, f.Type = p.Collection != nil, p.Size, p.ETag, p.Type
			if p.Modified != "" {
				if f.Modified, err = http.ParseTime(p.Modified); err != nil {
					return nil, err
				}
			}
		}
		if f.Modified = f.Modified.UTC(); f.Folder {
			f.Size = 0
		}
		raw, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		f.setRaw(raw)
		files = append(files, f)
	}
	return files, nil
}

// xmlText returns the description in a DAV:error, or the text of the document.
func xmlText(body []byte) string {
	var e struct {
		Description string `xml:"responsedescription"`
	}
	if xml.Unmarshal(body, &e) != nil {
		return ""
	}
	return strings.TrimSpace(e.Description)
}
