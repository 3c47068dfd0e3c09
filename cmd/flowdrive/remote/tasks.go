package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

func (e *Env) tasks() *cobra.Command {
	var filter client.TaskFilter
	var overdue bool
	var team string
	c := output.Formats(&cobra.Command{
		Use: "tasks", Short: "List what you have to do",
		Long: "Lists the tasks that you have accepted and those that are offered to you. What you are warned\n" +
			"of comes below. With --for it lists the open tasks of a team that you head.",
		Example: "  flowdrive tasks --overdue\n  flowdrive tasks -o name", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	})
	c.Flags().BoolVar(&overdue, "overdue", false, "only those whose date has passed")
	c.Flags().StringVar(&filter.Route, "route", "", "only those of a route")
	c.Flags().StringVar(&team, "for", "", "those of the members of a team that you head")
	c.Flags().StringVarP(&filter.Query, "query", "q", "", "only those with these words in their title")
	e.completeFlag(c, "route", (*session).routeNames)
	e.completeFlag(c, "for", (*session).people)
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		tasks, err := s.openTasks(ctx, team, filter)
		if err == nil {
			err = s.knownRoute(ctx, filter.Route, len(tasks))
		}
		if err != nil {
			return err
		}
		if overdue {
			now := s.serverTime(ctx)
			tasks = slices.DeleteFunc(tasks, func(t client.Task) bool { return t.Due == nil || t.Due.After(now) })
		}
		if err := s.showTasks(ctx, tasks); err != nil || s.Format != "" || team != "" {
			return err
		}
		return s.showWarnings(ctx, tasks)
	})
}

// openTasks returns the tasks of the user, the accepted ones first, or those of a team.
func (s *session) openTasks(ctx context.Context, team string, f client.TaskFilter) ([]client.Task, error) {
	if team != "" {
		all, err := client.Collect(s.TeamTasks(ctx, team))
		return slices.DeleteFunc(all, func(t client.Task) bool {
			return f.Route != "" && !strings.EqualFold(t.Route, f.Route) || !strings.Contains(strings.ToLower(t.CaseTitle), strings.ToLower(f.Query))
		}), err
	}
	accepted, err := client.Collect(s.Tasks(ctx, client.Accepted, f))
	if err != nil {
		return nil, err
	}
	offered, err := client.Collect(s.Tasks(ctx, client.Offered, f))
	return append(accepted, offered...), err
}

func (s *session) showTasks(ctx context.Context, tasks []client.Task) error {
	items := make([]output.Item, len(tasks))
	for i, t := range tasks {
		items[i] = output.Item{
			JSON: t.Raw(), Name: fmt.Sprintf("%d %s", t.Case, t.Action),
			Cells: []string{strconv.FormatInt(t.Case, 10), t.Action, t.CaseTitle, s.when(ctx, t.Due), t.State},
			Alarm: t.Due != nil && s.Terminal && t.Due.Before(s.serverTime(ctx)),
		}
	}
	return s.Show([]string{"case", "action", "title", "due", "state"}, items)
}

// warningWords says what a task, or a case itself, is warned of.
func warningWords(t *client.Task, text string) string {
	return output.Clean(strings.TrimSpace(fmt.Sprintf("warning: %d %s", cmp.Or(t.Case, t.ID), t.Action)) + ": " + text)
}

