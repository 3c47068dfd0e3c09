// Package policy holds the rules of this repository that a compiler and a
// linter cannot state: the rows of packages and what may import what, the
// purity of the lower rows, budgets, and that the documents name what there
// is. It has tests only and nothing imports it.
package policy
