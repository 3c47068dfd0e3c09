package remote

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/internal/document"
	"flowdrive/route"
	"flowdrive/route/diagram"
)

// routeEnds are how the names of files of routes end.
var routeEnds = []string{".yaml", ".yml", ".json"}

func (e *Env) routeGraph() *cobra.Command {
	var form string
	c := &cobra.Command{
		Use: "graph ROUTE|FILE", Short: "Draw a route of the server, or one in a file",
		Long: "Draws a route of the server, or one in a file, which needs no server: as a table (text), as a\n" +
			"picture (svg), for Graphviz (dot) or for Mermaid.",
		Example: "  flowdrive route graph purchase.yaml -o svg >purchase.svg\n  flowdrive route graph bug",
		Args:    cobra.ExactArgs(1),
	}
	c = e.bare(c, func(ctx context.Context, s *session, args []string) error {
		name, source, err := s.routeFrom(ctx, args[0])
		if err != nil {
			return err
		}
		picture, err := drawn(name, source)
		if err != nil {
			return named(args[0], err)
		}
		text := map[string]func() []byte{
			"text": func() []byte { return picture.Text(nil) }, "svg": func() []byte { return picture.SVG(diagram.Options{}) },
			"dot": picture.DOT, "mermaid": func() []byte { return picture.Mermaid(nil) },
		}[form]()
		_, err = s.To.Write(text)
		return err
	})
	c.Flags().StringVarP(&form, "output", "o", "text", "how it is drawn: text, svg, dot or mermaid")
	c.Flags().Lookup("output").Annotations = map[string][]string{"formats": {"text", "svg", "dot", "mermaid"}}
	return c
}

// routeFrom returns the name and document of a route: of the file, if there is one or the
// name is that of one, else of the server.
func (s *session) routeFrom(ctx context.Context, name string) (string, []byte, error) {
	base := filepath.Base(name)
	ext := filepath.Ext(base)
	if name == "-" || slices.Contains(routeEnds, ext) || strings.ContainsRune(name, filepath.Separator) {
		source, err := s.document(name)
		return strings.TrimSuffix(base, ext), source, err
	}
	var err error
	if s.Client, err = s.connect(); err != nil {
		return "", nil, err
	}
	source, err := s.RouteSource(ctx, name)
	return name, source.Text, err
}

// drawn compiles the document of a route, and draws it.
func drawn(name string, source []byte) (*diagram.Picture, error) {
	node, err := document.Parse(source, !strings.HasPrefix(strings.TrimSpace(string(source)), "{"))
	if err != nil {
		return nil, err
	}
	r, _, err := route.Parse(name, node)
	if err != nil {
		return nil, err
	}
	return diagram.Draw(diagram.Of(r)), nil
}
