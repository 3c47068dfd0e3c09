package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// started starts a case as sam and returns its id.
func (s *inProcess) started(document string) (id string) {
	s.Helper()
	w := s.as("sam", "PUT", "/dav/Workflow/Cases/new.json", document)
	at := w.Header().Get("Location")
	if w.Code != http.StatusCreated {
		s.Fatalf("PUT %s: %d %s", document, w.Code, w.Body)
	}
	return strings.TrimSuffix(at[strings.LastIndexByte(at, '/')+1:], ".json")
}

// says has a file of Status/ say some texts, and not say others, which begin with "!".
func (s *inProcess) says(user, file string, texts ...string) {
	s.Helper()
	w := s.as(user, "GET", "/dav/Workflow/Status/"+file, "")
	for _, text := range texts {
		text, no := strings.CutPrefix(text, "!")
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), text) == no {
			s.Errorf("%s for %s: %q (not: %t): %d\n%s", file, user, text, no, w.Code, w.Body)
		}
	}
}

// TestStatusTellsWaitingFromPossible: what can be done at any time is not what a case
// waits for, least of all one that is completed.
func TestStatusTellsWaitingFromPossible(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: ["user:ann"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {title: Finish it, in: [open], role: clerk, to: done}
  remark: {title: Leave a remark, always: true, allowed: [everyone]}
  check: {title: Check it, in: [open], role: clerk, enableIf: 'has(xattr.ready)'}
  reopen: {title: Open it again, in: [done], role: clerk, to: open}
`)
		id := s.started(`{"route": "desk"}`)
		s.says("sam", "cases/"+id+".txt", "Finish it   waits for ann", "What else can be done\n  Leave a remark   can be done by everyone", "!Leave a remark   waits")
		const refused = "What its condition (enableIf) does not allow now\n  Check it   is asked again whenever the case changes"
		s.says("sam", "cases/"+id+".txt", refused)
		s.says("sam", "cases/"+id+".json", `"refused": [`, `"title": "Check it"`)
		s.must("PUT", "/dav/Workflow/Cases/"+id+".json", `{"xattrDict": {"ready": "yes"}}`)
		s.says("sam", "cases/"+id+".txt", "Check it    waits for ann", "!enableIf")
		if w := s.as("ann", "PUT", "/dav/Workflow/Cases/"+id+"/Actions/finish.json", `{}`); w.Code != http.StatusNoContent {
			t.Fatalf("finish: %d %s", w.Code, w.Body)
		}
		s.says("sam", "cases/"+id+".txt", "Whom it waits for\n  Nobody: it has ended.", "Open it again", "!waits for ann", "Finish it by ann")
		var f struct{ WaitsFor, Optional []struct{ Action string } }
		if err := json.Unmarshal(s.as("sam", "GET", "/dav/Workflow/Status/cases/"+id+".json", "").Body.Bytes(), &f); err != nil || len(f.WaitsFor) != 0 || len(f.Optional) != 2 {
			t.Errorf("as JSON: %+v, %v", f, err)
		}

		// Who has taken over what ann had did not do what she did.
		s.must("PUT", "/dav/Admin/Users/bob.json", `{"password": "a password of bob"}`)
		s.passwords["bob"] = "a password of bob"
		if w := s.as("admin", "DELETE", "/dav/Admin/Users/ann.json?handOver=bob", ""); w.Code != http.StatusNoContent {
			t.Fatalf("hand over: %d %s", w.Code, w.Body)
		}
		s.says("sam", "cases/"+id+".txt", "Finish it by ann", "!it by bob")
		if w := s.as("admin", "DELETE", "/dav/Admin/Users/sam.json?handOver=bob", ""); w.Code != http.StatusNoContent {
			t.Fatalf("hand over: %d %s", w.Code, w.Body)
		}
		s.says("bob", "cases/"+id+".txt", "sam (handed over to bob)")
	})
}

// TestRejectingWhatNeedsSeveral: one whose part is needed cannot reject it, and says so;
// a head of a team does not see those who have.
func TestRejectingWhatNeedsSeveral(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Admin/Teams/desk.json", `{"members": ["sam", "ann", "admin"], "admins": ["admin"]}`)
		s.must("PUT", "/dav/Workflow/Routes/two.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {reviewer: {assign: ["team:desk"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  sign: {in: [open], need: 2 of reviewer, to: done}
`)
		id := s.started(`{"route": "two"}`)
		task := "/dav/Workflow/Cases/" + id + "/Actions/sign.json"
		reject := func(user string, want int, words string) {
			t.Helper()
			if w := s.as(user, "PUT", task, `{"do": "reject"}`); w.Code != want || !strings.Contains(w.Body.String(), words) {
				t.Errorf("%s rejects: %d %s, want %d %q", user, w.Code, w.Body, want, words)
			}
		}
		reject("sam", http.StatusNoContent, "")
		team := s.must("GET", "/dav/Workflow/Worklist/Team/desk/"+id+".sign.json", "").Body.String()
		if strings.Contains(team, "sam\"]") || !strings.Contains(team, `"members": ["admin", "ann"]`) {
			t.Errorf("the team's list: %s", team)
		}
		reject("ann", http.StatusConflict, "without you there would be 1")
		for _, user := range []string{"ann", "admin"} {
			if w := s.as(user, "PUT", task, `{}`); w.Code != http.StatusNoContent {
				t.Errorf("%s approves: %d %s", user, w.Code, w.Body)
			}
		}
		s.says("sam", "cases/"+id+".txt", "completed")

		// If the role has fewer users than are needed, the case is warned of it.
		few := s.started(`{"route": "two", "roles": {}}`)
		s.says("sam", "cases/"+few+".txt", "!Nobody can do it")
		s.must("PUT", "/dav/Workflow/Cases/"+few+".json", `{"roles": {"reviewer": ["ann"]}}`)
		s.says("sam", "cases/"+few+".txt", "!Nobody can do it", "Its quorum cannot be reached: sign (it needs 2, and only 1 can do it)")
		s.must("PUT", "/dav/Workflow/Cases/"+few+".json", `{"roles": {"reviewer": ["ann", "sam"]}}`)
		s.says("sam", "cases/"+few+".txt", "!Nobody can do it", "!Its quorum cannot be reached")
	})
}

