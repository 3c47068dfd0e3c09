package route

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
)

// formKeyword is what stands under a keyword of JSON Schema.
type formKeyword int

const (
	formValue   formKeyword = iota // anything but a schema
	formSchema                     // a schema, or a list of some
	formSchemas                    // an object of schemas by name
)

// formKeywords are the keywords of JSON Schema, those of earlier drafts included.
var formKeywords = sortedKeywords(map[formKeyword]string{
	formValue: "$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary " +
		"const contentEncoding contentMediaType default deprecated description enum examples exclusiveMaximum exclusiveMinimum " +
		"format id maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum " +
		"multipleOf pattern readOnly required dependentRequired title type uniqueItems writeOnly",
	formSchema: "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems " +
		"propertyNames then unevaluatedItems unevaluatedProperties",
	formSchemas: "$defs definitions dependencies dependentSchemas patternProperties properties",
})

func sortedKeywords(words map[formKeyword]string) map[string]formKeyword {
	out := map[string]formKeyword{}
	for kind, names := range words {
		for _, name := range strings.Fields(names) {
			out[name] = kind
		}
	}
	return out
}

// formSlips are what people write in a schema instead of its keywords.
var formSlips = document.Slips{
	"mandatory needed":       `did you mean "required"?`,
	"min":                    `did you mean "minimum"?`,
	"max":                    `did you mean "maximum"?`,
	"options choices values": `did you mean "enum"?`,
	"regex regexp":           `did you mean "pattern"?`,
	"label name":             `did you mean "title"?`,
	"fields":                 `did you mean "properties"?`,
}

// forms warns of keys in forms that are no keywords of JSON Schema, and so do nothing.
func (w *warner) forms() {
	known := make([]string, 0, len(formKeywords))
	for name := range formKeywords {
		known = append(known, name)
	}
	slices.Sort(known)
	for i := range w.route.Actions {
		if w.route.Actions[i].Form != nil {
			w.formWords(w.action(i).Get("form"), known)
		}
	}
}

func (w *warner) formWords(v document.Value, known []string) {
	if isKind(v, document.List) {
		for i := range v.Node.Items {
			w.formWords(v.Item(i), known)
		}
	}
	if !isKind(v, document.Object) {
		return
	}
	w.requiredOfForm(v)
	for i := range v.Node.Members {
		name, member := v.Member(i)
		kind, is := formKeywords[name]
		switch {
		case !is && !strings.HasPrefix(name, "x-"):
			w.root.Faults.AddKey(&v.Node.Members[i], member.Pointer, codeWarning, "has no effect: it is not a keyword of JSON Schema%s", formSlips.Hint(name, known))
		case kind == formSchema:
			w.formWords(member, known)
		case kind == formSchemas && isKind(member, document.Object):
			for j := range member.Node.Members {
				_, schema := member.Member(j)
				if !isKind(schema, document.List) { // dependencies has lists of names
					w.formWords(schema, known)
				}
			}
		}
	}
}

// requiredOfForm warns of required XATTRs that an object schema has among no properties:
// nobody is asked for them, and nobody can send a form without them.
func (w *warner) requiredOfForm(v document.Value) {
	properties, required := v.Get("properties"), v.Get("required")
	if !isKind(properties, document.Object) || !isKind(required, document.List) || v.Get("patternProperties").Given() {
		return
	}
	known := keys(properties.Node)
	for i := range required.Node.Items {
		if name, is := str(required.Item(i)); is && !slices.Contains(known, name) {
			w.warn(required.Item(i), "%q is not among the properties, so that nobody is asked for it%s", clip(name), document.Hint(name, known))
		}
	}
}
