// A program that uses the client which oapi-codegen makes of /openapi.json: it
// starts a case, performs an action, finds the case, and is refused. The address, the
// user and the password are its arguments.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"generated/drive"
	"net/http"
	"os"
	"strconv"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, base, user, password string) error {
	c, err := drive.NewClientWithResponses(base, drive.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.SetBasicAuth(user, password)
		return nil
	}))
	if err != nil {
		return err
	}
	var start drive.CaseStart
	if err := json.Unmarshal([]byte(`{"route": "bug", "title": "Smoke in the hall", "xattrDict": {"floor": 3}}`), &start); err != nil {
		return err
	}
	whole := "return=representation"
	made, err := c.CreateCaseWithResponse(ctx, &drive.CreateCaseParams{Prefer: &whole}, start)
	if err != nil {
		return err
	}
	if made.JSON201 == nil {
		return fmt.Errorf("starting a case: %s %s", made.Status(), made.Body)
	}
	form, err := made.JSON201.AsCaseForm() // and not what is warned of, as the form was asked for
	if err != nil || form.Title != "Smoke in the hall" || form.Status == nil || *form.Status != "open" {
		return fmt.Errorf("starting a case: %s %s, %v", made.Status(), made.Body, err)
	}
	id := form.Id

	comment := "It was the toaster."
	done, err := c.PostActionWithResponse(ctx, id, "comment", nil, drive.Task{Comment: &comment})
	if err != nil {
		return err
	}
	if done.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("commenting: %s %s", done.Status(), done.Body)
	}
	found, err := c.ListCasesWithResponse(ctx, &drive.ListCasesParams{Route: new("bug")})
	if err != nil {
		return err
	}
	if found.JSON200 == nil || len(*found.JSON200) == 0 || (*found.JSON200)[len(*found.JSON200)-1].Id != id {
		return fmt.Errorf("listing: %s %s", found.Status(), found.Body)
	}
	log, err := c.GetCaseLogWithResponse(ctx, id, nil)
	if err != nil {
		return err
	}
	if log.JSON200 == nil || len(*log.JSON200) < 3 {
		return fmt.Errorf("the log: %s %s", log.Status(), log.Body)
	}
	refused, err := c.PostActionWithResponse(ctx, id, "fly", nil, drive.Task{})
	if err != nil {
		return err
	}
	if p := refused.ApplicationproblemJSON404; p == nil || p.Type != "urn:flowdrive:problem:not-found" {
		return fmt.Errorf("an action that is none: %s %s", refused.Status(), refused.Body)
	}
	if _, err := c.DeleteCase(ctx, strconv.Itoa(id)+".json", nil); err != nil {
		return err
	}
	fmt.Println("case", id)
	return nil
}
