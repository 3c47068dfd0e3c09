package document

import (
	"encoding/json"
	"fmt"
)

// Line renders a value of the program's own as one line of JSON. What does not
// encode is a defect of its type.
func Line(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("document: %T does not encode: %v", v, err))
	}
	return append(data, '\n')
}
