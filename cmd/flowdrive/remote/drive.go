package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/errs"
	"flowdrive/internal/plaintext"
)

const drivePaths = "Paths are from the root of the drive, with or without a slash before them."

func (e *Env) ls() *cobra.Command {
	c := output.Formats(&cobra.Command{
		Use: "ls [FOLDER]", Short: "List a folder of the drive", Long: "Lists a folder of the drive. " + drivePaths,
		Example: "  flowdrive ls Documents/admin", Args: cobra.MaximumNArgs(1),
	})
	c.ValidArgsFunction = e.completeDrive
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		folder := ""
		if len(args) > 0 {
			folder = args[0]
		}
		var items []output.Item
		for f, err := range s.Files(ctx, folder) {
			if err != nil {
				return err
			}
			name, bytes := f.Name, plaintext.Size(f.Size)
			if f.Folder {
				name, bytes = name+"/", ""
			}
			var changed *time.Time
			if !f.Modified.IsZero() {
				changed = &f.Modified
			}
			items = append(items, output.Item{
				JSON: f.Raw(), Name: strings.TrimPrefix(f.Href, "/dav/"),
				Cells: []string{name, bytes, s.when(ctx, changed)},
			})
		}
		return s.Show([]string{"name", "size", "changed"}, items)
	})
}

func (e *Env) cat() *cobra.Command {
	c := &cobra.Command{
		Use: "cat FILE...", Short: "Print files of the drive", Long: "Prints files of the drive. " + drivePaths,
		Example: "  flowdrive cat Workflow/README.txt", Args: cobra.MinimumNArgs(1),
	}
	c.ValidArgsFunction = e.completeDrive
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		for _, name := range args {
			content, _, err := s.Open(ctx, name)
			if err != nil {
				return named(name, err)
			}
			if err := s.pour(content); err != nil {
				return named(name, err)
			}
		}
		return nil
	})
}

// pour writes a content to the standard output.
func (s *session) pour(content io.ReadCloser) error {
	_, err := io.Copy(s.To, content)
	return errors.Join(err, content.Close())
}

// aboutError is an error about one of the arguments.
type aboutError struct {
	error

	text string // a line for each thing that is wrong
}

func (e aboutError) Error() string { return e.text }

func (e aboutError) Unwrap() error { return e.error }

// named says which of several arguments an error is about. Of the faults of a document it
// says the lines, as compilers do.
func named(name string, err error) error {
	if _, is := errors.AsType[aboutError](err); is {
		return err
	}
	if name = output.Clean(name); name == "-" {
		name = "standard input"
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusUnprocessableEntity {
		err = codedError{err, 1} // also if all that is wrong with the document is a name that is not there
	}
	faults := err
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Placed() {
		e := &errs.Error{Detail: p.Detail}
		if p.Line > 0 {
			e.Extra = map[string]any{"line": p.Line, "column": p.Column}
		}
		for _, f := range p.Faults {
			e.Faults = append(e.Faults, errs.Fault{Pointer: f.Pointer, Detail: f.Detail, Line: f.Line, Column: f.Column})
		}
		faults = e
	}
	return aboutError{err, strings.Join(output.FaultLines(name, faults), "\n")}
}

func (e *Env) put() *cobra.Command {
	c := &cobra.Command{
		Use: "put FILE... TARGET", Short: "Store files on the drive",
		Long: "Stores files of this machine on the drive, - is the standard input. A TARGET that ends with a\n" +
			"slash is a folder. In the folders of the workflow a file does what it does there: one in a\n" +
			"route's folder starts a case. " + drivePaths,
		Example: "  flowdrive put invoice.pdf Documents/admin/\n  flowdrive put rates.csv Workflow/Routes/import/",
		Args:    cobra.MinimumNArgs(2),
	}
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		files, target := args[:len(args)-1], args[len(args)-1]
		isFolder := strings.HasSuffix(target, "/")
		if len(files) > 1 && !isFolder {
			return s.env.Usage(fmt.Errorf("several files need a folder as TARGET, which ends with a slash: %s/", target))
		}
		for _, name := range files {
			to := target
			if isFolder {
				if name == "-" {
					return s.env.Usage(errors.New("the standard input needs a TARGET with a name"))
				}
				to = path.Join(target, filepath.Base(name))
			}
			if err := s.putFile(ctx, name, to); err != nil {
				return named(name, err)
			}
		}
		return nil
	})
}