// showWarnings writes what the user is warned of below the tasks. A task with warnings is
// in the worklist Warnings, too.
func (s *session) showWarnings(ctx context.Context, tasks []client.Task) error {
	warned, err := client.Collect(s.Tasks(ctx, client.Warnings, client.TaskFilter{}))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, t := range append(warned, tasks...) {
		for _, w := range t.Warnings {
			text := warningWords(&t, w.Text)
			if seen[text] {
				continue
			}
			seen[text] = true
			if err := s.Line("%s", text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Env) do() *cobra.Command {
	var what client.Do
	var settings, files []string
	c := &cobra.Command{
		Use: "do CASE [ACTION]", Short: "Perform an action of a case",
		Long: "Performs an action of a case. Without ACTION it asks on a terminal which, and for the fields\n" +
			"of its form. --set key=text sets an XATTR, --set key:=value one that is a number, true, false,\n" +
			"null or other JSON. A file of --file is stored with the case before.",
		Example: "  flowdrive do 42 approve -m \"Go ahead\" --set amount=120",
		Args:    cobra.RangeArgs(1, 2),
	}
	c.Flags().StringVarP(&what.Comment, "message", "m", "", "a comment for the log")
	c.Flags().StringVar(&what.Resolution, "resolution", "", "how it is resolved, if the action asks for that")
	c.Flags().StringArrayVar(&settings, "set", nil, "an XATTR, as key=text or key:=JSON; can be repeated")
	c.Flags().StringArrayVar(&files, "file", nil, "a file to store with the case; can be repeated")
	c.ValidArgsFunction = e.completeTask
	return e.command(c, func(ctx context.Context, s *session, args []string) (err error) {
		if what.XAttrs, err = s.values(settings); err != nil {
			return err
		}
		id, err := s.FindCase(ctx, args[0])
		if err != nil {
			return err
		}
		to := target{id: id, asks: len(args) == 1}
		if !to.asks {
			to.action = args[1]
		} else if to.action, err = s.chooseAction(ctx, id); err != nil {
			return err
		}
		if err := s.undeclaredIn(ctx, to, what.XAttrs); err != nil {
			return err
		}
		for _, name := range files {
			if err := s.addFile(ctx, id, name); err != nil {
				return named(name, err)
			}
		}
		return s.perform(ctx, to, what)
	})
}

// target is the action of a case that a command is about.
type target struct {
	id     int64
	action string
	asks   bool // the fields are asked for
}

// perform performs an action. If it asks for the fields, it asks again for what the server
// has refused.
func (s *session) perform(ctx context.Context, t target, what client.Do) error {
	if t.asks {
		if err := s.askForm(ctx, t, &what); err != nil {
			return err
		}
	}
	done, err := s.Do(ctx, t.id, t.action, what)
	for p, refused := errors.AsType[*client.Problem](err); refused && t.asks && askable(p); p, refused = errors.AsType[*client.Problem](err) {
		for _, fault := range p.Faults {
			value, err := s.ask(output.Clean(fmt.Sprintf("%s %s\n%s", fault.Pointer, fault.Detail, field(fault.Pointer))))
			if err != nil {
				return errors.Join(p, err)
			}
			if what.XAttrs == nil {
				what.XAttrs = map[string]any{}
			}
			what.XAttrs[field(fault.Pointer)] = value
		}
		done, err = s.Do(ctx, t.id, t.action, what)
	}
	if client.IsSlug(err, "not-found") || client.IsSlug(err, "action-not-enabled") {
		return s.withChoices(ctx, t.id, err)
	}
	if err != nil {
		return err
	}
	return s.say("Case %d: %s, in the state %s.", t.id, done.State, orNone(done.Status))
}

// withChoices adds to the error what people can do in the case now, unless the user may
// not look at it.
func (s *session) withChoices(ctx context.Context, id int64, err error) error {
	names, failed := s.Actions(ctx, id)
	if client.IsSlug(failed, "not-found") {
		return err
	}
	var can []string
	for _, name := range names {
		t, of := s.Task(ctx, id, name)
		failed = errors.Join(failed, of)
		if len(t.Choices) > 0 { // what performs itself has none
			can = append(can, output.Clean(name))
		}
	}
	switch {
	case failed != nil:
		return errors.Join(err, failed)
	case can == nil:
		return fmt.Errorf("%w In case %d there is nothing for people to do now", err, id)
	}
	return fmt.Errorf("%w In case %d there is now: %s", err, id, strings.Join(can, ", "))
}

// askable reports whether all that was refused are fields of the form.
func askable(p *client.Problem) bool {
	return len(p.Faults) > 0 && !slices.ContainsFunc(p.Faults, func(f client.Fault) bool { return field(f.Pointer) == "" })
}

// field returns the key of the XATTR that a fault is about, or nothing.
func field(pointer string) string {
	key, ok := strings.CutPrefix(pointer, "/xattrDict/")
	if !ok || strings.Contains(key, "/") {
		return ""
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
}

func orNone(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// chooseAction asks which action of a case is meant.
func (s *session) chooseAction(ctx context.Context, id int64) (string, error) {
	names, err := s.Actions(ctx, id)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", fmt.Errorf("there is nothing that you can do in case %d", id)
	}
	if !s.in.terminal() {
		return "", s.env.Usage(fmt.Errorf("say which ACTION: %s", strings.Join(names, ", ")))
	}
	for i, name := range names {
		t, err := s.Task(ctx, id, name)
		if err != nil {
			return "", err
		}
		if err := s.say("%3d  %s: %s", i+1, name, output.Clean(t.Choices["perform"])); err != nil {
			return "", err
		}
	}
	for {
		text, err := s.ask("Which")
		if err != nil {
			return "", err
		}
		if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= len(names) {
			return names[n-1], nil
		}
		if slices.Contains(names, text) {
			return text, nil
		}
	}
}

// askForm asks for the fields of an action that are not given yet.
func (s *session) askForm(ctx context.Context, to target, what *client.Do) error {
	t, err := s.Task(ctx, to.id, to.action)
	if err != nil {
		return err
	}
	fields, err := formOf(&t)
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(fields) {
		if _, given := what.XAttrs[key]; given {
			continue
		}
		question := key
		if title := fields[key].Title; title != "" {
			question = title
		}
		if before := t.XAttrs[key]; before != nil {
			question += fmt.Sprintf(" [%v]", before)
		}
		value, err := s.ask(output.Clean(question))
		if err != nil {
			return err
		}
		if value == "" {
			continue
		}
		if what.XAttrs == nil {
			what.XAttrs = map[string]any{}
		}
		what.XAttrs[key] = value
	}
	if len(t.Resolutions) > 0 && what.Resolution == "" {
		what.Resolution, err = s.ask("Resolution (" + strings.Join(sortedKeys(t.Resolutions), ", ") + ")")
	}
	if err == nil && what.Comment == "" {
		what.Comment, err = s.ask("Comment")
	}
	return err
}

// formField is a field of the form of an action.
type formField struct {
	Title string `json:"title"`
}

// formOf returns the fields of the form of a task, by the keys of their XATTRs.
func formOf(t *client.Task) (fields map[string]formField, err error) {
	var form struct {
		Properties map[string]formField `json:"properties"`
	}
	if len(t.Form) > 0 {
		err = json.Unmarshal(t.Form, &form)
	}
	return form.Properties, err
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (s *session) addFile(ctx context.Context, id int64, name string) (err error) {
	content, size, done, err := s.source(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return s.AddFile(ctx, id, filepath.Base(name), content, size)
}

// taskCommands are what else can be done with a task.
func (e *Env) taskCommands() []*cobra.Command {
	return []*cobra.Command{
		e.taskCommand("accept", "Accept a task: nobody else is to do it"),
		e.taskCommand("release", "Offer a task again that you have accepted"),
		e.taskCommand("reject", "Have a task not offered to you any more"),
		e.taskCommand("delegate", "Offer a task to one other user only"),
	}
}

func (e *Env) taskCommand(name, short string) *cobra.Command {
	what := client.Do{Command: name}
	c := &cobra.Command{Use: name + " CASE ACTION", Short: short, Args: cobra.ExactArgs(2)}
	c.Flags().StringVarP(&what.Comment, "message", "m", "", "a comment for the log")
	if name == "delegate" {
		c.Use += " --to USER"
		c.Flags().StringVar(&what.To, "to", "", "whom it is offered to")
		e.completeFlag(c, "to", (*session).people)
	}
	c.ValidArgsFunction = e.completeTask
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		if name == "delegate" && what.To == "" {
			return s.env.Usage(errors.New("say to whom: --to USER"))
		}
		id, err := s.FindCase(ctx, args[0])
		if err != nil {
			return err
		}
		_, err = s.Do(ctx, id, args[1], what)
		return err
	})
}
