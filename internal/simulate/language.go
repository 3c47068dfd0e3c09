package simulate

import _ "embed"

// Language describes the language of scenarios to those who write them.
//
//go:embed language.txt
var Language string
