// Command codecgen writes the functions that turn a struct into JSON and back,
// from the json tags of its fields:
//
//	codecgen FILE TYPE
//
// It reads the package in the current folder and writes FILE there, with an
// append and a read function for TYPE and each struct that TYPE contains. The
// functions that they call for single values are written by hand, beside them:
// codecgen knows only the kinds of values and the shape of the structs.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: codecgen FILE TYPE")
		os.Exit(2)
	}
	code, err := generate(".", os.Args[1], os.Args[2])
	if err == nil {
		err = os.WriteFile(os.Args[1], code, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "codecgen:", err)
		os.Exit(1)
	}
}
