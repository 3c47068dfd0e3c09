package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/attach/bucket"
	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/signon"
	"flowdrive/notify"
	"flowdrive/store/backup"
)

const (
	littleRoom   = 1 << 30 // bytes; less is said
	oldBackup    = 48 * time.Hour
	doctorWait   = 20 * time.Second // of a check that asks others
	firstRelease = 2026             // no clock is right that is before this year
)

// errToFix says that a check has found something.
var errToFix = errors.New("there is something to do")

func doctorCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether the server has what it needs",
		Long: "Looks at the settings, the secrets (who can read them, which are used by nothing, which are\n" +
			"missing), the data folder, the database, the audit log, the disk, the clock, the time zones,\n" +
			"the certificate, the mail server, whether an administrator is told of failures, the routes,\n" +
			"the public address and the backups, and prints a line for each: \"ok\", \"fix\" with what to do,\n" +
			" or \"note\" with what may be as it should be. It changes nothing and sends no mail. Give\n" +
			"it the settings of the server. Exits with 0 if all is well, 1 if there is something to do.",
		Args: cobra.NoArgs,
		// The command reads the settings itself, to say everything that is wrong.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{settings: &s, now: time.Now(), out: cmd.OutOrStdout()}
			wrong := s.faults(cmd)
			d.readable = readableSecrets(cmd.Flags())
			return d.run(cmd.Context(), wrong)
		},
	}
	s.register(cmd.Flags())
	return cmd
}

// doctor makes checks and prints what each has found.
type doctor struct {
	settings *settings
	now      time.Time
	out      io.Writer
	readable string // what is wrong with who can read the settings
}

// advice is a finding that is not a fault: it is printed as a note.
type advice struct{ error }

// run makes all checks. Without settings that can be used it makes none of the others.
func (d *doctor) run(ctx context.Context, wrong error) error {
	checks := []struct {
		name  string
		check func(context.Context) (string, error)
	}{
		{"settings", func(context.Context) (string, error) { return "in order", wrong }},
		{"secrets", d.secrets},
		{"data folder", d.folder},
		{"database", d.database},
		{"contents", d.contents},
		{"server", d.server},
		{"audit log", d.auditLog},
		{"disk", d.room},
		{"clock", d.clock},
		{"time zones", d.zones},
		{"certificate", d.certificate},
		{"mail server", d.mail},
		{"failures", d.failures},
		{"routes", d.routes},
		{"holds", d.holds},
		{"public address", d.address},
		{"single sign-on", d.signOn},
		{"directory", d.directory},
		{"backups", d.backups},
	}
	if wrong != nil {
		checks = checks[:1]
	}
	var found error
	for _, c := range checks {
		within, cancel := context.WithTimeout(ctx, doctorWait)
		good, err := c.check(within)
		cancel()
		word, says := "ok  ", good
		if err != nil {
			word, says = "fix ", strings.ReplaceAll(err.Error(), "\n", "; ")
			if _, harmless := errors.AsType[advice](err); harmless {
				word = "note"
			} else {
				found = errToFix
			}
		}
		if _, err := fmt.Fprintf(d.out, "%s  %s: %s\n", word, c.name, says); err != nil {
			return err
		}
	}
	return found
}

// folder looks at the data folder and who may read it.
func (d *doctor) folder(context.Context) (string, error) {
	path := d.settings.data
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.settings.database.address != "":
		return "none is needed with --db", nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s does not exist; the first \"flowdrive serve\" makes it, or --data names another", path)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", path)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return "", fmt.Errorf("others on this machine can open %s; run: chmod 700 %s", path, path)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return "", fmt.Errorf("%s belongs to another user; run this as the user of the server", path)
	}
	if d.settings.database.address != "" {
		return path + ", for what is on its way", nil
	}
	if _, err := os.Stat(filepath.Join(path, databaseName)); err != nil {
		return "", fmt.Errorf("there is no database in it; restore a backup, or let --data name another folder: %w", err)
	}
	return path, nil
}

