package remote

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// completionTimeout is how long a shell waits for the server.
const completionTimeout = 2 * time.Second

// candidates are the words that an argument may be.
type candidates func(s *session, ctx context.Context) ([]string, error)

// ask asks the server for candidates. If it cannot be asked, there are none: a shell has no
// place for an error.
func (e *Env) ask(cmd *cobra.Command, f candidates) []string {
	ctx, stop := context.WithTimeout(cmd.Context(), completionTimeout)
	defer stop()
	s := &session{env: e, cmd: cmd, err: cmd.ErrOrStderr(), in: &bufferedInput{from: cmd.InOrStdin()}}
	var err error
	if s.Client, err = s.connect(); err != nil {
		return nil
	}
	words, err := f(s, ctx)
	if err != nil {
		return nil
	}
	return words
}

// completeProfile completes the name of a log-in.
func (e *Env) completeProfile(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	profiles, err := e.Profiles()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := profiles.All()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for name, p := range all {
		words = append(words, fmt.Sprintf("%s\t%s at %s", name, output.Clean(p.User), output.Clean(p.URL)))
	}
	slices.Sort(words)
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeWith completes the first argument, and each one of a command that takes several.
func (e *Env) completeWith(f candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.HasSuffix(cmd.Use, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return e.ask(cmd, f), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTask completes a case, then an action of it.
func (e *Env) completeTask(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	words := func(s *session, ctx context.Context) ([]string, error) {
		tasks, err := s.openTasks(ctx, "", client.TaskFilter{})
		seen, found := map[int64]bool{}, []string{}
		for _, t := range tasks {
			if !seen[t.Case] {
				found = append(found, fmt.Sprintf("%d\t%s", t.Case, output.Clean(t.CaseTitle)))
			}
			seen[t.Case] = true
		}
		return found, err
	}
	switch len(args) {
	case 0:
		return e.ask(cmd, words), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return e.ask(cmd, func(s *session, ctx context.Context) ([]string, error) {
			id, err := s.FindCase(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return s.Actions(ctx, id)
		}), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeTimer completes a case, then a timer of it.
func (e *Env) completeTimer(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return e.ask(cmd, (*session).caseNames), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return e.ask(cmd, func(s *session, ctx context.Context) ([]string, error) {
			id, err := s.FindCase(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return s.timerNames(ctx, id)
		}), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// timerNames returns the names of the timers of a case.
func (s *session) timerNames(ctx context.Context, id int64) ([]string, error) {
	var found []string
	for f, err := range s.Files(ctx, fmt.Sprintf("Workflow/Cases/%d/Timers", id)) {
		if err != nil {
			return nil, err
		}
		if name, is := strings.CutSuffix(path.Base(f.Name), ".json"); is && !f.Folder {
			found = append(found, name)
		}
	}
	return found, nil
}

// completeDrive completes a path of the drive, folder by folder.
func (e *Env) completeDrive(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	folder := ""
	if i := strings.LastIndexByte(begun, '/'); i >= 0 {
		folder = begun[:i+1]
	}
	return e.ask(cmd, func(s *session, ctx context.Context) ([]string, error) {
		var found []string
		for f, err := range s.Files(ctx, folder) {
			if err != nil {
				return nil, err
			}
			name := folder + path.Base(f.Name)
			if f.Folder {
				name += "/"
			}
			found = append(found, name)
		}
		return found, nil
	}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeFlag completes the value of a flag.
func (e *Env) completeFlag(c *cobra.Command, name string, f candidates) {
	err := c.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return e.ask(cmd, f), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag is there, and this is its only completion
	}
}

func (s *session) routeNames(ctx context.Context) ([]string, error) {
	var found []string
	for r, err := range s.Routes(ctx) {
		if err != nil {
			return nil, err
		}
		found = append(found, r.Name+"\t"+output.Clean(r.Title))
	}
	return found, nil
}

// stateNames returns the states of a route, of all routes if name is empty.
func (s *session) stateNames(ctx context.Context, name string) ([]string, error) {
	var found []string
	for r, err := range s.Routes(ctx) {
		if err != nil {
			return nil, err
		}
		if name == "" || name == r.Name {
			for state, is := range r.States {
				found = append(found, state+"\t"+output.Clean(is.Title))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// settings returns the beginnings of --set for the XATTRs that a route declares.
func (s *session) settings(ctx context.Context, route string) ([]string, error) {
	r, err := s.Route(ctx, route)
	if err != nil {
		return nil, err
	}
	var found []string
	for name, is := range r.XAttrs {
		found = append(found, name+"=\t"+output.Clean(is.Title))
	}
	slices.Sort(found)
	return found, nil
}

// knownRoute returns an error if a filter that has found nothing names a route that is not there.
func (s *session) knownRoute(ctx context.Context, name string, found int) error {
	if name == "" || found > 0 {
		return nil
	}
	_, err := s.Route(ctx, name)
	return err
}

func (s *session) caseNames(ctx context.Context) ([]string, error) {
	var found []string
	for c, err := range s.Cases(ctx, client.CaseFilter{}) {
		if err != nil {
			return nil, err
		}
		found = append(found, fmt.Sprintf("%d\t%s", c.ID, output.Clean(c.Title)))
	}
	return found, nil
}

func (s *session) people(ctx context.Context) ([]string, error) { return s.People(ctx) }
