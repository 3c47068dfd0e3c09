package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what the scripts in testdata compare with")

// TestScripts runs testdata/script/*.txtar: the commands as one types them.
// Beside what testscript knows there are
//
//	exits CODE PROGRAM [ARG...]      a program that ends with this code
//	serve [FLAG...]                  starts a server; its greeting is stdout, its address $SERVER
//	halt                             stops it; its log is stderr (stop is testscript's own, and ends the script)
//	answers STATUS USER:PASSWORD METHOD PATH [FILE]
//	                                 a request to it; the answer is stdout
func TestScripts(t *testing.T) {
	t.Parallel()
	skipShort(t)
	examples, err := filepath.Abs(filepath.Join("..", "..", "route", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, "FLOWDRIVE_ADMIN_PASSWORD="+adminPassword, "EXAMPLES="+examples)
			env.Values[serverKey{}] = &scriptServer{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "serve": scriptServe, "halt": scriptHalt, "answers": scriptAnswers,
		},
		RequireExplicitExec: true,
		UpdateScripts:       *update,
	})
}

// TestScriptsDoNotStop: the command "stop" of testscript ends a script as passed. The
// one that stops the server is "halt".
func TestScriptsDoNotStop(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(archive.Comment)) {
			if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "stop" {
				t.Errorf("%s stops, and what follows is not run", file)
			}
		}
	}
}

// scriptServer is the one server that a script can have.
type scriptServer struct{ *program }

type serverKey struct{}

func serverOf(ts *testscript.TestScript) *scriptServer {
	s, ok := ts.Value(serverKey{}).(*scriptServer)
	if !ok {
		ts.Fatalf("the script was not set up")
	}
	return s
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("ended with %d, not %s", code, args[0])
	}
}

func scriptServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [FLAG...]; for a server that does not start: exits 1 flowdrive serve")
	}
	cmd := exec.Command("flowdrive", append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environment()
	for _, name := range []string{"FLOWDRIVE_ADMIN_PASSWORD", "FLOWDRIVE_CONFIG", "FLOWDRIVE_LOG_LEVEL", "FLOWDRIVE_MAX_ENTRYS"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	p, err := launch(cmd)
	if err != nil {
		ts.Fatalf("%v", err)
	}
	ts.Defer(p.kill)
	serverOf(ts).program = p
	ts.Setenv("SERVER", p.base)
	say(ts, ts.Stdout(), p.greeting.String())
}

func scriptHalt(ts *testscript.TestScript, neg bool, args []string) {
	p := serverOf(ts).program
	if neg || len(args) > 0 || p == nil {
		ts.Fatalf("usage: halt, after serve")
	}
	if err := p.stop(); err != nil {
		ts.Fatalf("%v", err)
	}
	say(ts, ts.Stderr(), p.complaints.String())
}

func scriptAnswers(ts *testscript.TestScript, neg bool, args []string) {
	p := serverOf(ts).program
	if neg || len(args) < 4 || len(args) > 5 || p == nil {
		ts.Fatalf("usage: answers STATUS USER:PASSWORD METHOD PATH [FILE], after serve")
	}
	body := ""
	if len(args) == 5 {
		body = ts.ReadFile(args[4])
	}
	req, err := http.NewRequest(args[2], p.base+args[3], strings.NewReader(body))
	ts.Check(err)
	user, password, _ := strings.Cut(args[1], ":")
	req.SetBasicAuth(user, password)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.client.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	ts.Check(err)
	say(ts, ts.Stdout(), string(answer)+"\n")
	if strconv.Itoa(resp.StatusCode) != args[0] {
		ts.Fatalf("%s %s: got %d %s, want %s", args[2], args[3], resp.StatusCode, answer, args[0])
	}
}

func say(ts *testscript.TestScript, out io.Writer, text string) {
	_, err := io.WriteString(out, text)
	ts.Check(err)
}
