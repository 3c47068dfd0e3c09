package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"flowdrive/engine"
	"flowdrive/engine/account"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/notify"
)

// outsideSettings are the flags of serve that say what routes may reach beyond
// the server. By default that is nothing.
type outsideSettings struct {
	allowHosts       []string
	secrets          mapFlag
	smtp             string
	smtpPassword     secretFlag
	smtpPasswordFile string
	mailFrom         string
	mailDomains      []string
	confirmAddresses string
	commands         mapFlag
	notifyWebhook    string
	notify           mapFlag
	heartbeat        heartbeatSettings
}

func (s *outsideSettings) register(flags *pflag.FlagSet) {
	s.secrets.secret, s.notify.secret, s.notify.list = true, true, true
	flags.StringSliceVar(&s.allowHosts, "allow-host", nil, "host that routes may call: a name, *.example.org, either with a port behind it, an address,\nor NAME=NETWORK for one that is not in the Internet, such as intranet.example=10.0.0.0/8")
	flags.Var(&s.secrets, "secrets", "secrets that routes name, by name: the value, {file}, or one of {value, file} with what it is bound to:\n{hosts, mail, authors, routes}, where one that is left out does not bind it; \"default\" signs a request that names none\n(configuration file or environment)")
	flags.StringVar(&s.smtp, "smtp", "", "mail server: smtp://user@mail.example.org:587 (with STARTTLS) or smtps://user@mail.example.org")
	flags.Var(&s.smtpPassword, "smtp-password", "password of the user of --smtp (configuration file or environment)")
	flags.StringVar(&s.smtpPasswordFile, "smtp-password-file", "", "file with the password of the user of --smtp")
	flags.StringVar(&s.mailFrom, "mail-from", "", "sender of mails, such as \"Flowdrive <flowdrive@example.org>\"")
	flags.StringSliceVar(&s.mailDomains, "mail-domain", nil, "domain to which mails may go in addition to users' addresses, and in which the addresses must be\nthat users give themselves: example.org or *.example.org")
	flags.StringVar(&s.confirmAddresses, "confirm-addresses", "auto", "whether an address that a user gives themselves is used only once it is confirmed by a code that is\nmailed to it: on, off, or auto, which is on with --smtp and --public-url, and without --mail-domain and --sandbox")
	flags.StringVar(&s.notifyWebhook, "notify-webhook", "", "URL, at a host of --allow-host, that gets every notification: short for --notify with that webhook alone")
	flags.Var(&s.notify, "notify", "services that are told of notices: [{webhook, template, token, sign, kinds, routes, severity}], where template is one of\n"+strings.Join(notify.Templates(), ", ")+" (configuration file)")
	s.heartbeat.register(flags)
	flags.Var(&s.commands, "commands", "commands that routes may run, by name: {path, args, env, timeout, memory, output}; output is how\nmuch a step may take by into, 1MiB if it is absent and 16MiB at most (configuration file)")
}

// gateway returns what the settings say of the way out, and everything that
// is wrong with them.
func (s *outsideSettings) gateway() (notify.Config, error) {
	var c notify.Config
	var wrong []error
	note := func(flag string, err error) {
		if _, told := errors.AsType[configError](err); err == nil || told {
			wrong = append(wrong, err)
			return
		}
		for line := range strings.Lines(err.Error()) {
			wrong = append(wrong, configError{fmt.Errorf("--%s: %s", flag, strings.TrimRight(line, "\n"))})
		}
	}
	var err error
	c.Hosts, err = notify.ParseHosts(s.allowHosts)
	hostsErr := err
	note("allow-host", err)
	c.Domains, err = notify.ParseDomains(s.mailDomains)
	note("mail-domain", err)
	c.Mail, err = s.mailServer()
	note("smtp", err)
	secrets, err := readMap(&s.secrets, "secrets", readBoundSecret)
	note("secrets", err)
	c.Secrets, err = secretsOf(secrets, os.Environ())
	note("secrets", err)
	d := doubts{hosts: hostsErr != nil, given: &s.secrets, good: c.Secrets}
	commands, err := readMap(&s.commands, "commands", func(v document.Value) notify.Command { return readCommand(v, d) })
	note("commands", err)
	c.Commands, err = notify.CheckCommands(commands)
	note("commands", err)
	told, err := s.destinations(c, d)
	note("notify", err)
	for i := range told {
		c.Destinations = append(c.Destinations, told[i].Destination)
	}
	note("heartbeat-url", s.heartbeat.fault(c, d))
	return c, errors.Join(wrong...)
}

