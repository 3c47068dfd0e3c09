package manual

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// linkTo matches a link to a Markdown file.
var linkTo = regexp.MustCompile(`\]\(([^()\s#:]+\.md)(?:#[^()\s]*)?\)`)

// errNoTitle is the error of a page that does not begin with a heading.
var errNoTitle = errors.New("a page begins with a heading of the first level")

// render makes a page of Markdown. Raw HTML is left out. A link to a file that is not of
// the manual becomes its text.
func render(address, folder string, source []byte) (*Page, error) {
	md := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
	)
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{taken: map[string]bool{}}))))
	first, ok := doc.FirstChild().(*ast.Heading)
	if !ok || first.Level != 1 {
		return nil, errNoTitle
	}
	p := &Page{Path: address, Title: plain(first, source)}
	doc.RemoveChild(doc, first)
	if err := relink(doc, folder); err != nil {
		return nil, err
	}
	p.Headings, p.passages = outline(doc, source, p.Title)
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, doc); err != nil {
		return nil, err
	}
	// Wide tables are scrolled by themselves, not with the page.
	p.HTML = strings.NewReplacer("<table>", `<div class="wide" tabindex="0" role="region" aria-label="Table"><table>`, "</table>", "</table></div>").Replace(out.String())
	return p, nil
}

// relink makes links between files links between the pages of the server.
func relink(doc ast.Node, folder string) error {
	var outside []*ast.Link
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, inside := target(folder, string(n.Destination))
			n.Destination = []byte(to)
			if !inside {
				outside = append(outside, n)
			}
		case *ast.Image:
			to, _ := target(folder, string(n.Destination))
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range outside {
		for c := n.FirstChild(); c != nil; {
			next := c.NextSibling()
			n.Parent().InsertBefore(n.Parent(), n, c)
			c = next
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	return err
}

// target returns where a link of a page in the folder leads on the server, and whether that
// is there.
func target(folder, to string) (href string, inside bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "/") {
		return to, true
	}
	to, anchor, anchored := strings.Cut(to, "#")
	full := path.Join("/docs", folder, to)
	if full != "/docs" && !strings.HasPrefix(full, "/docs/") || path.Ext(full) != ".md" && !IsFile(full) {
		return to, false
	}
	if path.Ext(full) == ".md" {
		full = strings.TrimSuffix(full, ".md")
		full = strings.TrimSuffix(full, "README")
	}
	if anchored {
		full += "#" + anchor
	}
	return full, true
}

// IsFile reports whether a file beside the pages is served as it is: a picture, or a
// document of an example.
func IsFile(name string) bool {
	return slices.Contains([]string{".png", ".svg", ".webp", ".yaml", ".json"}, path.Ext(name))
}

// outline returns the headings of the second level, and the page cut at all headings.
func outline(doc ast.Node, source []byte, title string) (headings []Heading, passages []passage) {
	passages = []passage{{heading: title}}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			last := &passages[len(passages)-1]
			last.text += plain(n, source) + "\n"
			continue
		}
		id, words := "", plain(h, source)
		if v, ok := h.AttributeString("id"); ok {
			if b, ok := v.([]byte); ok {
				id = string(b)
			}
		}
		if h.Level == 2 {
			headings = append(headings, Heading{ID: id, Text: words})
		}
		passages = append(passages, passage{id: id, heading: words})
	}
	return headings, passages
}

// plain returns the text of a node, with a blank between its blocks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	// The function given fails for no node.
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// anchors gives headings the ids that forges give them, so that links to them work in
// both places.
type anchors struct{ taken map[string]bool }

func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	base := Anchor(string(value))
	id := base
	for n := 1; a.taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	a.taken[id] = true
	return []byte(id)
}

func (a *anchors) Put(value []byte) { a.taken[string(value)] = true }

// headingLink matches the target of a link in a heading.
var headingLink = regexp.MustCompile(`\]\([^()]*\)`)

// Anchor returns the id of a heading: lower case, hyphens for blanks, no other
// punctuation.
func Anchor(heading string) string {
	heading = headingLink.ReplaceAllString(strings.TrimSpace(heading), "]")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// blocks renders blocks of code, each with a button that copies it.
type blocks struct{}

func (blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var code bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		code.Write(line.Value(source))
	}
	escaped := util.EscapeHTML(code.Bytes())
	_, err := fmt.Fprintf(w, `<div class="sample"><button class="b quiet b-s" type="button" data-copy="%s" hidden>Copy</button><pre class="code" tabindex="0"><code>%s</code></pre></div>`+"\n",
		bytes.ReplaceAll(escaped, []byte("\n"), []byte("&#10;")), escaped)
	return ast.WalkSkipChildren, err
}
