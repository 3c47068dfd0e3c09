package main

import (
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// supervisor is systemd, if it has started the server, by the protocol of sd_notify(3).
// Without it nothing is told and nothing fails.
type supervisor struct{}

func tell(state string) error {
	_, err := daemon.SdNotify(false, state)
	return err
}

func (supervisor) ready() error    { return tell(daemon.SdNotifyReady) }
func (supervisor) stopping() error { return tell(daemon.SdNotifyStopping) }
func (supervisor) alive() error    { return tell(daemon.SdNotifyWatchdog) }

// reloading says that the server reads its settings again, and since when, as
// Type=notify-reload of systemd.service(5) asks for.
func (supervisor) reloading() error {
	return tell(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// reloaded says that the server is ready again, and what "systemctl status" shows of the
// reload, "" for nothing. The protocol has no other word for a reload that has failed.
func (supervisor) reloaded(status string) error {
	return tell(daemon.SdNotifyReady + "\nSTATUS=" + status)
}

// watchdog returns for how long systemd waits for a sign of life, 0 if it does not.
func (supervisor) watchdog() (time.Duration, error) { return daemon.SdWatchdogEnabled(false) }