// doubts say what cannot be judged because the settings by which it is judged have faults
// themselves: to refuse it, too, would send people to the wrong place.
type doubts struct {
	hosts bool     // --allow-host has a fault
	given *mapFlag // the secrets as they are given
	good  notify.Secrets
}

// secret reports whether a secret is given with a fault.
func (d *doubts) secret(name string) bool {
	if d.given == nil || d.given.node == nil || d.given.node.Kind != document.Object {
		return false
	}
	_, good := d.good.Text(name)
	return !good && slices.ContainsFunc(d.given.node.Members, func(m document.Member) bool {
		return notify.FoldSecret(m.Key) == notify.FoldSecret(name)
	})
}

// The values of --confirm-addresses.
const (
	confirmOn   = "on"
	confirmOff  = "off"
	confirmAuto = "auto"
)

// confirmErr says what is wrong with --confirm-addresses.
func (s *settings) confirmErr() error {
	switch s.outside.confirmAddresses {
	case confirmOn:
		if s.outside.smtp == "" && s.sandbox == "" {
			return configError{errors.New("--confirm-addresses: on needs a mail server that sends the codes (--smtp)")}
		}
	case confirmOff, confirmAuto, "": // "" of commands that have no such flag
	default:
		return configError{fmt.Errorf("--confirm-addresses: %q is not on, off or auto", s.outside.confirmAddresses)}
	}
	return nil
}

// ownAddress returns which addresses users may give themselves. Nobody can confirm one if no
// mails are sent.
func (a *app) ownAddress(mails bool) account.OwnAddress {
	how := a.settings.outside.confirmAddresses
	auto := how == confirmAuto && a.sandbox == nil && a.settings.publicURL != ""
	return func(address string) (refused string, confirm bool) {
		refused, bounded := a.gateway.OwnAddress(address)
		return refused, mails && (how == confirmOn || auto && !bounded)
	}
}

// openOutside returns what the settings allow of the world, and how people are
// told of events there.
func (a *app) openOutside() (outbox.Outside, engine.Channels, error) {
	c, err := a.settings.outside.gateway()
	if err != nil {
		return nil, engine.Channels{}, err
	}
	channels := engine.Channels{Mail: c.Mail != nil || a.sandbox != nil && !a.settings.rehearsal} // a sandbox keeps mails to be looked at
	told, err := a.settings.outside.destinations(c, doubts{})
	if err != nil {
		return nil, engine.Channels{}, err
	}
	c.Clock, c.Version, c.Log, c.Confined = clock.Real{}, version(), a.log, []string{confinedCommand}
	if c.Scratch, err = a.commandsFolder(); err != nil {
		return nil, engine.Channels{}, err
	}
	a.gateway = notify.New(c)
	for i := range told {
		channels.Destinations = append(channels.Destinations, told[i].told(a.gateway))
	}
	if a.settings.rehearsal {
		return &anywhere{a.gateway, a.settings.runs}, channels, nil
	}
	return a.gateway, channels, nil
}

// commandsFolder returns the folder in which commands have their folders. If a
// server was killed, folders of its runs are left, with input and output; they
// are removed here.
func (a *app) commandsFolder() (string, error) {
	path, err := filepath.Abs(filepath.Join(a.settings.data, commandsName))
	if err != nil {
		return "", fmt.Errorf("find the folder of commands: %w", err)
	}
	if err := os.RemoveAll(path); err != nil {
		a.log.Warn().Err(err).Msg("commands: could not remove the folders left over from the last run")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of commands: %w", err)
	}
	return path, nil
}

