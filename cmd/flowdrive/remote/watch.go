package remote

import (
	"context"

	"flowdrive/cmd/flowdrive/output"

	"github.com/spf13/cobra"
)

func (e *Env) watch() *cobra.Command {
	c := output.Choices(func() *cobra.Command {
		c := &cobra.Command{Use: "watch", Short: "Print what happens, as it happens", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions}
		c.Flags().StringP("output", "o", "", "json or yaml, for programs")
		return c
	}(), "output", "json", "yaml")
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		for event, err := range s.Follow(ctx) {
			if err != nil {
				return err
			}
			switch {
			case event.Kind == "reset":
				continue
			case s.Format != "":
				err = s.Document(event.Raw())
			default:
				err = s.Line("%s  %-8s  %-9s  %s", event.Time.Format("2006-01-02 15:04:05"), event.Kind, event.Change, output.Clean(event.Href))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *Env) status() *cobra.Command {
	c := output.Choices(func() *cobra.Command {
		c := &cobra.Command{
			Use: "status", Short: "Say how the server and your cases stand, and what is late",
			Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		}
		c.Flags().StringP("output", "o", "", "json or yaml, for programs")
		return c
	}(), "output", "json", "yaml")
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		if s.Format != "" {
			raw, err := s.Overview(ctx)
			if err != nil {
				return err
			}
			return s.Document(raw)
		}
		about, err := s.About(ctx)
		if err != nil {
			return err
		}
		ready := "ready"
		if err := s.Ready(ctx); err != nil {
			ready = "not ready: " + err.Error()
		}
		if err := s.Line("%s, Flowdrive %s, %s\n", s.URL(), output.Clean(about.Version), output.Clean(ready)); err != nil {
			return err
		}
		for _, page := range []string{"overview", "late"} {
			text, err := s.Text(ctx, page)
			if err != nil {
				return err
			}
			if err := s.Lines(text); err != nil {
				return err
			}
		}
		return nil
	})
}
