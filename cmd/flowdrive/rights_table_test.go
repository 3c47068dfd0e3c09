package main

// rightsTable is the table of docs/contract/drive.md#rights-table, spelled out:
// for every kind of node every method. readRights says how it is read.
//
// The owner has the route desk, the entry, the file and documents, and has
// started the case begun of the route errand, which is the administrator's.
// The member is in the team ops, which has the entry shift, the attachment
// shared, documents, and the cases of desk that Sam, of the same team, has
// started: case, gone, which is canceled, past, which was archived, and taken,
// whose task the player has accepted. The player is the clerk of all these cases and may read desk; the
// deputy is the player's; the stakeholder is one of all of them.
const rightsTable = `
#                                           adm own mem pla sta dep str nob

# ---- of every kind that does not say otherwise: methods that are not built answer so to all who are logged in
*
  OPTIONS                                 | 200 200 200 200 200 200 200 200
# PROPPATCH of a time stamp of Windows is answered wherever PROPFIND is.
# OPTIONS tells by the kind of place what may be done there, whatever is there. So does MKCOL refuse what is no place for
# a folder.

# ---- what is the same for all
/healthz
/livez
/readyz
/version
/openapi.json
  GET HEAD                                | 200 200 200 200 200 200 200 200
  OPTIONS PUT DELETE PROPFIND MKCOL POST PROPPATCH | 405 405 405 405 405 405 405 405

# A browser is led to the log-in.
/
  OPTIONS                                 | 200 200 200 200 200 200 200 200
  GET HEAD                                | 200 200 200 200 200 200 200 303
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT MKCOL POST                          | 405 405 405 405 405 405 405 401
  DELETE                                  | 403 403 403 403 403 403 403 401

/dav
/dav/
  OPTIONS                                 | 200 200 200 200 200 200 200 200
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT MKCOL POST                          | 405 405 405 405 405 405 405 401
  DELETE                                  | 403 403 403 403 403 403 403 401

/dav/Workflow/Schedule/
/dav/Workflow/Cases/
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT MKCOL                               | 405 405 405 405 405 405 405 401
  DELETE                                  | 403 403 403 403 403 403 403 401
  POST {"nonsense": 1}                    | 422 422 422 422 422 422 422 401

/dav/Workflow/
/dav/Workflow/Schedule/.history/
/dav/Workflow/Routes/
/dav/Workflow/Worklist/
/dav/Workflow/Worklist/Offered/
/dav/Workflow/Worklist/Accepted/
/dav/Workflow/Worklist/Warnings/
/dav/Workflow/Worklist/Escalated/
/dav/Workflow/Calendar/
/dav/Workflow/Schemas/
/dav/Documents/
/dav/Account/
/dav/Account/AppPasswords/
/dav/Account/CalendarLinks/
/dav/Account/Sessions/
/attachfs/
/attachfs/view/
/attachfs/download/
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT MKCOL POST                          | 405 405 405 405 405 405 405 401
  DELETE                                  | 403 403 403 403 403 403 403 401

/dav/Workflow/README.txt
/dav/Workflow/Calendar/upcoming.ics
/dav/Account/people.json
/dav/Workflow/Schedule/.contents
/dav/Workflow/Schedule/.ls
/dav/Workflow/Routes/.contents
/dav/Workflow/Routes/.ls
/dav/Workflow/Cases/.contents
/dav/Workflow/Cases/.ls
/dav/Workflow/Worklist/Offered/.contents
/dav/Workflow/Worklist/Accepted/.ls
/dav/Documents/.contents
/dav/Documents/.ls
/dav/Account/AppPasswords/.contents
/dav/Account/AppPasswords/.ls
/dav/Account/CalendarLinks/.contents
/dav/Account/CalendarLinks/.ls
/dav/Account/Sessions/.contents
/dav/Account/Sessions/.ls
/attachfs/.contents
/attachfs/.ls
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT DELETE MKCOL POST                   | 405 405 405 405 405 405 405 401

# Editors fetch the schemas without a log-in.
/dav/Workflow/Schemas/route.schema.json
  GET HEAD                                | 200 200 200 200 200 200 200 200
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT DELETE MKCOL POST                   | 405 405 405 405 405 405 405 401

# Filters tell nothing of what they name.
/dav/Workflow/Schedule/.contents
  GET?route={desk}                        | 200 200 200 200 200 200 200 401
  GET?context={team}                      | 200 200 200 200 200 200 200 401
  HEAD                                    | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT DELETE MKCOL POST                   | 405 405 405 405 405 405 405 401
/dav/Workflow/Cases/.contents
  GET?route={desk}                        | 200 200 200 200 200 200 200 401
  GET?parent={case}                       | 200 200 200 200 200 200 200 401
  GET?context={team}                      | 200 200 200 200 200 200 200 401
  HEAD                                    | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT DELETE MKCOL POST                   | 405 405 405 405 405 405 405 401

/dav/Workflow/Worklist/Offered/.contents
  GET?route={desk}                        | 200 200 200 200 200 200 200 401
  GET?context={team}                      | 200 200 200 200 200 200 200 401
  HEAD                                    | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT DELETE MKCOL POST                   | 405 405 405 405 405 405 405 401

# ---- the pages were to be here
/ui/
  GET HEAD PUT DELETE PROPFIND MKCOL POST OPTIONS | 308 308 308 308 308 308 308 308

/events
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PUT DELETE PROPFIND MKCOL POST OPTIONS  | 405 405 405 405 405 405 405 401

# There while somebody had something refused.
/dav/Workflow/Cases/Rejected/
  GET HEAD PUT DELETE PROPFIND POST       | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401

# Its name, like Board, Versions and digits below, is not for a file that is dropped.
/dav/Workflow/Routes/{desk}/diagram.svg
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  DELETE POST                             | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
  PUT                                     | 422 422 422 422 404 404 404 401

# ---- the clock and the metrics
/clock
  GET HEAD                                | 200 200 200 200 200 200 200 401
  POST {"advance": "PT1H"}                | 200 403 403 403 403 403 403 401
  OPTIONS PUT DELETE PROPFIND MKCOL PROPPATCH | 405 405 405 405 405 405 405 401
/metrics
  GET HEAD                                | 200 404 404 404 404 404 404 401
  OPTIONS PUT DELETE PROPFIND MKCOL POST PROPPATCH | 405 404 404 404 404 404 404 401

# ---- schedule entries: of the owner, of the team, of everyone
/dav/Workflow/Schedule/{entry}.json
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT {"type": "cron", "route": "bug", "hour": "22"} | 204 204 404 404 404 404 404 401
  PUT?dryRun {"type": "cron", "route": "bug", "hour": "22"} | 200 200 404 404 404 404 404 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "context": "ops"} | 204 403 404 404 404 404 404 401
  PUT { | 400 400 404 404 404 404 404 401
  DELETE                                  | 204 204 404 404 404 404 404 401
  POST                                    | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
/dav/Workflow/Schedule/{nightly}@owner.json
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT {"type": "cron", "route": "bug", "hour": "22"} | 204 204 404 404 404 404 404 401
  DELETE                                  | 204 204 404 404 404 404 404 401
  POST                                    | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
/dav/Workflow/Schedule/{nightly}.json
  GET HEAD                                | 404 200 404 404 404 404 404 401
  DELETE                                  | 404 204 404 404 404 404 404 401
  PROPFIND                                | 404 207 404 404 404 404 404 401
  PUT {"type": "cron", "route": "bug", "hour": "22"} | 201 204 201 201 201 201 201 401
  POST                                    | 404 405 404 404 404 404 404 401
  MKCOL                                   | 403 405 403 403 403 403 403 401
/dav/Workflow/Schedule/{entry}/
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT POST                                | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
  DELETE                                  | 403 403 404 404 404 404 404 401
/dav/Workflow/Schedule/{entry}/occurrences.json
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT POST                                | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
  DELETE                                  | 405 405 404 404 404 404 404 401
/dav/Workflow/Schedule/{shift}.json
  GET HEAD                                | 200 404 200 404 404 404 404 401
  PROPFIND                                | 207 404 207 404 404 404 404 401
  PUT {"type": "cron", "route": "bug", "hour": "22"} | 204 404 204 404 404 404 404 401
  DELETE                                  | 204 404 204 404 404 404 404 401
  POST                                    | 405 404 405 404 404 404 404 401
  MKCOL                                   | 405 403 405 403 403 403 403 401
/dav/Workflow/Schedule/{common}.json
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT {"type": "cron", "route": "bug", "hour": "22"} | 204 403 403 403 403 403 403 401
  DELETE                                  | 204 403 403 403 403 403 403 401
  MKCOL POST                              | 405 405 405 405 405 405 405 401
# A new one: its context must be the caller's, and may start the route and read the input.
/dav/Workflow/Schedule/new.json
  GET HEAD DELETE PROPFIND POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT {"type": "cron", "route": "bug", "hour": "22"} | 201 201 201 201 201 201 201 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "context": "{team}"} | 403 403 201 403 403 403 403 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "context": "{user}"} | 403 201 403 403 403 403 403 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "context": "everyone"} | 201 403 403 403 403 403 403 401
  PUT {"type": "cron", "route": "{desk}", "hour": "22"} | 422 201 201 422 422 422 422 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "attachmentUUID": "{file}"} | 201 201 422 422 422 422 422 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "attachmentUUID": "{shared}"} | 201 422 201 422 422 422 422 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "attachmentUUID": "{bound}"} | 201 201 201 201 201 201 422 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "document": "/dav/Documents/{user}/plans/hall.txt"} | 201 201 422 422 422 422 422 401
  PUT {"type": "cron", "route": "bug", "hour": "22", "document": "/dav/Documents/{team}/rates/day.csv"} | 201 422 201 422 422 422 422 401

# ---- routes: seen by who may start or read them, changed by the owner's and access.admin
/dav/Workflow/Routes/{desk}.yaml
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  PUT {access: {start: [everyone]}, states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 200 204 403 403 409 409 409 401
  PUT {context: ops, states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 200 403 403 403 409 409 409 401
  DELETE                                  | 409 409 403 403 404 404 404 401
  POST                                    | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
/dav/Workflow/Routes/{desk}.json
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  PUT {"access": {"start": ["everyone"]}, "states": {"a": {"type": "start", "complete": true}}, "actions": {"begin": {"trigger": "init"}}} | 200 204 403 403 409 409 409 401
  PUT?migrate {"states": {"a": {"type": "start"}}, "actions": {"begin": {"trigger": "init"}}} | 409 409 403 403 409 409 409 401
  DELETE                                  | 409 409 403 403 404 404 404 401
  DELETE?force                            | 204 204 403 403 404 404 404 401
  POST                                    | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
/dav/Workflow/Routes/{idle}.yaml
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  PUT {access: {start: [everyone]}, states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 200 204 403 403 409 409 409 401
  DELETE                                  | 204 204 403 403 404 404 404 401
  POST                                    | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
/dav/Workflow/Routes/{led}.yaml
  GET HEAD                                | 200 404 200 404 404 404 404 401
  PROPFIND                                | 207 404 207 404 404 404 404 401
  PUT {access: {admin: [ops]}, states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 200 409 200 409 409 409 409 401
  DELETE                                  | 204 404 204 404 404 404 404 401
  POST                                    | 405 404 405 404 404 404 404 401
  MKCOL                                   | 405 403 405 403 403 403 403 401
# ---- scenarios: as their routes; what a route that is not seen has is as if it were not there
/dav/Workflow/Routes/{told}.scenario.yaml
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  PUT {users: [owner], teams: {ops: []}, as: owner, steps: [{start: {title: x}}]} | 204 204 403 403 201 201 201 401
  PUT {users: [owner], teams: {ops: []}, as: owner, steps: [{start: {title: x}, refused: invalid}]} | 422 422 403 403 201 201 201 401
  DELETE                                  | 204 204 403 403 404 404 404 401
  POST                                    | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
/dav/Workflow/Routes/fresh.scenario.yaml
  GET HEAD DELETE PROPFIND POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT {as: admin, steps: [{start: {}}]}   | 201 201 201 201 201 201 201 401
/dav/Workflow/Routes/fresh.yaml
  GET HEAD DELETE PROPFIND POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT {states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 201 201 201 201 201 201 201 401
  PUT {context: "{team}", states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 201 403 403 403 403 403 403 401
  PUT {context: "{user}", states: {a: {type: start, complete: true}}, actions: {begin: {trigger: init}}} | 201 201 403 403 403 403 403 401
/dav/Workflow/Routes/{desk}/
/dav/Workflow/Routes/{desk}/Board/open/
  PUT POST                                | 405 405 405 405 404 404 404 401
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
  DELETE                                  | 403 403 403 403 404 404 404 401
/dav/Workflow/Routes/{desk}/Board/
/dav/Workflow/Routes/{desk}/Versions/
  PUT                                     | 422 422 422 422 404 404 404 401
  POST                                    | 405 405 405 405 404 404 404 401
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
  DELETE                                  | 403 403 403 403 404 404 404 401
/dav/Workflow/Routes/{desk}/Versions/1.json
/dav/Workflow/Routes/{desk}/Versions/1.yaml
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  PUT DELETE POST                         | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
/dav/Workflow/Routes/{desk}/.contents
/dav/Workflow/Routes/{desk}/.ls
  GET HEAD                                | 200 200 200 200 404 404 404 401
  PROPFIND                                | 207 207 207 207 404 404 404 401
  PUT DELETE POST                         | 405 405 405 405 404 404 404 401
  MKCOL                                   | 405 405 405 405 403 403 403 401
/dav/Workflow/Routes/{desk}/Board/open/{case}%20Counter.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT DELETE POST                         | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
# A drop starts a case; the file is its author's to find.
/dav/Workflow/Routes/{desk}/new.txt
  GET HEAD DELETE PROPFIND POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT hello                               | 403 201 201 403 404 404 404 401
  PUT?.context=ops hello                  | 403 403 201 403 404 404 404 401
  PUT?.dryRun hello                       | 403 200 200 403 404 404 404 401
/dav/Workflow/Routes/{desk}/{order}
  GET HEAD                                | 404 404 200 404 404 404 404 401
  PROPFIND                                | 404 404 207 404 404 404 404 401
  PUT hello                               | 403 201 201 403 404 404 404 401
  DELETE                                  | 404 404 204 404 404 404 404 401
  POST                                    | 404 404 405 404 404 404 404 401
  MKCOL                                   | 403 403 405 403 403 403 403 401
# The addresses of cases below their routes, as clients of OpenGroupware Coils know them.
/dav/Workflow/Routes/{desk}/{case}/
  OPTIONS                                 | 200 200 200 200 200 200 404 200
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  POST                                    | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
  PUT                                     | 422 422 422 422 404 404 404 401
  DELETE                                  | 403 403 403 403 403 403 404 401
/dav/Workflow/Routes/{desk}/{case}/input
  OPTIONS                                 | 200 200 200 200 200 200 404 200
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT DELETE POST                         | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401

` + rightsOnCases + rightsOnArchive + rightsOnTasks + rightsOnContents
