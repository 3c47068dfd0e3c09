package clock

import (
	"sync"
	"time"
	_ "time/tzdata" // for machines without zone files
)

// Zones are the time zones of the IANA database, as the machine has them,
// else as this program was built with. It is safe for concurrent use.
type Zones struct{ known sync.Map } // *time.Location by name

// Zone returns the time zone of that name, nil where there is none. The empty
// name and Local are none: they would be another zone on every machine.
func (z *Zones) Zone(name string) *time.Location {
	if name == "" || name == "Local" {
		return nil
	}
	known, _ := z.known.Load(name)
	if zone, ok := known.(*time.Location); ok {
		return zone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	z.known.Store(name, zone)
	return zone
}
