package diagram

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
)

// mostSentences is how many actions are told of in sentences.
const mostSentences = 100

// Sentences say in words where each action leads to.
func Sentences(g *Graph) string {
	var out []string
	for i, r := range g.Rows {
		if i == mostSentences {
			out = append(out, "There are more actions.")
			break
		}
		if len(r.To) == 0 {
			continue
		}
		from := ""
		if len(r.From) > 0 {
			from = " from " + strings.Join(r.From, " and ")
		}
		out = append(out, fmt.Sprintf("%s leads%s to %s.", r.Title, from, strings.Join(r.To, " or ")))
	}
	return strings.Join(out, " ")
}

// Text writes the picture as a table: what leads from where to where, and who does
// it. With marks it says where a case is and how often each action was performed.
func (p *Picture) Text(m *Marks) []byte {
	var b bytes.Buffer
	title := p.graph.Title
	if m != nil && m.Title != "" {
		title = m.Title
	}
	line(&b, "%s", plain(title))
	if m != nil && m.Text != "" {
		line(&b, "%s", plain(m.Text))
	}
	line(&b, "")
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	head := []string{"From", "Action", "By", "To"}
	if p.graph.Model == "dependency" {
		head = []string{"After", "Action", "By", "Before"}
	}
	if m != nil && m.Times != nil {
		head = append(head, "Performed")
	}
	_, _ = fmt.Fprintln(w, strings.Join(head, "\t")) // a buffer takes everything
	for _, r := range p.graph.Rows {
		cells := []string{orDash(r.From), plain(r.Title), plain(r.By), orDash(r.To)}
		if m != nil && m.Times != nil {
			cells = append(cells, fmt.Sprint(m.Times[r.Action]))
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush()
	var out bytes.Buffer
	for l := range strings.Lines(b.String()) {
		line(&out, "%s", strings.TrimRight(l, " \n"))
	}
	return out.Bytes()
}

func line(b *bytes.Buffer, format string, args ...any) { _, _ = fmt.Fprintf(b, format+"\n", args...) }

func orDash(texts []string) string {
	if len(texts) == 0 {
		return "-"
	}
	return plain(strings.Join(texts, ", "))
}

// plain returns a text in one line.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }
