package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/notify"
)

// destination is a destination of notices as the settings have it.
type destination struct {
	notify.Destination
	kinds    []notice.Kind
	routes   []string
	severity notice.Severity
}

// told returns the destination as the engine knows it.
func (d *destination) told(g *notify.Gateway) notice.Destination {
	return notice.Destination{ID: d.ID(), Name: g.NameOf(&d.Destination), Kinds: d.kinds, Routes: d.routes, Least: d.severity}
}

// readDestination reads an item of the setting notify. g says what is wrong with it, as far
// as that is not in doubt.
func readDestination(v document.Value, g *notify.Gateway, unsure doubts) (d destination) {
	if !v.Is(document.Object) {
		return d
	}
	v.Only("webhook", "template", "token", "sign", "kinds", "routes", "severity")
	d.Template, d.severity = notify.StandardTemplate, notice.Info
	if at := v.Get("webhook"); at.Given() && at.Node.Kind == document.Object {
		d.URLSecret = readSecretName(at)
	} else {
		d.URL, _ = at.Str()
	}
	if at := v.Get("template"); at.Given() {
		d.Template, _ = at.Str()
	}
	if at := v.Get("sign"); at.Given() {
		d.Secret = readSecretName(at)
	}
	if at := v.Get("token"); at.Given() {
		d.Token = readSecretName(at)
	}
	for _, kind := range readTexts(v.Get("kinds"), names(notice.Kinds())) {
		d.kinds = append(d.kinds, notice.Kind(kind))
	}
	d.routes = readTexts(v.Get("routes"), nil)
	if at := v.Get("severity"); at.Given() {
		text, _ := at.Str()
		d.severity = notice.Severity(oneOf(at, text, names(notice.Severities())))
	}
	if d.URL == "" && d.URLSecret == "" {
		return d // said already
	}
	doubted := map[string]bool{
		"webhook": unsure.hosts || d.URLSecret != "" && unsure.secret(d.URLSecret),
		"token":   unsure.secret(d.Token), "sign": unsure.secret(d.Secret),
	}
	for _, wrong := range g.RefusesDestination(&d.Destination) {
		if !doubted[wrong.Part] {
			v.Get(wrong.Part).Fail(errs.CodeFormat, "%s", wrong.Detail)
		}
	}
	return d
}

// readSecretName reads {secret: NAME}.
func readSecretName(v document.Value) string {
	if v.Is(document.Object) {
		v.Only("secret")
		name, _ := v.Get("secret").Str()
		return name
	}
	return ""
}

// readTexts reads a list of texts, or one text. If there are known ones, others are
// faults.
func readTexts(v document.Value, known []string) (texts []string) {
	if !v.Given() {
		return nil
	}
	items := []document.Value{v}
	if v.Node.Kind == document.List {
		items = nil
		for i := range v.Node.Items {
			items = append(items, v.Item(i))
		}
	}
	for _, item := range items {
		if text, ok := item.Str(); ok {
			texts = append(texts, oneOf(item, text, known))
		}
	}
	return texts
}

// oneOf returns the text, which must be one of the known ones if there are any.
func oneOf(v document.Value, text string, known []string) string {
	if len(known) > 0 && !slices.Contains(known, text) {
		v.Fail(errs.CodeFormat, "must be one of %s, not %q%s", strings.Join(known, ", "), text, document.Hint(text, known))
	}
	return text
}

func names[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// destinations returns the destinations of notices, and what is wrong with them. c
// has what they are judged by.
func (s *outsideSettings) destinations(c notify.Config, unsure doubts) ([]destination, error) {
	g := notify.New(c)
	defer g.Close()
	all, err := readList(&s.notify, "notify", func(v document.Value) destination { return readDestination(v, g, unsure) })
	if s.notifyWebhook != "" {
		d := destination{Destination: notify.Destination{Template: notify.StandardTemplate, URL: s.notifyWebhook}, severity: notice.Info}
		if detail := g.RefusesURL(d.URL); detail != "" && !unsure.hosts {
			err = errors.Join(err, configError{fmt.Errorf("--notify-webhook: %s", detail)})
		}
		all = append(all, d)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}