// contents looks whether the store answers in which contents lie.
func (d *doctor) contents(context.Context) (string, error) {
	place, done, err := d.place(context.Background())
	if err != nil {
		return "", err
	}
	defer func() { _ = done() }() // it was only looked at
	b, elsewhere := place.(*bucket.Bucket)
	if !elsewhere && d.settings.database.address != "" {
		return "rows of the database", nil
	}
	if !elsewhere {
		return "files in the data folder", nil
	}
	err = b.Check()
	if refused, ok := bucket.AsRefused(err); ok {
		return "", refused
	}
	if err != nil {
		return "", fmt.Errorf("%w; look at the network, and at the store", err)
	}
	return "in " + b.String() + ", which answers", nil
}

// signOn asks the provider of the log-in what it says of itself.
func (d *doctor) signOn(ctx context.Context) (string, error) {
	cfg, _, err := d.settings.signOn.oidc(d.settings.publicURL)
	if err != nil || cfg == nil {
		return "none", err
	}
	return cfg.Issuer + " answers", signon.NewOIDC(*cfg).Check(ctx)
}

// directory asks the directory whether there is anything at its base.
func (d *doctor) directory(ctx context.Context) (string, error) {
	cfg, _, err := d.settings.signOn.directory()
	if err != nil || cfg == nil {
		return "none", err
	}
	return cfg.URL + " answers", signon.NewLDAP(*cfg).Check(ctx)
}

func (d *doctor) server(ctx context.Context) (string, error) {
	says, health := askHealth(ctx, d.settings.data)
	if says == standsBy {
		return "stands by; another node is active", nil
	}
	unlock, err := lockExisting(d.settings.data)
	if err == nil {
		return "", errors.Join(advice{errors.New("it is not running")}, unlock())
	}
	if !errors.Is(err, errLocked) {
		return "", advice{errors.New("it is not running")}
	}
	return "is running and ready", health
}

// auditLog asks the running server whether the audit log is as it was written: it verifies
// it by itself. Without one it is read here.
func (d *doctor) auditLog(ctx context.Context) (string, error) {
	if status, err := d.running(ctx); err == nil {
		for _, trouble := range status.Troubles {
			if trouble.Part == string(engine.ServerAudit) {
				return "", fmt.Errorf("it is not as it was written: %s; look who can write to the database; a backup has it as it was", trouble.Text)
			}
		}
		return "the server has found nothing wrong with it", nil
	}
	if d.settings.database.address != "" {
		return "", advice{errors.New("the active node verifies it; flowdrive audit verify --db does it from here")}
	}
	err := verifyAudit(ctx, filepath.Join(d.settings.data, databaseName), nil, io.Discard)
	if errors.Is(err, errNotVerified) {
		return "", advice{err}
	}
	return "is as it was written", err
}

// littleFree says how much room there is, and from when on a server refuses to store something.
// One that has begun to goes on until enough is free.
func littleFree(free, enough uint64, full bool) error {
	again := (enough + 1<<20 - 1) >> 20
	if full {
		return fmt.Errorf("%d MiB are free; make room: what users want to store is refused until %d MiB are free", free>>20, again)
	}
	return fmt.Errorf("%d MiB are free; make room: below %d KiB what users want to store is refused, until %d MiB are free again", free>>20, lowSpace>>10, again)
}

func (d *doctor) room(ctx context.Context) (string, error) {
	var s syscall.Statfs_t
	path := d.settings.data
	err := syscall.Statfs(path, &s)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		err = syscall.Statfs(path, &s)
	}
	if err != nil {
		return "", fmt.Errorf("look how much room there is: %w", err)
	}
	free := s.Bavail * uint64(s.Bsize)
	if uint64(s.Flags)&readOnlyDisk != 0 {
		return "", fmt.Errorf("the file system of %s is read-only; mount it for writing", path)
	}
	if free < littleRoom {
		_, health := askHealth(ctx, d.settings.data)
		return "", littleFree(free, enoughAgain(&s), health != nil && strings.Contains(health.Error(), diskFull))
	}
	return fmt.Sprintf("%d GiB are free", free>>30), nil
}

// clock compares the time with that at which the database was last written.
func (d *doctor) clock(context.Context) (string, error) {
	if d.now.Year() < firstRelease {
		return "", fmt.Errorf("it is %s here; set the clock, and let it be kept by NTP", d.now.Format(time.RFC3339))
	}
	info, err := os.Stat(filepath.Join(d.settings.data, databaseName))
	if err == nil && info.ModTime().After(d.now.Add(time.Minute)) {
		return "", fmt.Errorf("it is %s here, and the database was written at %s; set the clock", d.now.Format(time.RFC3339), info.ModTime().Format(time.RFC3339))
	}
	return d.now.Format(time.RFC3339), nil
}