func (s *session) putFile(ctx context.Context, name, to string) (err error) {
	content, size, done, err := s.source(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	stored, err := s.Put(ctx, to, content, size)
	if err != nil {
		return err
	}
	for _, warning := range stored.Warnings {
		if err := s.say("%s", output.WarningLine(name, warning)); err != nil {
			return err
		}
	}
	if stored.Draft != 0 {
		lacks := output.Clean(strings.Join(stored.Lacks, " and "))
		set := ""
		for _, key := range stored.Lacks {
			set += " --set " + output.Clean(key) + "=…"
		}
		if err := s.say("Case %d is a draft: it does not start before it has %s: flowdrive do %d start%s", stored.Draft, lacks, stored.Draft, set); err != nil {
			return err
		}
	}
	where, err := url.PathUnescape(strings.TrimPrefix(stored.Location, "/dav/"))
	if err != nil || where == "" {
		return err
	}
	if err := s.Line("%s", where); err != nil || stored.Secret == "" {
		return err
	}
	return errors.Join(s.Line("%s", stored.Secret), s.say("The last line is told this once: keep it."))
}

func (e *Env) cp() *cobra.Command {
	return e.transfer("cp", "Copy a file or folder of the drive to another place of it", (*client.Client).Copy)
}

func (e *Env) mv() *cobra.Command {
	return e.transfer("mv", "Move or rename a file or folder of the drive", (*client.Client).Move)
}

func (e *Env) transfer(name, short string, f func(*client.Client, context.Context, string, string) error) *cobra.Command {
	c := &cobra.Command{
		Use: name + " FROM TO", Short: short,
		Long: short + ". A TO that ends\nwith a slash is a folder. What is there is overwritten. " + drivePaths,
		Args: cobra.ExactArgs(2),
	}
	c.ValidArgsFunction = e.completeDrive
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		to := args[1]
		if strings.HasSuffix(to, "/") {
			to = path.Join(to, path.Base(args[0]))
		}
		return f(s.Client, ctx, args[0], to)
	})
}

// ErrNoSuccessor is the error of --hand-over without a name, as of a variable in a script that
// is not set.
var ErrNoSuccessor = errors.New("--hand-over is empty: give it the name of a user or team, or leave it out")

func (e *Env) rm() *cobra.Command {
	var force bool
	var handOver string
	c := &cobra.Command{
		Use: "rm FILE...", Short: "Delete files or folders of the drive",
		Long: "Deletes files and whole folders of Documents/, routes, schedule entries and users, and cancels cases.\n" +
			"What is deleted in Documents/ stays in .history/ for a while. " + drivePaths,
		Example: "  flowdrive rm Documents/admin/invoice.pdf\n  flowdrive rm Admin/Users/ann.json --hand-over tom",
		Args:    cobra.MinimumNArgs(1),
	}
	c.Flags().BoolVar(&force, "force", false, "a route also if it is in use: its open cases are canceled, its entries paused")
	c.Flags().StringVar(&handOver, "hand-over", "", "who gets what a user or team has that is deleted: its cases, tasks, routes, entries and documents")
	c.ValidArgsFunction = e.completeDrive
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		if c.Flags().Changed("hand-over") && handOver == "" {
			return e.Usage(ErrNoSuccessor)
		}
		return s.each(args, func(name string) error {
			query := url.Values{}
			if force {
				query.Set("force", "1")
			}
			if handOver != "" {
				query.Set("handOver", handOver)
			}
			kept, err := client.DeleteKept(ctx, s.Client, name, query)
			if err != nil || kept == "" {
				return byFlag(err)
			}
			return s.say("%s is deleted, and the server's disk is full still: %s keeps what is deleted. To make room delete it there, too.", name, kept)
		})
	})
}

// byFlag says in the words of the command how what is in use is deleted all the same.
func byFlag(err error) error {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Slug() != "in-use" {
		return err
	}
	p.Detail = strings.NewReplacer("DELETE with ?force ", "rm --force ", "DELETE with ?handOver=<user> ", "rm --hand-over USER ").Replace(p.Detail)
	return p
}

// each does something to several things, and says of which it failed. The exit code is
// that of the first failure.
func (s *session) each(args []string, f func(string) error) error {
	var first error
	failed := 0
	for _, arg := range args {
		err := f(arg)
		if err == nil {
			continue
		}
		if failed++; first == nil {
			first = err
		}
		if len(args) > 1 {
			for line := range strings.Lines(named(arg, err).Error()) {
				if err := s.say("flowdrive: %s", strings.TrimRight(line, "\n")); err != nil {
					return err
				}
			}
		}
	}
	if first == nil || len(args) == 1 {
		return first
	}
	code, ok := ExitCode(first)
	if !ok {
		code = 1
	}
	return codedError{fmt.Errorf("%d of %d failed", failed, len(args)), code}
}

func (e *Env) mountHelp() *cobra.Command {
	c := &cobra.Command{
		Use: "mount-help", Short: "Say how to mount the drive on each system",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	return e.command(c, func(_ context.Context, s *session, _ []string) error {
		address := s.URL() + "/dav/"
		dav := "dav" + strings.TrimPrefix(address, "http")
		return s.Line("%s", strings.NewReplacer("$URL", address, "$DAV", dav, "$NAME", s.User(), "$SITE", s.URL()).Replace(mountText))
	})
}

const mountText = `Make an app password for each machine. With your own password in FLOWDRIVE_PASSWORD:
  APP=$(echo {} | flowdrive put - Account/AppPasswords/NAME.json | tail -n 1)

Linux, files    gio mount $DAV
Linux, davfs2   mount -t davfs -o uid=$(id -u),conf=$PWD/flow.conf $URL /mnt/flow
                  with these lines in flow.conf: dir_refresh 1, file_refresh 1,
                  delay_upload 0, use_locks 0, buf_size 1024 (one a line, without commas)
Linux, rclone   rclone mount :webdav: /mnt/flow --webdav-url $URL --webdav-user $NAME \
                  --webdav-pass "$(rclone obscure "$APP")" --vfs-cache-mode minimal --dir-cache-time 5s
macOS           Finder, Go, Connect to Server: $URL
Windows         Explorer, Map network drive: $URL

What each system needs, and what to do if it does not work, is at
$SITE/docs/mounting.`
