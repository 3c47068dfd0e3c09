package remote

import (
	"os"
	"strings"
)

// machineZone returns the name of the time zone that this machine is set to, or nothing.
func machineZone() string {
	if zone := strings.TrimPrefix(os.Getenv("TZ"), ":"); zone != "" {
		return zone
	}
	target, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, zone, _ := strings.Cut(target, "zoneinfo/")
	return zone
}