func (d *doctor) zones(context.Context) (string, error) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", d.settings.timezone} {
		if new(clock.Zones).Zone(name) == nil {
			return "", fmt.Errorf("%s is not known; install the package tzdata", name)
		}
	}
	return "known; the server's own is " + d.settings.timezone, nil
}

// certificate looks at when it expires and for which names it is.
func (d *doctor) certificate(ctx context.Context) (string, error) {
	if !d.settings.secure() {
		return d.ownSettings(ctx) + "; that is right on loopback, and behind a proxy that has one", nil
	}
	served, err := d.settings.servedCertificates()
	if err != nil {
		return "", err
	}
	for _, c := range served {
		if err := d.oneCertificate(c); err != nil {
			return "", err
		}
	}
	return "good until " + firstEnd(served).Format(time.DateOnly), nil
}

func (d *doctor) oneCertificate(c servedCertificate) error {
	if fault := expiryFault(c.leaf, d.now); fault != "" {
		return errors.New(fault)
	}
	if d.now.Before(c.leaf.NotBefore) {
		return fmt.Errorf("it is good only from %s on; look at the clock, or take another", c.leaf.NotBefore.Format(time.RFC3339))
	}
	names := []string{c.name}
	if c.name == "" {
		names = slices.Clone(d.settings.publicNames)
		if u, err := url.Parse(d.settings.publicURL); err == nil && u.Hostname() != "" {
			names = append(names, u.Hostname())
		}
	}
	var wrong []error
	for _, name := range names {
		if err := c.leaf.VerifyHostname(name); err != nil {
			wrong = append(wrong, fmt.Errorf("it is not for %s, by which clients call the server: %w", name, err))
		}
	}
	return errors.Join(wrong...)
}

func (d *doctor) mail(ctx context.Context) (string, error) {
	c, err := d.settings.outside.gateway()
	if err != nil {
		return "", err
	}
	if c.Mail == nil {
		return "", advice{errors.New("none is set; people are told nothing by mail; --smtp names one")}
	}
	c.Clock, c.Version = clock.Real{}, version()
	if err := notify.New(c).TryMail(ctx); err != nil {
		return "", fmt.Errorf("%w; look at --smtp, its user and its password", err)
	}
	return "takes mails from this server", nil
}

// onlyRunning says that what a running server knows is not known, and why unless none answers.
func onlyRunning(what string, err error) error {
	text := "only a running server knows " + what
	if errors.Is(err, errNoServer) {
		return advice{errors.New(text)}
	}
	return advice{fmt.Errorf("%s: %w", text, err)}
}

// failures asks the running server whether an administrator is told of what fails.
func (d *doctor) failures(ctx context.Context) (string, error) {
	var late struct {
		Untold string `json:"untold"`
	}
	if err := newClient(d.settings.data).get(ctx, "/dav/Workflow/Status/late.json", &late); err != nil {
		return "", onlyRunning("whether anybody is told of them", err)
	}
	if late.Untold == "" {
		return "an administrator or a service is told of them", nil
	}
	err := errors.New(late.Untold)
	if c, wrong := d.settings.outside.gateway(); wrong == nil && c.Mail == nil {
		return "", advice{err} // that may be as it should be
	}
	return "", err
}

// routes asks the running server which routes name what its settings lack.
func (d *doctor) routes(ctx context.Context) (string, error) {
	var late struct {
		Others []struct{ Kind, Name, Text string } `json:"others"`
	}
	if err := newClient(d.settings.data).get(ctx, "/dav/Workflow/Status/late.json", &late); err != nil {
		return "", onlyRunning("whether they have what they need", err)
	}
	var lacks []error
	for _, o := range late.Others {
		if o.Kind == "route" {
			lacks = append(lacks, fmt.Errorf("%s: %s", o.Name, o.Text))
		}
	}
	return "the settings have the commands, hosts and secrets that they name", errors.Join(lacks...)
}

