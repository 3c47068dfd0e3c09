package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/notify"
)

// secrets looks who can read those in the settings, which of them nothing uses, and which
// are named and not there.
func (d *doctor) secrets(ctx context.Context) (string, error) {
	if d.readable != "" {
		return "", errors.New(d.readable)
	}
	const unread = "the settings have none that every user of the machine can read"
	known, err := d.settings.outside.gateway()
	if err != nil {
		return "", err
	}
	var server struct {
		Secrets []struct {
			Name string
			By   []string
		}
	}
	if err := newClient(d.settings.data).get(ctx, "/dav/Admin/Status.json", &server); err != nil {
		if len(known.Secrets.Names()) == 0 {
			return unread, nil
		}
		return "", advice{fmt.Errorf("%s; %w", unread, onlyRunning("whether something uses them", err))}
	}
	used := d.settings.outside.secretsUsed(known)
	var missing []error
	for _, s := range server.Secrets {
		used = append(used, notify.FoldSecret(s.Name))
		if _, there := known.Secrets.Text(s.Name); !there {
			missing = append(missing, fmt.Errorf("there is no secret %q, which %s names; add it to the setting secrets", s.Name, strings.Join(s.By, ", ")))
		}
	}
	idle := slices.DeleteFunc(known.Secrets.Names(), func(name string) bool { return slices.Contains(used, notify.FoldSecret(name)) })
	if len(idle) > 0 {
		text := fmt.Errorf("no route, hook, schedule entry, command or service names %s; unless cases of older versions of routes need it, remove it from the settings", strings.Join(idle, ", "))
		if len(missing) == 0 {
			return "", advice{text}
		}
		missing = append(missing, text)
	}
	return unread + "; each is used, and none is missing", errors.Join(missing...)
}

// secretsUsed returns which secrets the settings use themselves, as FoldSecret writes them.
func (s *outsideSettings) secretsUsed(c notify.Config) []string {
	names := []string{"default"} // signs what names none
	for i := range c.Destinations {
		to := &c.Destinations[i]
		names = append(names, to.URLSecret, to.Secret, to.Token)
	}
	if call := s.heartbeat.call(); call != nil {
		names = append(names, call.URLSecret)
	}
	// The commands have been read once, so that none of them has a fault.
	ofCommands, _ := readMap(&s.commands, "commands", func(v document.Value) []string {
		var named []string
		env := v.Get("env")
		for i := 0; env.Given() && i < len(env.Node.Members); i++ {
			if _, value := env.Member(i); value.Node.Kind == document.Object && value.Get("secret").Given() {
				name, _ := value.Get("secret").Str()
				named = append(named, name)
			}
		}
		return named
	})
	for _, named := range ofCommands {
		names = append(names, named...)
	}
	for i := range names {
		names[i] = notify.FoldSecret(names[i])
	}
	return names
}
