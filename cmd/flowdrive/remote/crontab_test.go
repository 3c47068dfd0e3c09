package remote

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadCrontab: what each line of a crontab means.
func TestReadCrontab(t *testing.T) {
	t.Parallel()
	const text = `# nightly
MAILTO=ops@example.org
30 2 * * 1-5	backup --all
CRON_TZ="Europe/Berlin"
@daily  date +\%F%one%two
@reboot start
SHELL=/bin/sh
0 1 *
`
	want := []job{
		{line: 3, spec: "30 2 * * 1-5", zone: "UTC", command: "backup --all", mailto: "ops@example.org"},
		{line: 5, spec: "@daily", zone: "Europe/Berlin", command: "date +%F", input: "one\ntwo", mailto: "ops@example.org"},
		{line: 6, spec: "@reboot", zone: "Europe/Berlin", command: "start", mailto: "ops@example.org", problem: "a server has no start of the machine: @reboot is not a time"},
		{line: 7, command: "SHELL=/bin/sh", problem: "a variable: set it in the command that the server runs"},
		{line: 8, zone: "Europe/Berlin", command: "0 1 *", mailto: "ops@example.org", problem: "there is no command"},
	}
	if diff := cmp.Diff(want, readCrontab(text, "UTC"), cmp.AllowUnexported(job{})); diff != "" {
		t.Error(diff)
	}
}