// holds asks the running server whether an administrator keeps cases from starting.
func (d *doctor) holds(ctx context.Context) (string, error) {
	var late struct {
		Others []struct{ Kind, Name, Text string } `json:"others"`
	}
	if err := newClient(d.settings.data).get(ctx, "/dav/Workflow/Status/late.json", &late); err != nil {
		return "", onlyRunning("whether there are any", err)
	}
	var held []error
	for _, o := range late.Others {
		if o.Kind == "hold" {
			held = append(held, fmt.Errorf("%s: %s", o.Name, o.Text))
		}
	}
	if len(held) > 0 {
		return "", advice{errors.Join(held...)} // that may be as it should be
	}
	return "nothing keeps cases from starting", nil
}

// ownSettings says that something is not set. A server that runs may have been given other
// settings than this command, as flags or in another file.
func (d *doctor) ownSettings(ctx context.Context) string {
	if _, err := d.running(ctx); err != nil {
		return "none is set"
	}
	return "the settings given to this command have none; the server that runs may have one"
}

// serverStatus is what a running server says of itself.
type serverStatus struct {
	Backup *struct {
		LastGood *time.Time
		Next     time.Time
		Failed   bool
	}
	Troubles []struct{ Part, Text string }
}

// running asks the server that has the data folder open how it is.
func (d *doctor) running(ctx context.Context) (*serverStatus, error) {
	s := &serverStatus{}
	return s, newClient(d.settings.data).get(ctx, "/dav/Admin/Status.json", s)
}

// address asks the server by the address that people have.
func (d *doctor) address(ctx context.Context) (string, error) {
	if d.settings.publicURL == "" {
		return "", advice{errors.New(d.ownSettings(ctx) + "; links in mails and calendars are paths; --public-url names it")}
	}
	at := strings.TrimRight(d.settings.publicURL, "/") + "/version"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("nobody answers there: %w; look at the proxy, the name and the firewall", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"flowdrive"`) {
		return "", fmt.Errorf("%s answers %s, and it is not Flowdrive; look at the proxy", at, resp.Status)
	}
	return d.settings.publicURL + " leads to Flowdrive", nil
}

func (d *doctor) backups(ctx context.Context) (string, error) {
	if d.settings.database.address != "" {
		return "", advice{errors.New("PostgreSQL is backed up by its own means, such as pgBackRest; whether it is, is not seen from here")}
	}
	to := d.settings.backup.to
	if to == "" {
		if status, err := d.running(ctx); err == nil && status.Backup != nil {
			return d.backupsOfServer(status)
		}
		return "", advice{errors.New("the server makes none; --backup-to lets it, unless \"flowdrive backup\" is run by something else")}
	}
	if err := d.settings.backup.folderErr(d.settings.data); err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the name of this machine: %w", err)
	}
	c := backup.Config{Data: d.settings.data, To: to, Host: host}
	last, err := backup.Latest(c)
	if err == nil && last.IsZero() {
		// Where there were some, another one would most likely fill the wrong disk.
		if err := earlierThere(c); err != nil {
			return "", err
		}
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("look into %s: %w", to, err)
	case last.IsZero():
		return "", fmt.Errorf("there is none in %s yet; run: flowdrive backup --data %s %s", to, d.settings.data, to)
	case d.now.Sub(last) > oldBackup:
		return "", fmt.Errorf("the last good one is of %s; the log of the server says why there is none since", last.Format(time.RFC3339))
	}
	return "the last good one is of " + last.Format(time.RFC3339), nil
}

// backupsOfServer judges the backups that a running server makes.
func (d *doctor) backupsOfServer(status *serverStatus) (string, error) {
	b := status.Backup
	next := b.Next.Format(time.RFC3339)
	switch {
	case b.LastGood == nil && b.Failed:
		return "", fmt.Errorf("the server has made none yet, and the last try failed; its log says why; the next is due at %s", next)
	case b.LastGood == nil:
		return "", fmt.Errorf("the server has made none yet; the next is due at %s, or run \"flowdrive backup\" with the folder that its setting backup-to names", next)
	case b.Failed || d.now.Sub(*b.LastGood) > oldBackup:
		return "", fmt.Errorf("the last good one is of %s; the log of the server says why there is none since", b.LastGood.Format(time.RFC3339))
	}
	return "the last good one is of " + b.LastGood.Format(time.RFC3339) + ", says the server that runs", nil
}
