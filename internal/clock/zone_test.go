package clock

import "testing"

func TestZones(t *testing.T) {
	t.Parallel()
	var z Zones
	for range 2 { // asked for, and known
		if zone := z.Zone("Europe/Berlin"); zone == nil || zone.String() != "Europe/Berlin" {
			t.Errorf("got %v", zone)
		}
	}
	for _, name := range []string{"", "Local", "Europe/Berlinn", "../etc/passwd", "/etc/localtime", "localtime", "posixrules", "posix/Europe/Berlin", "right/UTC"} {
		if zone := z.Zone(name); zone != nil {
			t.Errorf("%q is %v", name, zone)
		}
	}
}
