package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// picked are paths into a JSON text of which the values are wanted. The text is walked once
// for all of them, and nothing else of it is kept: it is large, and a stranger has written it.
type picked struct {
	next map[string]*picked // by key, or by index of a list
	path []string           // that end here, as they are spelled
}

// pick returns what stands at each path, /data/case or data.case, that leads to a text, a number,
// a truth value or null: a string, json.Number, bool or nil. Of a key that stands twice in an
// object the last counts. The text must be valid JSON; of another one what came before is returned.
func pick(text []byte, paths []string) map[string]any {
	root, values := &picked{}, map[string]any{}
	for _, path := range paths {
		root.want(path)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	root.read(d, values)
	return values
}

func (p *picked) want(path string) {
	keys := strings.Split(path, ".")
	if pointer, is := strings.CutPrefix(path, "/"); is {
		keys = strings.Split(pointer, "/")
		for i, key := range keys {
			keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		}
	}
	at := p
	for _, key := range keys {
		if at.next[key] == nil {
			if at.next == nil {
				at.next = map[string]*picked{}
			}
			at.next[key] = &picked{}
		}
		at = at.next[key]
	}
	if !slices.Contains(at.path, path) {
		at.path = append(at.path, path)
	}
}

// read reads the next value, and returns whether there is more to read. nil wants nothing of it.
func (p *picked) read(d *json.Decoder, values map[string]any) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	delim, container := token.(json.Delim)
	switch {
	case p == nil && container:
		return skip(d)
	case p == nil:
		return true
	case !container:
		for _, path := range p.path {
			values[path] = token
		}
		return true
	}
	for _, path := range p.path {
		delete(values, path) // a value under the same key came before
	}
	for i := 0; d.More(); i++ {
		key := strconv.Itoa(i)
		if delim == '{' {
			token, err := d.Token()
			if err != nil {
				return false
			}
			key, _ = token.(string) // a key is nothing else
		}
		if !p.next[key].read(d, values) {
			return false
		}
	}
	_, err = d.Token() // what ends it
	return err == nil
}

// skip reads the rest of an object or list that has begun. It does not call itself, however
// deep they are.
func skip(d *json.Decoder) bool {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return true
}
