package davfs

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// agents are what real clients call themselves.
var agents = map[string]string{
	"davfs2":  "davfs2/1.6.1 neon/0.32.5",
	"rclone":  "rclone/v1.60.1-DEV",
	"gvfs":    "gvfs/1.50.3",
	"windows": "Microsoft-WebDAV-MiniRedir/10.0.19045",
	"finder":  "WebDAVFS/3.0.0 (03008000) Darwin/22.1.0 (x86_64)",
	"office":  "Microsoft Office Word 2014 (16.0.5134)",
	"curl":    "curl/8.5.0",
}

// scene is a drive on which clients act, a line each:
//
//	client[:user] METHOD path [If-Match: "…"] | body | status [| what is read]
//	client[:user] MOVE path -> path [F] | | status
//
// A path begins in Workflow/. LIST reads the names in a folder, HEAD the size.
// Between bars nothing stands for no body, ” for one that is empty. "+5" lets
// so many seconds pass.
type scene struct {
	*testing.T
	*testDrive
	now  *time.Time
	etag string // of the last answer that had one
}

func newScene(t *testing.T) *scene {
	t.Helper()
	d, now := clockDrive(t)
	s := &scene{T: t, testDrive: d, now: now}
	s.play(`
		curl PUT Routes/tip.yaml | @route | 201
		curl PUT Cases/bug.json | {"route":"tip"} | 201`)
	return s
}

func (s *scene) play(script string) {
	s.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		var seconds int
		if n, _ := fmt.Sscanf(line, "+%d", &seconds); n == 1 {
			*s.now = s.now.Add(time.Duration(seconds) * time.Second)
		} else if line != "" && line[0] != '#' {
			s.step(line)
		}
	}
}

func (s *scene) step(line string) {
	s.Helper()
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	words := strings.Fields(parts[0])
	client, user, _ := strings.Cut(words[0], ":")
	if user == "" {
		user = "sam"
	}
	method, path := words[1], "/dav/Workflow/"+strings.ReplaceAll(words[2], "~~", "%20")
	request := []string{user + " " + method + " " + path, "User-Agent: " + agents[client]}
	if method == "LIST" {
		request = []string{user + " PROPFIND " + path, "User-Agent: " + agents[client], "Depth: 1"}
	}
	if _, header, found := strings.Cut(parts[0], words[2]+" "); found {
		if to, isTo := strings.CutPrefix(header, "-> "); isTo {
			to, flag, _ := strings.Cut(to, " ")
			header = "Destination: http://example.org/dav/Workflow/" + to
			if flag != "" {
				request = append(request, "Overwrite: "+flag)
			}
		}
		request = append(request, strings.ReplaceAll(header, "@etag", s.etag))
	}
	if parts[1] != "" && parts[1] != "''" {
		request = append(request, "> "+parts[1])
	}
	rec := s.do(s.T, request, "")
	if got := fmt.Sprint(rec.Code); !regexp.MustCompile("^" + parts[2] + "$").MatchString(got) {
		s.Fatalf("%s\ngot %s %s", line, got, rec.Body)
	}
	if tag := rec.Header().Get("Etag"); tag != "" {
		s.etag = tag
	}
	if len(parts) < 4 {
		return
	}
	got := rec.Body.String()
	switch method {
	case "LIST":
		got = strings.Join(listedNames(got), " ")
	case http.MethodHead:
		got = rec.Header().Get("Content-Length")
	}
	if want := regexp.MustCompile("^(?s:" + parts[3] + ")$"); !want.MatchString(strings.TrimSpace(got)) {
		s.Fatalf("%s\ngot %s", line, got)
	}
}

var hrefs = regexp.MustCompile(`<D:href>([^<]*)</D:href>`)

// listedNames returns the last segments of the members' paths.
func listedNames(multistatus string) []string {
	var names []string
	for _, m := range hrefs.FindAllStringSubmatch(multistatus, -1)[1:] {
		parts := strings.Split(strings.TrimSuffix(m[1], "/"), "/")
		names = append(names, parts[len(parts)-1])
	}
	slices.Sort(names)
	return names
}

