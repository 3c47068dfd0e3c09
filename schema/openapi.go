package schema

import _ "embed"

//go:embed openapi.json
var openAPI string

// OpenAPI returns the description of the drive over HTTP, an OpenAPI 3.1
// document. The bytes are the caller's.
func OpenAPI() []byte { return []byte(openAPI) }
