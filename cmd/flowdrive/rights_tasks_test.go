package main

// rightsOnTasks is the part of the rights table that is about what people do
// with tasks, and about their worklists.
const rightsOnTasks = `
#                                           adm own mem pla sta dep str nob
# ---- a task that is offered to the player alone, and so to the deputy
/dav/Workflow/Cases/{case}/Actions/finish.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"do": "accept"}                    | 204 204 403 204 403 204 404 401
  PUT {"do": "release"}                   | 409 409 409 409 409 409 404 401
  PUT {"do": "reject"}                    | 403 403 403 409 403 204 404 401
  PUT {"do": "delegate", "to": "member"}  | 204 204 403 204 403 204 404 401
  PUT {"do": "delegate", "to": "noone"}   | 422 422 403 422 403 422 404 401
  PUT?dryRun {"do": "accept"}             | 200 200 403 200 403 200 404 401
  POST {"do": "accept"}                   | 204 204 403 204 403 204 404 401
  DELETE                                  | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401

# ---- a task that the player has accepted; 409 names who has
/dav/Workflow/Cases/{taken}/Actions/finish.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {}                                  | 204 204 409 204 409 204 404 401
  PUT {"do": "accept"}                    | 409 409 409 204 409 409 404 401
  PUT {"do": "release"}                   | 204 204 403 204 403 204 404 401
  PUT {"do": "reject"}                    | 409 409 409 409 409 204 404 401
  PUT {"do": "delegate", "to": "member"}  | 204 204 409 204 409 204 404 401
  PUT {"do": "skip"}                      | 409 409 403 403 403 403 404 401
  PUT {"do": "abort"}                     | 204 204 403 403 403 403 404 401
  POST {"do": "release"}                  | 204 204 403 204 403 204 404 401
  DELETE                                  | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401

# ---- worklists: files are there for whose they are; what is done by saving one is as among the case's actions
/dav/Workflow/Worklist/Offered/{case}.finish.json
  GET HEAD                                | 404 404 404 200 404 200 404 401
  PROPFIND                                | 404 404 404 207 404 207 404 401
  PUT {}                                  | 204 204 403 204 403 204 404 401
  PUT {"do": "accept"}                    | 204 204 403 204 403 204 404 401
  DELETE                                  | 404 404 404 403 404 403 404 401
  POST {"do": "accept"}                   | 204 204 403 204 403 204 404 401
  MKCOL                                   | 403 403 403 405 403 405 403 401
/dav/Workflow/Worklist/Accepted/{taken}.finish.json
  GET HEAD                                | 404 404 404 200 404 200 404 401
  PROPFIND                                | 404 404 404 207 404 207 404 401
  PUT {}                                  | 204 204 409 204 409 204 404 401
  PUT {"do": "release"}                   | 204 204 403 204 403 204 404 401
  DELETE                                  | 404 404 404 403 404 403 404 401
  POST {"do": "release"}                  | 204 204 403 204 403 204 404 401
  MKCOL                                   | 403 403 403 405 403 405 403 401
/dav/Workflow/Worklist/Offered/{taken}.finish.json
  GET HEAD PROPFIND DELETE                | 404 404 404 404 404 404 404 401
  PUT POST {"nonsense": 1}                | 422 422 409 422 409 422 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/dav/Workflow/Worklist/Accepted/{case}.finish.json
/dav/Workflow/Worklist/Warnings/{case}.finish.json
/dav/Workflow/Worklist/Escalated/{case}.finish.json
  GET HEAD PROPFIND DELETE                | 404 404 404 404 404 404 404 401
  PUT POST {"nonsense": 1}                | 422 422 403 422 403 422 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
`
