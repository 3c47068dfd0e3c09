package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/pgtest"
)

// anHourAhead gives a database a clock of its own, as if those of the nodes were an hour slow.
const anHourAhead = `CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
	AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$`

// TestClockOfTheDatabase: nodes fire by the clock of the database: one whose own clock is an
// hour off fires nothing early or late. Others are told by how much it is off.
func TestClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	server.Execute(t, "flow", anHourAhead)
	server.Execute(t, "flow", `ALTER DATABASE flow SET search_path = public, pg_catalog`)
	p := startNode(t, server.Address("flow"), "one")
	p.awaitReady(t)
	a := p.must(t, http.StatusCreated, http.MethodPut, scheduleFolder+"request", `{"route": "collector", "type": "interval", "seconds": 1, "repeat": 2}`)
	uuid := a.header.Get("X-OpenGroupware-ScheduleEntryUUID")
	var fired []caseForm
	eventually(t, func() string {
		fired = get[[]caseForm](t, p, casesFolder+".contents")
		if len(fired) < 2 {
			return fmt.Sprintf("%s has fired %d times", uuid, len(fired))
		}
		return ""
	})
	for _, c := range fired {
		if off := time.Until(*c.ScheduledFor); off < 50*time.Minute || off > 70*time.Minute {
			t.Errorf("the instant %v is not one of the database's clock", c.ScheduledFor)
		}
	}
	node := get[struct {
		Name, Version                 string
		Schema, Leases, Pool, Retries int64
		Started, LastSeen             time.Time
		ClockOffsetMs                 int64
	}](t, p, "/dav/Admin/Nodes/one.json")
	if off := time.Duration(node.ClockOffsetMs) * time.Millisecond; off > -50*time.Minute || off < -70*time.Minute {
		t.Errorf("the offset is told as %v", off)
	}
	// A date that is past by the clock of the machine in half an hour is past already.
	date := time.Now().Add(30 * time.Minute).UTC().Format("2006-01-02T15:04:05Z")
	refused, err := p.do(t.Context(), http.MethodPut, scheduleFolder+"request", fmt.Sprintf(`{"route": "collector", "type": "simple", "date": %q}`, date))
	if err != nil || refused.status != http.StatusUnprocessableEntity || !strings.Contains(string(refused.body), "past") {
		t.Errorf("a date that is past: %v, %v", refused, err)
	}
}
