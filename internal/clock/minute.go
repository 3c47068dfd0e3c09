package clock

import "time"

// Minute writes an instant as people read it in lists, notes, refusals and mails, to the
// minute, with the name of the zone: "2012-11-09 13:34 Europe/Berlin". The form is that of
// no language, and the same everywhere.
func Minute(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04 ") + zone.String()
}
