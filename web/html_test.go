package web

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// faultsOf returns what is wrong with a page: what the rules of all pages forbid.
func faultsOf(text string) (faults []string) {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return []string{err.Error()}
	}
	ids := map[string]int{}
	var named []string // ids that something names
	headings, last := 0, 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				faults = append(faults, fmt.Sprintf("<%s> has the attribute %s", n.Data, a.Key))
			case a.Key == "for", a.Key == "aria-labelledby", a.Key == "aria-describedby", a.Key == "aria-controls", a.Key == "list":
				named = append(named, strings.Fields(a.Val)...)
			case a.Key == "href" && len(a.Val) > 1 && a.Val[0] == '#' && n.Data != "use":
				named = append(named, a.Val[1:])
			}
			if strings.Contains(a.Val, "ZgotmplZ") {
				faults = append(faults, fmt.Sprintf("<%s %s> has a value that the template does not trust", n.Data, a.Key))
			}
			if strings.Contains(a.Val, "/assets/none/") {
				faults = append(faults, fmt.Sprintf("%s is not there", a.Val))
			}
		}
		if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
			level := int(n.Data[1] - '0')
			if level == 1 {
				headings++
			}
			if level > last+1 {
				faults = append(faults, fmt.Sprintf("<%s> comes after <h%d>", n.Data, last))
			}
			last = level
		}
		faults = append(faults, nameless(n)...)
	}
	for id, n := range ids {
		if n > 1 {
			faults = append(faults, fmt.Sprintf("the id %q is there %d times", id, n))
		}
	}
	for _, id := range named {
		if ids[id] == 0 {
			faults = append(faults, fmt.Sprintf("the id %q is named and not there", id))
		}
	}
	if headings != 1 {
		faults = append(faults, fmt.Sprintf("there are %d h1", headings))
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

// nameless says if a control has no name that can be read out.
func nameless(n *html.Node) []string {
	if n.Data != "button" && n.Data != "a" {
		return nil
	}
	for _, a := range n.Attr {
		if a.Key == "aria-label" && a.Val != "" {
			return nil
		}
	}
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			return nil
		}
	}
	return []string{fmt.Sprintf("a <%s> has no name", n.Data)}
}

// textOf returns the text of the element with the id, "" if it is not there.
func textOf(page, id string) string {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return ""
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key != "id" || a.Val != id {
				continue
			}
			var b strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					b.WriteString(d.Data)
				}
			}
			return strings.Join(strings.Fields(b.String()), " ")
		}
	}
	return ""
}
