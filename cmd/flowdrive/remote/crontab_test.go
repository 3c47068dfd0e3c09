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
	if diff := cmp.Diff(want, crontab{text: text, zone: "UTC"}.jobs(), cmp.AllowUnexported(job{})); diff != "" {
		t.Error(diff)
	}
}

// TestReadSystemCrontab: a20, /etc/crontab has the user before the command.
func TestReadSystemCrontab(t *testing.T) {
	t.Parallel()
	const line = "17 * * * * root run-parts --report /etc/cron.hourly\n"
	want := job{line: 1, spec: "17 * * * *", zone: "UTC", user: "root", command: "run-parts --report /etc/cron.hourly"}
	read := func(c crontab) []job { c.zone = "UTC"; return c.jobs() }
	for name, test := range map[string]struct {
		crontab crontab
		problem bool
	}{
		"asked for":                     {crontab{text: line, system: true, asked: true}, false},
		"not asked for":                 {crontab{text: line}, true},
		"by a comment":                  {crontab{text: "# m h dom mon dow user\tcommand\n30 2 * * * backup /usr/bin/save\n"}, true},
		"no user":                       {crontab{text: "30 2 * * * backup --all\n"}, false},
		"a user without a command":      {crontab{text: "30 2 * * * root\n", system: true, asked: true}, true},
		"a command that is called root": {crontab{text: line, asked: true}, false},
	} {
		if jobs := read(test.crontab); len(jobs) != 1 || (jobs[0].problem != "") != test.problem {
			t.Errorf("%s: %+v", name, jobs)
		}
	}
	if diff := cmp.Diff([]job{want}, read(crontab{text: line, system: true, asked: true}), cmp.AllowUnexported(job{})); diff != "" {
		t.Error(diff)
	}
	if !ofSystem("/etc/crontab", "") || !ofSystem("/etc/cron.d/e2scrub_all", "") || ofSystem("crontab", "30 2 * * * backup\n") {
		t.Error("a crontab of the system is not known by its place")
	}
}
