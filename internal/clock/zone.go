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

// Zone returns the time zone of that name, nil where there is none. The empty
// name, Local and localtime are none: they would be another zone on every
// machine.
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

// foreign reports whether the name is none of the database, but of a file that
// some machines have beside it: of their own zone, of copies, of zones whose
// seconds count leap seconds.
func foreign(name string) bool {
	return name == "localtime" || name == "posixrules" || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/")
}
