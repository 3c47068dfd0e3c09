package simulate

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"path"
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// sent compares what would have left the server: a sandbox records it as
// messages Outbox-<log entry>-<step> of the case.
func (w *want) sent(ctx context.Context, wanted *document.Node) error {
	labels, err := w.recorded(ctx)
	if err != nil {
		return err
	}
	got := &document.Node{Kind: document.List}
	for _, label := range labels {
		n, err := w.get(ctx, admin, w.at+"/Labels/"+label)
		if err != nil {
			return err
		}
		if n != nil {
			got.Items = append(got.Items, n)
		}
	}
	if len(got.Items) != len(wanted.Items) {
		w.differ(wanted, got, w.pointer)
		return nil
	}
	for i, item := range wanted.Items {
		w.match(item, got.Items[i], fmt.Sprintf("%s/%d", w.pointer, i))
	}
	return nil
}

// recorded returns the labels of what was recorded, in order.
func (w *want) recorded(ctx context.Context) ([]string, error) {
	a, err := w.do(ctx, Request{User: admin, Method: "PROPFIND", Depth: "1", Path: w.at + "/Labels/", Type: "application/xml", Body: []byte(namesOnly)})
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var listing struct {
		Responses []struct {
			Href string `xml:"href"`
		} `xml:"DAV: response"`
	}
	if a.Status != http.StatusMultiStatus {
		return nil, fmt.Errorf("PROPFIND %s/Labels/ answers %d", w.at, a.Status)
	}
	if err := xml.Unmarshal(a.Body, &listing); err != nil {
		return nil, fmt.Errorf("PROPFIND %s/Labels/: %w", w.at, err)
	}
	type place struct{ seq, step int64 }
	places := map[string]place{}
	var labels []string
	for _, r := range listing.Responses {
		label := path.Base(r.Href)
		var at place
		if n, err := fmt.Sscanf(label, "Outbox-%d-%d", &at.seq, &at.step); err == nil && n == 2 {
			places[label] = at
			labels = append(labels, label)
		}
	}
	slices.SortFunc(labels, func(a, b string) int {
		return cmp.Or(cmp.Compare(places[a].seq, places[b].seq), cmp.Compare(places[a].step, places[b].step))
	})
	return labels, nil
}

const namesOnly = `<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>`