// TestDrafts: an empty PUT of what mounts the drive means nothing yet
// (docs/contract/drive.md#draft-files).
func TestDrafts(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a document": `
			windows PUT Schedule/a.json | '' | 201
			windows HEAD Schedule/a.json | | 200 | 0
			windows GET Schedule/a.json | | 200 |
			windows LIST Schedule/ | | 207 | a.json
			curl GET Schedule/.contents | | 200 | \[\]
			curl:ann GET Schedule/a.json | | 404
			curl:ann LIST Schedule/ | | 207 |
			windows PUT Schedule/a.json | '' | 204
			windows PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			windows GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":22}
			windows LIST Schedule/ | | 207 | a.json
			windows DELETE Schedule/a.json | | 204
			windows GET Schedule/a.json | | 404
			windows LIST Schedule/ | | 207 | .history`,
		"refused content leaves it": `
			finder PUT Schedule/a.json | '' | 201
			finder PUT Schedule/a.json | {"type":1} | 422
			finder HEAD Schedule/a.json | | 200 | 0
			finder DELETE Schedule/a.json | | 204
			finder GET Schedule/a.json | | 404`,
		"what is stored stays in force": `
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			finder PUT Schedule/a.json | '' | 204
			finder GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":22}
			finder PUT Schedule/a.json If-Match: "other" | '' | 412
			finder PUT Schedule/b.json If-Match: "other" | '' | 412`,
		"its version is judged": `
			davfs2 PUT Schedule/a.json | '' | 201
			davfs2 HEAD Schedule/a.json | | 200 | 0
			davfs2 PUT Schedule/a.json If-None-Match: * | {"route":"bug","type":"cron","hour":22} | 412
			davfs2 PUT Schedule/a.json If-Match: @etag | {"route":"bug","type":"cron","hour":22} | 201`,
		"a dropped file": `
			windows PUT Routes/tip/a.csv | '' | 201
			windows LIST Routes/tip/ | | 207 | Board Hooks Versions a.csv diagram.mmd diagram.svg diagram.txt
			windows PUT Routes/tip/a.csv | a,b | 201
			windows LIST Routes/tip/ | | 207 | Board Hooks Versions a.csv diagram.mmd diagram.svg diagram.txt
			windows PUT Routes/tip/a.csv | '' | 204
			windows GET Routes/tip/a.csv | | 200 | a,b
			windows PUT Routes/tip/Board | '' | 422
			windows PUT Routes/none/a.csv | '' | 409`,
		"a message": `
			windows PUT Cases/18/Labels/report | '' | 201
			windows PUT Cases/18/Labels/report | text | 201
			windows PUT Cases/99/Labels/report | '' | 404`,
		"an action that there is": `
			davfs2 PUT Cases/18/Actions/resolve.json | '' | 204
			curl GET Cases/bug.json | | 200
			davfs2 PUT Cases/18/Actions/reopen.json | '' | 404
			curl PUT Cases/18/Actions/resolve.json | '' | 204`,
		"an identity names only what there is": `
			windows PUT Schedule/c6000000000000000000000000000099.json | '' | 404`,
		"a script means what it sends": `
			curl PUT Schedule/a.json | '' | 422
			curl PUT Routes/tip/a.csv | '' | 201
			curl GET Routes/tip/a.csv | | 200 |`,
		"a name that nothing can have": `
			windows PUT Schedule/CON.json | '' | 422`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newScene(t).play(script)
		})
	}
}

// TestEchoes: for a minute a client finds what it has PUT
// (docs/contract/drive.md#echo).
func TestEchoes(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a name that is not kept": `
			rclone PUT Schedule/new.json | {"route":"bug","type":"cron","hour":22} | 201
			rclone LIST Schedule/ | | 207 | \S{32}.json new.json
			rclone HEAD Schedule/new.json | | 200 | 39
			rclone GET Schedule/new.json | | 200 | {"route":"bug","type":"cron","hour":22}
			curl GET Schedule/new.json | | 404
			curl LIST Schedule/ | | 207 | \S{32}.json
			rclone:ann GET Schedule/new.json | | 404
			curl GET Schedule/.contents | | 200 | \[\n{\n  "UUID": "{(?s:.*)\]
			rclone PUT Schedule/new.json | {"route":"bug","type":"cron","hour":22} | 201
			rclone LIST Schedule/ | | 207 | \S{32}.json new.json
			rclone PUT Schedule/new.json | {"route":"bug","type":"cron","hour":7} | 201
			rclone LIST Schedule/ | | 207 | \S{32}.json \S{32}.json new.json
			rclone GET Schedule/new.json | | 200 | {"route":"bug","type":"cron","hour":7}
			rclone DELETE Schedule/new.json | | 204
			rclone GET Schedule/new.json | | 404
			rclone DELETE Schedule/new.json | | 404`,
		"after a minute": `
			rclone PUT Schedule/new.json | {"route":"bug","type":"cron","hour":22} | 201
			+60
			rclone GET Schedule/new.json | | 200
			+1
			rclone GET Schedule/new.json | | 404
			rclone PUT Schedule/new.json | {"route":"bug","type":"cron","hour":22} | 201
			rclone LIST Schedule/ | | 207 | \S{32}.json \S{32}.json new.json`,
		"a complete form": `
			rclone PUT Cases/18.json | {"title":"a"} | 204
			rclone GET Cases/18.json | | 200 | {"title":"a"}
			rclone LIST Cases/ | | 207 | .history 18 18.json bug.json
			curl GET Cases/18.json | | 200 | {\n  "id": 18,(?s:.*)
			rclone HEAD Cases/18.json | | 200 | 13
			rclone PUT Cases/18.json If-Match: @etag | {"title":"b"} | 204
			curl:eva PUT Cases/18.json | {"title":"c"} | 204
			rclone HEAD Cases/18.json | | 200 | 13
			rclone PUT Cases/18.json If-Match: @etag | {"title":"d"} | 412
			+61
			rclone GET Cases/18.json | | 200 | {\n  "id": 18,(?s:.*)`,
		"an action": `
			rclone PUT Cases/18/Actions/resolve.json | {"do":"perform"} | 204
			rclone HEAD Cases/18/Actions/resolve.json | | 200 | 16
			rclone LIST Cases/18/Actions | | 207 |
			rclone PUT Cases/18/Actions/resolve.json | {"do":"perform"} | 204
			curl PUT Cases/18/Actions/resolve.json | {"do":"perform"} | 409
			rclone DELETE Cases/18/Actions/resolve.json | | 204
			rclone GET Cases/18/Actions/resolve.json | | 404`,
		"a name that is kept": `
			rclone PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			rclone PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			rclone PUT Schedule/a.json If-None-Match: * | {"route":"bug","type":"cron","hour":22} | 412
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":7} | 204
			rclone GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":7}
			rclone PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 204
			rclone GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":22}
			rclone DELETE Schedule/a.json | | 204
			rclone GET Schedule/a.json | | 404
			rclone PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201`,
		"a dropped file": `
			rclone PUT Routes/tip/a.csv | a,b | 201
			rclone PUT Routes/tip/a.csv | a,b | 201
			curl LIST Cases/ | | 207 | 18 19 19.json bug.json
			rclone PUT Routes/tip/a.csv | a,c | 201
			curl LIST Cases/ | | 207 | 18 19 19.json 20 20.json bug.json
			curl PUT Routes/tip/a.csv | a,c | 201
			curl LIST Cases/ | | 207 | 18 19 19.json 20 20.json 21 21.json bug.json`,
		"a dry run": `
			rclone PUT Schedule/new.json?dryRun | {"route":"bug","type":"cron","hour":22} | 200
			rclone GET Schedule/new.json | | 404`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newScene(t).play(script)
		})
	}
}

// TestRejected: what was refused is kept and explained
// (docs/contract/drive.md#rejected-content).
func TestRejected(t *testing.T) {
	t.Parallel()
	const at = "20261120T120000Z~~a.json"
	newScene(t).play(strings.ReplaceAll(`
		windows GET Schedule/Rejected/ | | 404
		curl PUT Schedule/a.json | {"type":1} | 422
		curl LIST Schedule/ | | 207 |
		windows PUT Schedule/a.json | {"type":1} | 422
		windows LIST Schedule/ | | 207 | Rejected
		curl LIST Schedule/ | | 207 | Rejected
		curl:ann LIST Schedule/ | | 207 |
		curl GET Schedule/.ls | | 200 | \[\]
		windows LIST Schedule/Rejected/ | | 207 | 20261120T120000Z%20a.json 20261120T120000Z%20a.json.txt
		windows GET Schedule/Rejected/@ | | 200 | {"type":1}
		windows GET Schedule/Rejected/@.txt | | 200 | /dav/Workflow/Schedule/a.json was not saved.*/type.*
		windows PUT Schedule/Rejected/@ | x | 405
		windows PUT Schedule/Rejected/other | x | 404
		windows:ann GET Schedule/Rejected/@ | | 404
		windows DELETE Schedule/Rejected/@.txt | | 204
		windows LIST Schedule/Rejected | | 207 | 20261120T120000Z%20a.json
		windows DELETE Schedule/Rejected/ | | 204
		windows LIST Schedule/ | | 207 |
		davfs2 PUT Cases/18/Actions/resolve.json | [ | 400
		davfs2 LIST Cases/18/Actions/ | | 207 | Rejected resolve.json
		finder PUT Schedule/b.json If-Match: "other" | {"route":"bug","type":"cron","hour":22} | 412
		windows PUT Schedule/new.json | [ | 400
		windows LIST Schedule/ | | 207 | Rejected
	`, "@", at))
}

// TestWhatShowsThingsIsNotDeleted: davfs2 takes a 405 for done and shows the file as gone
// until it looks again.
func TestWhatShowsThingsIsNotDeleted(t *testing.T) {
	t.Parallel()
	newScene(t).play(`
		davfs2 DELETE Cases/18/log.txt | | 403
		rclone DELETE Status/week.txt | | 403
		davfs2 DELETE Cases/18/Actions/resolve.json | | 403
		curl DELETE Cases/18/log.txt | | 405
		davfs2 DELETE Cases/99/log.txt | | 404
	`)
}

// TestRejectedWhereverItWasRefused: drops, labels, files that are saved into the
// folder of a case and cases that are dragged leave the reason, and what was sent,
// in the nearest Rejected/.
func TestRejectedWhereverItWasRefused(t *testing.T) {
	t.Parallel()
	const name = "20261120T120000Z~~"
	newScene(t).play(strings.ReplaceAll(`
		davfs2 PUT Cases/18/photo.jpg | pixels | 404
		curl PUT Cases/18/script.jpg | pixels | 404
		davfs2 LIST Cases/18/ | | 207 | Actions Files Labels Messages Outbox Rejected Timers comment.txt diagram.mmd diagram.svg diagram.txt input log.json log.txt
		davfs2 LIST Cases/18/Rejected/ | | 207 | 20261120T120000Z%20photo.jpg 20261120T120000Z%20photo.jpg.txt
		davfs2 GET Cases/18/Rejected/@photo.jpg | | 200 | pixels
		davfs2 GET Cases/18/Rejected/@photo.jpg.txt | | 200 | (?s:/dav/Workflow/Cases/18/photo.jpg was not saved.*)
		davfs2:ann GET Cases/18/Rejected/@photo.jpg | | 404
		windows DELETE Cases/18/Rejected/ | | 204

		rclone PUT Cases/18/Labels/a.b | text | 422
		rclone GET Cases/18/Rejected/@a.b | | 200 | text
		rclone GET Cases/18/Rejected/@a.b.txt | | 200 | (?s:.*- The label "a.b" is not valid.*)
		rclone PUT Cases/99/Labels/x | text | 404
		rclone GET Cases/Rejected/@x | | 200 | text

		davfs2 PUT Routes/bug/a:b.pdf | quote | 422
		davfs2 GET Routes/bug/Rejected/@a_b.pdf | | 200 | quote
		davfs2 GET Routes/bug/Rejected/@a_b.pdf.txt | | 200 | (?s:.*/Routes/bug/a:b.pdf was not saved.*choose another.*)
		davfs2 PUT Routes/bug/Board | quote | 422
		davfs2 GET Routes/bug/Rejected/@Board | | 200 | quote

		davfs2 MOVE Routes/tip/Board/open/18.json -> Routes/tip/Board/never/18.json | | 409
		davfs2 GET Routes/tip/Rejected/@18.json.txt | | 200 | (?s:/dav/Workflow/Routes/tip/Board/open/18.json was not moved to /dav/Workflow/Routes/tip/Board/never/18.json.*)
		davfs2 LIST Routes/tip/Board/ | | 207 | done open
		davfs2 MOVE Worklist/Offered/18.resolve.json -> Worklist/Warnings/18.resolve.json | | 403
		davfs2 GET Worklist/Warnings/Rejected/@18.resolve.json.txt | | 200 | (?s:.*Tasks can be moved from Offered to Accepted.*)
		davfs2 LIST Worklist/Warnings/ | | 207 | Rejected
		curl MOVE Worklist/Offered/18.resolve.json -> Worklist/Escalated/18.resolve.json | | 403
		curl LIST Worklist/Escalated/ | | 207 |
	`, "@", name))
}

// TestSavingByRenaming: what is moved onto a document is submitted, and a
// document that is moved out of the way stays in force
// (docs/contract/drive.md#saving-by-renaming).
func TestSavingByRenaming(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a temporary file over a document": `
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			gvfs PUT Schedule/.goutputstream-X | {"route":"bug","type":"cron","hour":7} | 201
			gvfs MOVE Schedule/.goutputstream-X -> Schedule/a.json | | 204
			curl GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":7}
			gvfs LIST Schedule/ | | 207 | .history a.json
			gvfs PUT Schedule/a.tmp | {"route":"bug","type":"cron","hour":22} | 201
			gvfs MOVE Schedule/a.tmp -> Schedule/a.json F | | 412
			gvfs MOVE Schedule/a.tmp -> Schedule/b.json F | | 201
			curl GET Schedule/b.json | | 200 | {"route":"bug","type":"cron","hour":22}
			gvfs LIST Schedule/ | | 207 | .history a.json b.json`,
		"a refused one": `
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			gvfs PUT Schedule/a.tmp | {"type":1} | 201
			gvfs MOVE Schedule/a.tmp -> Schedule/a.json | | 422
			curl GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":22}
			gvfs LIST Schedule/ | | 207 | Rejected a.json a.tmp
			gvfs MOVE Schedule/a.tmp If-Match: "other" | | 400
			gvfs MOVE Schedule/none.tmp -> Schedule/a.json | | 404`,
		"before its content comes": `
			curl PUT Schedule/nightly.json | {"route":"bug","type":"cron","hour":22} | 201
			davfs2 PUT Schedule/sedXXXX | '' | 201
			davfs2 MOVE Schedule/sedXXXX -> Schedule/nightly.json | | 204
			davfs2 GET Schedule/nightly.json | | 200 | {"route":"bug","type":"cron","hour":22}
			davfs2 LIST Schedule/ | | 207 | nightly.json
			davfs2 PUT Schedule/nightly.json | {"route":"bug","type":"cron","hour":7} | 204
			curl GET Schedule/nightly.json | | 200 | {"route":"bug","type":"cron","hour":7}`,
		"an empty file onto a new name": `
			windows PUT Schedule/New~~Text~~Document.txt | '' | 201
			windows MOVE Schedule/New~~Text~~Document.txt -> Schedule/a.json | | 201
			windows LIST Schedule/ | | 207 | a.json
			curl GET Schedule/.contents | | 200 | \[\]
			windows MOVE Schedule/a.json -> Schedule/b.json | | 201
			windows LIST Schedule/ | | 207 | b.json
			windows PUT Schedule/b.json | {"route":"bug","type":"cron","hour":22} | 201`,
		"an action": `
			curl PUT Cases/18/Actions/.y.tmp | '' | 201
			curl MOVE Cases/18/Actions/.y.tmp -> Cases/18/Actions/resolve.json | | 204
			curl GET Cases/18/Actions/.y.tmp | | 404
			davfs2 PUT Cases/18/Actions/.x.tmp | {"do":"perform"} | 201
			davfs2 MOVE Cases/18/Actions/.x.tmp -> Cases/18/Actions/resolve.json | | 204
			curl PUT Cases/18/Actions/resolve.json | {"do":"perform"} | 409`,
		"a document out of the way": `
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			davfs2 MOVE Schedule/a.json -> Schedule/a.json~ | | 201
			davfs2 GET Schedule/a.json | | 404
			davfs2 LIST Schedule/ | | 207 | a.json~
			davfs2 DELETE Schedule/a.json | | 404
			curl GET Schedule/a.json~ | | 200 | {"route":"bug","type":"cron","hour":22}
			curl:eva GET Schedule/a@sam.json | | 200 | {"route":"bug","type":"cron","hour":22}
			curl GET Schedule/.contents | | 200 | \[\n{.*
			davfs2 PUT Schedule/a.json If-None-Match: * | {"route":"bug","type":"cron","hour":7} | 204
			davfs2 GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":7}
			davfs2 LIST Schedule/ | | 207 | .history a.json a.json~
			davfs2 DELETE Schedule/a.json~ | | 204`,
		"out of the way, and an empty one first": `
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			davfs2 MOVE Schedule/a.json -> Schedule/a.json~ | | 201
			davfs2 PUT Schedule/a.json | '' | 201
			davfs2 HEAD Schedule/a.json | | 200 | 0
			davfs2 PUT Schedule/a.json If-Match: @etag | {"route":"bug","type":"cron","hour":7} | 204
			davfs2 GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":7}`,
		"out of the way, and nothing comes": `
			curl PUT Schedule/a.json | {"route":"bug","type":"cron","hour":22} | 201
			davfs2 MOVE Schedule/a.json -> Schedule/a.bak | | 201
			+61
			davfs2 GET Schedule/a.json | | 200 | {"route":"bug","type":"cron","hour":22}
			davfs2 LIST Schedule/ | | 207 | a.bak a.json`,
		"out of the way, and a temporary file comes": `
			curl PUT Routes/b.yaml | {states: {b: {type: start}}, actions: {begin: {trigger: init}}} | 201
			office PUT Routes/~$b.tmp | {states: {c: {type: start}}, actions: {begin: {trigger: init}}} | 201
			office MOVE Routes/b.yaml -> Routes/b.bak | | 201
			office GET Routes/b.yaml | | 404
			office MOVE Routes/~$b.tmp -> Routes/b.yaml F | | 204
			office GET Routes/b.yaml | | 200 | {states: {c: {type: start}}, actions: {begin: {trigger: init}}}
			office DELETE Routes/b.bak | | 204
			office GET Routes/b.yaml | | 200 | {states: {c: {type: start}}, actions: {begin: {trigger: init}}}`,
		"side files among themselves": `
			gvfs PUT Schedule/a.tmp | one | 201
			gvfs MOVE Schedule/a.tmp -> Schedule/b.tmp | | 201
			gvfs MOVE Schedule/a.tmp -> Schedule/b.tmp | | 404
			gvfs PUT Schedule/a.tmp | two | 201
			gvfs MOVE Schedule/a.tmp -> Schedule/b.tmp F | | 412
			gvfs MOVE Schedule/a.tmp -> Schedule/b.tmp | | 204
			gvfs GET Schedule/b.tmp | | 200 | two
			gvfs COPY Schedule/b.tmp -> Cases/c.tmp | | 201
			gvfs LIST Cases/ | | 207 | 18 bug.json c.tmp
			gvfs MKCOL Schedule/.Trash | | 201
			gvfs MOVE Schedule/b.tmp -> Schedule/.Trash/b.json | | 201
			gvfs MOVE Schedule/.Trash -> Schedule/a.json | | 403
			gvfs MOVE Schedule/b.tmp -> Schedule/.none/b.json | | 404`,
		"copies": `
			gvfs PUT Schedule/a.tmp | {"route":"bug","type":"cron","hour":22} | 201
			gvfs COPY Schedule/a.tmp -> Schedule/a.json | | 201
			gvfs COPY Schedule/a.json -> Schedule/a.bak | | 201
			gvfs LIST Schedule/ | | 207 | Rejected a.bak a.json a.tmp`,
		"what was refused, and is mended": `
			windows PUT Schedule/a.json | {"type":1} | 422
			windows COPY Schedule/Rejected/20261120T120000Z~~a.json -> Schedule/b.tmp | | 201
			windows MOVE Schedule/Rejected/20261120T120000Z~~a.json -> Schedule/c.json | | 422
			windows GET Schedule/b.tmp | | 200 | {"type":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newScene(t).play(script)
		})
	}
}
