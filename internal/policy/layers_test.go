package policy

import (
	"fmt"
	"slices"
	"strings"
)

// row is a layer of the house: packages that know only what lies below.
type row struct {
	what     string
	packages []string
	pure     bool // no I/O, clock, goroutine or random source of our own
}

// rows are the house from the top down (ARCHITECTURE.md). A package without a
// row is an error, so that a new one forces the talk about its place.
func rows() []row {
	return []row{
		{what: "tests of the whole", packages: []string{"internal/policy", "internal/mailbox", "internal/licenses", "internal/codecgen", "internal/placetest", "internal/s3server", "store/storetest"}},
		{what: "the program", packages: []string{"cmd/flowdrive"}},
		{what: "the commands that speak to a server", packages: []string{"cmd/flowdrive/remote"}},
		{what: "measurements of the whole; how commands tell what they have found", packages: []string{"internal/bench", "cmd/flowdrive/output"}},
		{what: "the drive and the pages; what is done with a whole data folder", packages: []string{"davfs", "web", "internal/simulate", "store/backup", "store/check", "store/transfer"}},
		{what: "HTTP, and adapters to database and disk", packages: []string{"server", "client", "store/sqlite", "store/postgres", "attach", "attach/bucket", "store/contentrows", "notify", "internal/jqworker", "internal/confine", "internal/signon"}},
		{what: "use cases", packages: []string{"engine"}},
		{what: "what use cases are made of, each knowing no engine", packages: []string{"engine/access", "engine/account", "engine/prefetch", "engine/audit", "engine/contents", "engine/events", "engine/expiry", "engine/files", "engine/hook", "engine/calendar", "engine/notice", "engine/outbox", "engine/picture", "engine/quota", "engine/scratch", "engine/status"}},
		{what: "how something is changed", packages: []string{"engine/change"}},
		{what: "the statements of all databases", packages: []string{"store/relational"}},
		{what: "what is kept, and who reads and writes it", packages: []string{"store"}},
		{what: "what an event does to a case", packages: []string{"engine/machine"}, pure: true},
		{what: "recurrences, rights, definitions, schemas, the protocol of the drive", packages: []string{"schedule", "davfs/dav", "internal/identity", "route", "route/diagram", "route/expr", "route/jq", "internal/ical", "internal/manual", "schema"}, pure: true},
		{what: "vocabulary", packages: []string{"docs", "internal/errs", "internal/label", "internal/clock", "internal/document", "internal/filename", "internal/layered", "internal/link", "internal/mediatype", "internal/password", "internal/plaintext", "internal/webhook"}, pure: true},
		{what: "servers for tests", packages: []string{"internal/pgtest", "internal/cable", "internal/signontest"}},
	}
}

// sideways lists the imports within a row that are allowed, with the reason.
func sideways() map[[2]string]string {
	return map[[2]string]string{
		{"internal/jqworker", "internal/confine"}:   "a filter has a process that is bounded",
		{"attach/bucket", "attach"}:                 "what is on its way waits in a folder, where all are pinned",
		{"store/contentrows", "attach"}:             "what is on its way waits in a folder",
		{"notify", "internal/confine"}:              "a command has a process that is bounded",
		{"engine/calendar", "engine/contents"}:      "a calendar of days off may be a file",
		{"engine/files", "engine/account"}:          "who may read and write below a root",
		{"engine/files", "engine/audit"}:            "an administrator who reads another's documents is written into the audit log",
		{"engine/files", "engine/contents"}:         "a document has a content",
		{"engine/files", "engine/expiry"}:           "versions expire",
		{"engine/scratch", "engine/contents"}:       "a side file has a content",
		{"engine/scratch", "engine/expiry"}:         "side files expire",
		{"engine/scratch", "engine/quota"}:          "side files count against their author's quota",
		{"engine/files", "engine/quota"}:            "what is stored counts against its author's quota",
		{"engine/outbox", "engine/quota"}:           "a full quota is a failure of its own, not the store's",
		{"engine/account", "engine/audit"}:          "what is done to an account is written into the audit log",
		{"internal/document", "internal/errs"}:      "a document's faults are part of the vocabulary of failure",
		{"internal/label", "internal/clock"}:        "labels count in calendar months as durations do",
		{"internal/label", "internal/document"}:     "the value of an XATTR is a value of a document",
		{"internal/label", "internal/errs"}:         "a key or label that is none is a fault of its document",
		{"internal/plaintext", "internal/document"}: "rows become JSON",
		{"route/diagram", "route"}:                  "a picture is one of a route",
		{"route", "internal/identity"}:              "a route names users and teams",
		{"route", "route/expr"}:                     "expressions are compiled where a route is",
		{"route", "route/jq"}:                       "filters are judged where a route is",
		{"route", "schema"}:                         "the structure of a route document is a JSON Schema",
	}
}

