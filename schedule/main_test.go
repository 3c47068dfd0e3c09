package schedule_test

import "time"

// zoneNamed is the zone data of the tests: the machine's.
func zoneNamed(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}
