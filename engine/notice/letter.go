package notice

import (
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"flowdrive/engine/machine"
)

// letter is a mail before it is written as text and as HTML. What people have
// written stands in it as it is; writing it makes it harmless.
type letter struct {
	Subject string
	Opening string // "" for the subject
	Tasks   []letterTask
	Limits  []string // when what happens if nobody does anything about the tasks
	Detail  string   // what is wrong
	Output  []string // the end of what a command wrote
	Acts    []letterAct
	Facts   []machine.Fact
	Links   []letterLink
	Closing []string // paragraphs
}

type letterTask struct {
	Title, Link string
	Lines       []string
}

type letterAct struct {
	Line string
	Said []string
}

type letterLink struct{ Label, To string }

func (l *letter) link(label, to string) { l.Links = append(l.Links, letterLink{label, to}) }

// mail writes the letter to a person.
func (l *letter) mail(p *Person, thread string) *machine.Mail {
	l.tidy()
	return &machine.Mail{To: []string{p.Email}, Subject: subjectLine(l.Subject), Text: l.text(), HTML: l.html(), Thread: thread}
}

// tidy makes lines of what people have written, and none of them endless.
func (l *letter) tidy() {
	if l.Opening == "" {
		l.Opening = l.Subject
	}
	l.Opening, l.Detail = oneLine(l.Opening), oneLine(l.Detail)
	for i := range l.Tasks {
		t := &l.Tasks[i]
		t.Title, t.Lines = oneLine(t.Title), lines(t.Lines)
		t.Lines = slices.DeleteFunc(t.Lines, func(line string) bool { return line == "" })
	}
	for i := range l.Acts {
		l.Acts[i].Line, l.Acts[i].Said = oneLine(l.Acts[i].Line), lines(l.Acts[i].Said)
	}
	for i := range l.Facts {
		l.Facts[i].Title, l.Facts[i].Text = oneLine(l.Facts[i].Title), oneLine(l.Facts[i].Text)
	}
	l.Output, l.Limits = lines(l.Output), lines(l.Limits)
}

// oneLine returns the text as one line, and the beginning of a long one.
func oneLine(text string) string {
	const most = 500 // characters
	text = machine.OneLine(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func lines(all []string) []string {
	const most = 60
	out := make([]string, 0, min(len(all), most))
	for _, line := range all[max(0, len(all)-most):] {
		out = append(out, oneLine(line))
	}
	return out
}

// text writes the letter as plain text, with lines of 78 characters if their words
// allow it.
func (l *letter) text() string {
	var b strings.Builder
	paragraph := func(text string) { b.WriteString(wrap(text, "") + "\n\n") }
	b.WriteString(l.Opening + "\n\n") // it has dates, which are not broken
	for _, t := range l.Tasks {
		b.WriteString("  " + t.Title + "\n")
		for _, line := range t.Lines {
			b.WriteString(wrap(line, "    ") + "\n")
		}
		b.WriteString("    " + t.Link + "\n\n")
	}
	if len(l.Limits) > 0 {
		b.WriteString("If nobody does anything:\n\n")
		for _, line := range l.Limits {
			b.WriteString("  " + wrap(line, "    ")[4:] + "\n")
		}
		b.WriteByte('\n')
	}
	if l.Detail != "" {
		b.WriteString("  " + l.Detail + "\n\n")
	}
	if len(l.Output) > 0 {
		b.WriteString("What it wrote in the end:\n\n")
		for _, line := range l.Output {
			b.WriteString("  > " + line + "\n")
		}
		b.WriteByte('\n')
	}
	for _, a := range l.Acts {
		b.WriteString("  " + a.Line + "\n")
		for _, said := range a.Said {
			b.WriteString("  > " + said + "\n")
		}
	}
	if len(l.Acts) > 0 {
		b.WriteByte('\n')
	}
	widest := 0
	for _, f := range l.Facts {
		widest = max(widest, utf8.RuneCountInString(f.Title))
	}
	for _, k := range l.Links {
		widest = max(widest, utf8.RuneCountInString(k.Label))
	}
	row := func(label, text string) {
		b.WriteString(label + ":" + strings.Repeat(" ", 1+widest-utf8.RuneCountInString(label)) + text + "\n")
	}
	for _, f := range l.Facts {
		row(f.Title, f.Text)
	}
	if len(l.Facts) > 0 {
		b.WriteByte('\n')
	}
	for _, k := range l.Links {
		row(k.Label, k.To)
	}
	if len(l.Links) > 0 {
		b.WriteByte('\n')
	}
	for _, text := range l.Closing {
		paragraph(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// wrap breaks a text between words.
func wrap(text, indent string) string {
	const most = 78 // characters
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
			lead := indent + text[:len(text)-len(strings.TrimLeft(text, " "))]
			b.WriteString(lead)
			at = len(lead)
		case at+1+n > most:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// html writes the letter as HTML, "" if its links could not be followed: it has them
// as buttons.
func (l *letter) html() string {
	for _, k := range l.Links {
		if !strings.Contains(k.To, "://") {
			return ""
		}
	}
	if len(l.Links) == 0 {
		return ""
	}
	var b strings.Builder
	if err := letterHTML.Execute(&b, l); err != nil {
		return "" // the text says it all
	}
	return b.String()
}

// letterHTML is small, and without anything that is fetched: mail programs show it
// as it is. The package html/template escapes what people have written.
var letterHTML = template.Must(template.New("letter").Parse(`<!DOCTYPE html>
<html><body style="font-family:sans-serif;font-size:15px;line-height:1.4;max-width:40em">
<p>{{.Opening}}</p>
{{range .Tasks}}<p><a href="{{.Link}}" style="display:inline-block;padding:6px 14px;border:1px solid #06c;border-radius:4px;text-decoration:none">{{.Title}}</a>
{{- range .Lines}}<br>{{.}}{{end}}</p>
{{end}}{{with .Limits}}<p>If nobody does anything:{{range .}}<br>{{.}}{{end}}</p>
{{end}}{{with .Detail}}<p><b>{{.}}</b></p>
{{end}}{{with .Output}}<pre>{{range .}}{{.}}
{{end}}</pre>
{{end}}{{range .Acts}}<p>{{.Line}}</p>
{{with .Said}}<blockquote style="margin-left:0;padding-left:1em;border-left:3px solid #ccc">{{range $i, $line := .}}{{if $i}}<br>{{end}}{{$line}}{{end}}</blockquote>
{{end}}{{end}}{{with .Facts}}<table>{{range .}}<tr><td style="padding-right:1em">{{.Title}}</td><td>{{.Text}}</td></tr>{{end}}</table>
{{end}}<p>{{range $i, $link := .Links}}{{if $i}} · {{end}}<a href="{{$link.To}}">{{$link.Label}}</a>{{end}}</p>
{{range .Closing}}<p style="color:#666;font-size:13px">{{.}}</p>
{{end}}</body></html>
`))