// TestLateTellsOnce: what failed is listed once, and nothing has an empty name.
func TestLateTellsOnce(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/broken.yaml", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  count: {title: Count, trigger: auto, in: [open], to: done, onFire: [{message: {label: x, value: {cel: 'message["none"].a'}}}]}
`)
		s.must("PUT", "/dav/Workflow/Routes/never.yaml", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{message: {label: x, value: {cel: 'message["none"].a'}}}]}
  end: {in: [open], allowed: [everyone], to: done}
`)
		for _, route := range []string{"broken", "never"} {
			id := s.started(`{"route": "` + route + `", "title": "Of ` + route + `"}`)
			late := s.as("sam", "GET", "/dav/Workflow/Status/late.txt", "").Body.String()
			if n := strings.Count(late, "case "+id+":"); n != 1 || strings.Contains(late, " ,") || strings.Contains(late, "..") {
				t.Errorf("case %s is listed %d times:\n%s", id, n, late)
			}
		}
	})
}

// TestStatusOfEntrySaysZoneAndWarnings: a time has its zone; what is warned of is found
// on a mount, too.
func TestStatusOfEntrySaysZoneAndWarnings(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Schedule/once.json", `{"route": "bug", "type": "simple", "date": "2012-12-01T08:00:00"}`)
		s.says("admin", "schedule/once.txt", "Once at 2012-12-01 08:00 (UTC)", "!Warning")
		s.must("PUT", "/dav/Workflow/Schedule/odd.json", `{"route": "bug", "type": "crontab", "spec": "*/40 * * * *"}`)
		s.says("admin", "schedule/odd.txt", "Warning")
		s.says("admin", "schedule/odd.json", `"warnings": ["`)
	})
}

// TestStatusTellsHowFarAQuorumIs: of an action that several must perform it is told how
// many have, who they are, and for whom it still waits.
func TestStatusTellsHowFarAQuorumIs(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/panel.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {judge: {pick: [everyone]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  agree: {title: Agree, in: [open], need: 2 of judge, to: done}
`)
		id := s.started(`{"route": "panel", "roles": {"judge": ["ann", "sam"]}}`)
		s.says("sam", "cases/"+id+".txt", "Agree   waits for ann and sam: so far 0 of 2")
		if w := s.as("ann", "PUT", "/dav/Workflow/Cases/"+id+"/Actions/agree.json", `{}`); w.Code != http.StatusNoContent {
			t.Fatalf("agree: %d %s", w.Code, w.Body)
		}
		s.says("sam", "cases/"+id+".txt", "Agree   waits for sam: so far 1 of 2 (ann)")
		var f struct {
			WaitsFor []struct {
				Need *struct {
					Count, Given int
					Of           string
					By           []string
				}
			}
		}
		text := s.as("sam", "GET", "/dav/Workflow/Status/cases/"+id+".json", "").Body.Bytes()
		if err := json.Unmarshal(text, &f); err != nil || len(f.WaitsFor) != 1 || f.WaitsFor[0].Need == nil {
			t.Fatalf("as JSON: %s, %v", text, err)
		}
		if n := f.WaitsFor[0].Need; n.Count != 2 || n.Given != 1 || n.Of != "judge" || len(n.By) != 1 || n.By[0] != "ann" {
			t.Errorf("as JSON: %+v", n)
		}
	})
}