func (s *outsideSettings) mailServer() (*notify.MailServer, error) {
	if s.smtp == "" {
		if s.smtpPassword.text != "" || s.smtpPasswordFile != "" || s.mailFrom != "" || len(s.mailDomains) > 0 {
			return nil, errors.New("is missing; without it --smtp-password, --smtp-password-file, --mail-from and --mail-domain have no effect")
		}
		return nil, nil
	}
	password := s.smtpPassword.text
	if s.smtpPasswordFile != "" {
		if password != "" {
			return nil, errors.New("give its password by --smtp-password or by --smtp-password-file, not by both")
		}
		var err error
		if password, err = readSecretFile(s.smtpPasswordFile); err != nil {
			return nil, fmt.Errorf("its password: %w", err)
		}
	}
	return notify.ParseMailServer(s.smtp, password, s.mailFrom)
}

// readCommand reads a command that routes may run.
func readCommand(v document.Value, d doubts) (c notify.Command) {
	if !v.Is(document.Object) {
		return c
	}
	v.Only("path", "args", "env", "timeout", "memory", "output")
	c.Path, _ = v.Get("path").Str()
	if args := v.Get("args"); args.Given() && args.Is(document.List) {
		for i := range args.Node.Items {
			arg, _ := args.Item(i).Str()
			c.Args = append(c.Args, arg)
		}
	}
	if env := v.Get("env"); env.Given() && env.Is(document.Object) {
		c.Env = map[string]string{}
		for i := range env.Node.Members {
			name, value := env.Member(i)
			text, hidden := readVariable(value, d)
			if c.Env[name] = text; hidden {
				c.Hidden = append(c.Hidden, name)
			}
		}
	}
	c.Timeout = readTimeout(v.Get("timeout"))
	c.Memory, c.Output = readSize(v.Get("memory")), readSize(v.Get("output"))
	for _, wrong := range c.Refuses() {
		if at := v.Get(wrong.Part); at.Node != nil && (wrong.Part != "path" || at.Node.Kind == document.String) { // else it is said already
			at.Fail(errs.CodeFormat, "%s", wrong.Detail)
		}
	}
	return c
}

// readVariable reads a variable of a command: a text, {file: PATH}, or {secret: NAME}
// for one of the secrets. It reports whether the value must not be told.
func readVariable(v document.Value, d doubts) (text string, hidden bool) {
	if v.Node == nil || v.Node.Kind != document.Object || !v.Get("secret").Given() {
		return readSecret(v), v.Node != nil && v.Node.Kind == document.Object
	}
	v.Only("secret")
	at := v.Get("secret")
	name, ok := at.Str()
	if !ok {
		return "", true
	}
	text, known := d.good.Text(name)
	if !known && !d.secret(name) {
		at.Fail(errs.CodeNotFound, "there is no secret %q; add it to the setting secrets", name)
	}
	return text, true
}

// readTimeout reads a length of time, or seconds.
func readTimeout(v document.Value) time.Duration {
	if !v.Given() {
		return 0
	}
	if v.Node.Kind == document.Number {
		seconds, _ := v.Int(1, int64(clock.MaxExact/time.Second))
		return time.Duration(seconds) * time.Second
	}
	text, ok := v.Str()
	if !ok {
		return 0
	}
	d, err := clock.ParseLength(text)
	if err != nil || d == 0 {
		v.Fail(errs.CodeFormat, "must be a time such as 30s or PT30S, or seconds")
	}
	return d
}

// readSize reads a number of bytes, as the flag --quota has it.
func readSize(v document.Value) int64 {
	if !v.Given() {
		return 0
	}
	var b byteSize
	if v.Node.Kind != document.Number && v.Node.Kind != document.String {
		v.Is(document.String)
	} else if err := b.Set(v.Node.Text); err != nil {
		v.Fail(errs.CodeFormat, "%v", err)
	}
	return int64(b)
}
