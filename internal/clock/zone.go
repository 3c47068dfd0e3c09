package clock

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for machines without zone files
)

// Zones are the time zones of the IANA database, as the machine has them,
// else as this program was built with. It is safe for concurrent use.
type Zones struct{ known sync.Map } // *time.Location by name

// Zone returns the time zone of that name, or nil if there is none. The empty
// name, Local and localtime are not accepted, because they would be another
// zone on every machine.
func (z *Zones) Zone(name string) *time.Location {
	if name == "" || name == "Local" || foreign(name) {
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

// foreign reports whether the name is not one of the database, but of a file
// that some machines have next to it: their own zone, copies, and zones that
// count leap seconds.
func foreign(name string) bool {
	return name == "localtime" || name == "posixrules" || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/")
}
