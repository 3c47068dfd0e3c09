package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"flowdrive/client"
)

// aServer answers like a server that has one case. A program of its own has the address
// of a real one.
func aServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case r.Method == http.MethodPut && strings.HasSuffix(path, "/Actions/close.json"):
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"type": "urn:flowdrive:problem:action-not-enabled", "title": "Action not enabled", "status": 409, "detail": "\"close\" is not enabled; what is: resolve."}`)
		case r.Method == http.MethodPut && strings.Contains(path, "/Actions/"):
			w.Header().Set("X-Flowdrive-Case-State", "active")
			w.Header().Set("X-Flowdrive-Case-Status", "resolved")
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodPut:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id": 13, "route": "bug", "title": "The printer is on fire", "state": "active", "status": "open"}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `[{"id": 13, "route": "bug", "title": "The printer is on fire", "state": "active", "status": "open"}]`)
		}
	}))
}

// A program logs in with an app password, which "flowdrive login" and the page for
// mounting make.
func Example() {
	server := aServer()
	defer server.Close()
	c, err := client.New(client.Profile{URL: server.URL, User: "ann", Password: "an app password"}, client.Options{Version: "1.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	started, err := c.Start(ctx, client.NewCase{Route: "bug", Title: "The printer is on fire"})
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := c.Do(ctx, started.ID, "resolve", client.Do{Comment: "It was the toaster."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(started.ID, done.Status)
	// Output: 13 resolved
}

// A refusal is a Problem: its kind says what to do next, its text is for people.
func ExampleIsSlug() {
	server := aServer()
	defer server.Close()
	c, err := client.New(client.Profile{URL: server.URL, User: "ann", Password: "an app password"}, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Do(context.Background(), 13, "close", client.Do{})
	if client.IsSlug(err, "action-not-enabled") {
		fmt.Println("somebody was faster")
	}
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Detail)
	}
	// Output:
	// somebody was faster
	// "close" is not enabled; what is: resolve.
}

// Lists are sequences. They ask for the next page when it is needed.
func ExampleClient_Cases() {
	server := aServer()
	defer server.Close()
	c, err := client.New(client.Profile{URL: server.URL, User: "ann", Password: "an app password"}, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for found, err := range c.Cases(context.Background(), client.CaseFilter{Route: "bug", State: "active"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(found.ID, found.Title)
	}
	// Output: 13 The printer is on fire
}

// What has no method of its own is a call of the OpenAPI document.
func ExampleClient_Call() {
	server := aServer()
	defer server.Close()
	c, err := client.New(client.Profile{URL: server.URL, User: "ann", Password: "an app password"}, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := c.Call(context.Background(), client.Call{Path: "/dav/Workflow/Cases/.contents"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Status, answer.Header.Get("Content-Type"))
	// Output: 200 application/json
}