// checkLayers wants imports to go downwards only. Tests are not judged: they
// may put the real thing above or beside what they try.
func checkLayers(t tree) []string {
	level := map[string]int{}
	for i, r := range rows() {
		for _, p := range r.packages {
			level[p] = i
		}
	}
	var faults []string
	for _, p := range t.packages() {
		if _, ok := level[p]; !ok {
			faults = append(faults, fmt.Sprintf("package %s has no row: give it one in internal/policy/layers_test.go", p))
		}
	}
	for _, f := range t.files {
		if f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			target, ours := strings.CutPrefix(importPath(spec), module+"/")
			if !ours {
				continue
			}
			from, to := level[f.dir], level[target]
			_, allowed := sideways()[[2]string{f.dir, target}]
			if to < from || to == from && !allowed {
				faults = append(faults, fmt.Sprintf("%s: %s imports %s, which is not below it", t.at(spec), f.dir, target))
			}
		}
	}
	return faults
}

// impureImports are what a pure package does not import. An entry ending in
// "/" means whatever is below it.
func impureImports() []string {
	return []string{
		"os", "os/", "net", "net/http", "net/http/", "net/rpc", "net/smtp", "syscall",
		"io/ioutil", "path/filepath", "database/sql", "database/sql/", "plugin", "runtime", "runtime/",
		"crypto/rand", "math/rand", "math/rand/", "log", "log/", "context",
		"github.com/rs/zerolog", "github.com/rs/zerolog/",
	}
}

// impureCalls are what a pure package does not use of what it may import:
// the clock, waiting, the zone files of the disk, and random identities.
func impureCalls() map[string][]string {
	return map[string][]string{
		"time": {
			"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc",
			"LoadLocation", "Local",
		},
		"github.com/google/uuid": {"New", "NewString", "NewRandom", "NewUUID", "NewV6", "NewV7"},
	}
}

// checkPurity wants the pure rows to import and call no I/O, no clock, no
// random source and to start no goroutine. Package clock alone asks for the
// time. Libraries are not judged.
func checkPurity(t tree) []string {
	pure := map[string]bool{}
	for _, r := range rows() {
		for _, p := range r.packages {
			pure[p] = r.pure
		}
	}
	var faults []string
	for _, f := range t.files {
		if f.test || !pure[f.dir] {
			continue
		}
		faults = append(faults, t.impurities(f)...)
	}
	return faults
}

func (t tree) impurities(f file) []string {
	var faults []string
	for _, spec := range f.ast.Imports {
		if p := importPath(spec); isImpure(p) {
			faults = append(faults, fmt.Sprintf("%s: %s is pure but imports %s", t.at(spec), f.dir, p))
		}
	}
	calls := impureCalls()
	f.uses(func(n node, p, name string) {
		if f.dir == "internal/clock" && p == "time" && (name == "Now" || name == "LoadLocation") {
			return
		}
		if slices.Contains(calls[p], name) {
			faults = append(faults, fmt.Sprintf("%s: %s is pure but uses %s.%s", t.at(n), f.dir, p, name))
		}
	})
	for _, n := range f.goStatements() {
		faults = append(faults, fmt.Sprintf("%s: %s is pure but starts a goroutine", t.at(n), f.dir))
	}
	return faults
}

func isImpure(importPath string) bool {
	return slices.ContainsFunc(impureImports(), func(p string) bool {
		return p == importPath || strings.HasSuffix(p, "/") && strings.HasPrefix(importPath, p)
	})
}
