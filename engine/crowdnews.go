package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// crowdPause is how long what a service is told of many cases by one event waits for all of
// them: they are changed in several units.
const crowdPause = 5 * time.Second

// tellCrowd has a service told of a case with the others of the same event, in one call. What
// is being sent already takes no more: the rest is another call.
func (e *decider) tellCrowd(tx store.Tx, n *notice.Notice, d *notice.Destination) error {
	about := fmt.Sprintf("cases %s %d", n.Kind, n.Time.UnixMilli())
	request := &machine.Request{News: &machine.Bulletin{Destination: d.ID, About: about}}
	due := n.Time.Add(crowdPause)
	row := &store.OutboxRow{Key: store.NewUUID().String(), Due: due, Created: n.Time}
	payload := n.Payload()
	earlier, err := tx.Outbox().First(outbox.NoticePrefix(request))
	if err != nil {
		return err
	}
	if earlier != nil && !earlier.Flying && earlier.Attempts == 0 {
		waiting := new(notice.Payload)
		if err := readNews(earlier, waiting); err != nil {
			return err
		}
		waiting.Add(payload, e.links)
		if err := tx.Write().Outbox().Delete(earlier.Key); err != nil {
			return err
		}
		payload, row.Key = waiting, earlier.Key
	}
	request.News.Body = document.Line(payload)
	return e.postRequest(tx, row, request)
}

// readNews reads what a service is to be told.
func readNews(row *store.OutboxRow, into *notice.Payload) error {
	var request machine.Request
	err := json.Unmarshal(row.Request, &request)
	if err == nil && request.News != nil {
		err = json.Unmarshal(request.News.Body, into)
	}
	return errs.Wrap("read what a service is to be told", err)
}
