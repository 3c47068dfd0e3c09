package route

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// schemaTypeSlips are what people write for the types of JSON Schema.
var schemaTypeSlips = document.Slips{
	"text str varchar": `did you mean "string"?`,
	"int long":         `did you mean "integer"?`,
	"float double":     `did you mean "number"?`,
	"bool":             `did you mean "boolean"?`,
	"date":             `a date is a string: write type: string, format: date`,
	"datetime":         `a time is a string: write type: string, format: date-time`,
	"email":            `did you mean "string", with format: email?`,
	"enum":             `what can be chosen is a string: write type: string, enum: [Sit, Stand]`,
	"list":             `did you mean "array"?`,
	"dict map":         `did you mean "object"?`,
}

// formFault says what is wrong with a form at the place where it is, nil if that cannot be
// said in the words of the other faults.
func formFault(v document.Value, err error) *errs.Fault {
	refused, is := errors.AsType[*jsonschema.SchemaValidationError](err)
	if !is {
		return nil
	}
	invalid, is := errors.AsType[*jsonschema.ValidationError](refused.Err)
	if !is {
		return nil
	}
	for len(invalid.Causes) > 0 {
		// Of a choice it is the cause that came furthest. The validator leaves the order of
		// properties to chance.
		invalid = slices.MinFunc(invalid.Causes, func(a, b *jsonschema.ValidationError) int {
			return cmp.Or(
				cmp.Compare(len(b.InstanceLocation), len(a.InstanceLocation)),
				slices.Compare(a.InstanceLocation, b.InstanceLocation), strings.Compare(a.SchemaURL, b.SchemaURL),
			)
		})
	}
	at := v.Node.At(invalid.InstanceLocation...)
	if at == nil {
		return nil
	}
	pointer := v.Pointer
	for _, step := range invalid.InstanceLocation {
		pointer = document.Pointer(pointer, step)
	}
	code, detail := explainPart(invalid, at)
	if detail == "" {
		return nil
	}
	return &errs.Fault{Pointer: pointer, Code: code, Detail: detail}
}
