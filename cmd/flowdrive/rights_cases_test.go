package main

// rightsOnCases is the part of the rights table that is about cases.
const rightsOnCases = `
#                                           adm own mem pla sta dep str nob
# ---- a case of a team: the owner administers its route, the member is of its context, its starter is another
/dav/Workflow/Cases/{case}.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"title": "Another"}                | 204 204 403 403 403 403 404 401
  PUT?dryRun {"title": "Another"}         | 200 200 403 403 403 403 404 401
  PUT {"stakeholders": ["member"]}        | 204 204 403 403 403 403 404 401
  PUT {"priority": 7}                     | 204 204 403 403 403 403 404 401
  PUT {"context": "admin"}                | 204 403 403 403 403 403 404 401
  PUT {"context": "owner"}                | 403 204 403 403 403 403 404 401
  PUT {"context": "member"}               | 403 403 403 403 403 403 404 401
  PUT {"roles": {"clerk": ["member"], "boss": ["sam"]}} | 204 204 403 403 403 403 404 401
  PUT {"roles": {"clerk": ["player"], "boss": ["member"]}} | 204 204 403 403 403 403 404 401
  PUT {"xattrDict": {"plain": "2"}}       | 204 204 403 403 403 403 404 401
  PUT {"xattrDict": {"plain": "1", "amount": 3}} | 204 204 403 204 403 403 404 401
  PUT {"xattrDict": {"plain": "1", "sealed": "x"}} | 204 204 403 403 403 403 404 401
  PUT {"state": "canceled"}               | 204 204 403 403 403 403 404 401
  PUT {"state": "suspended"}              | 204 204 403 403 403 403 404 401
  PUT {"startAt": "2012-12-24T00:00:00Z"} | 409 409 403 403 403 403 404 401
  PUT {"startAt": null}                   | 204 204 204 204 204 204 404 401
  PUT {                                   | 400 400 400 400 400 400 404 401
  DELETE                                  | 204 204 403 403 403 403 404 401
  POST                                    | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{given}@sam.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"title": "Another"}                | 204 204 403 403 403 403 404 401
  DELETE                                  | 204 204 403 403 403 403 404 401
  POST                                    | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{case}/
/dav/Workflow/Cases/{case}/Actions/
/dav/Workflow/Cases/{case}/Outbox/
/dav/Workflow/Cases/{case}/Timers/
/dav/Workflow/Cases/{case}/Messages/
/dav/Workflow/Cases/{case}/Labels/
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT POST                                | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
  DELETE                                  | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/input
/dav/Workflow/Cases/{case}/log.json
/dav/Workflow/Cases/{case}/log.txt
/dav/Workflow/Cases/{case}/diagram.svg
/dav/Workflow/Cases/{case}/Messages/{message}
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT DELETE POST                         | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{case}/output
/dav/Workflow/Cases/{case}/exception
  GET HEAD PROPFIND PUT DELETE POST       | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401

# ---- actions: assignees, their deputies and the route's administrators; 409 comes before 403
/dav/Workflow/Cases/{case}/Actions/finish.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT POST {}                             | 204 204 403 204 403 204 404 401
  PUT {"do": "skip"}                      | 204 204 403 403 403 403 404 401
  PUT {"do": "abort"}                     | 204 204 403 403 403 403 404 401
  PUT {"nonsense": 1}                     | 422 422 403 422 403 422 404 401
  DELETE                                  | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{case}/Actions/reopen.json
  GET HEAD PROPFIND DELETE                | 404 404 404 404 404 404 404 401
  PUT POST {}                             | 409 409 409 409 409 409 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/dav/Workflow/Cases/{case}/Actions/nonsense.json
  GET HEAD PROPFIND PUT DELETE POST       | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401

# ---- timers: of a task its assignees and their deputies, of the case its starter, and the route's administrators
/dav/Workflow/Cases/{case}/Timers/case.json
/dav/Workflow/Cases/{case}/Timers/state.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"limit": "P3D"}                    | 204 204 403 403 403 403 404 401
  PUT?dryRun {"limit": "P3D"}             | 200 200 403 403 403 403 404 401
  PUT {"limit": "next friday"}            | 422 422 403 403 403 403 404 401
  DELETE POST                             | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{case}/Timers/finish.due.json
/dav/Workflow/Cases/{case}/Timers/finish.offer.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"limit": "P3D"}                    | 204 204 403 204 403 204 404 401
  PUT {"limit": 0}                        | 204 204 403 204 403 204 404 401
  PUT {"until": "P3D"}                    | 422 422 403 422 403 422 404 401
  DELETE POST                             | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{case}/Timers/finish.timeout.json
/dav/Workflow/Cases/{case}/Timers/reopen.due.json
/dav/Workflow/Cases/{case}/Timers/review.json
  GET HEAD PROPFIND PUT DELETE POST       | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401

# ---- labels: the starter and whoever may perform an enabled action; the input is the route's administrators'
/dav/Workflow/Cases/{case}/Labels/remark
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT bye                                 | 204 204 403 204 403 204 404 401
  DELETE POST                             | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{case}/Labels/fresh
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT hello                               | 201 201 403 201 403 201 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/dav/Workflow/Cases/{case}/Labels/InputMessage
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT bye                                 | 204 204 403 403 403 403 404 401
  DELETE POST                             | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401

# ---- a case that the owner has started, of a route that the owner does not administer
/dav/Workflow/Cases/{begun}.json
  GET HEAD                                | 200 200 404 200 200 200 404 401
  PROPFIND                                | 207 207 404 207 207 207 404 401
  PUT {"title": "Another"}                | 204 204 404 403 403 403 404 401
  PUT {"stakeholders": ["member"]}        | 204 204 404 403 403 403 404 401
  PUT {"priority": 7}                     | 204 403 404 403 403 403 404 401
  PUT {"context": "admin"}                | 204 403 404 403 403 403 404 401
  PUT {"context": "player"}               | 403 403 404 403 403 403 404 401
  PUT {"roles": {"clerk": ["member"], "boss": ["sam"]}} | 204 204 404 403 403 403 404 401
  PUT {"roles": {"clerk": ["stranger"], "boss": ["sam"]}} | 204 403 404 403 403 403 404 401
  PUT {"roles": {"clerk": ["player"], "boss": ["member"]}} | 204 403 404 403 403 403 404 401
  PUT {"xattrDict": {"plain": "2"}}       | 204 204 404 403 403 403 404 401
  PUT {"xattrDict": {"plain": "1", "amount": 3}} | 204 403 404 204 403 403 404 401
  PUT {"xattrDict": {"plain": "1", "sealed": "x"}} | 204 403 404 403 403 403 404 401
  PUT {"state": "canceled"}               | 204 204 404 403 403 403 404 401
  PUT {"state": "suspended"}              | 204 204 404 403 403 403 404 401
  DELETE                                  | 204 204 404 403 403 403 404 401
  POST                                    | 405 405 404 405 405 405 404 401
  MKCOL                                   | 405 405 403 405 405 405 403 401
/dav/Workflow/Cases/{begun}/Actions/finish.json
  GET HEAD                                | 200 200 404 200 200 200 404 401
  PROPFIND                                | 207 207 404 207 207 207 404 401
  PUT POST {}                             | 204 403 404 204 403 204 404 401
  PUT {"do": "skip"}                      | 204 403 404 403 403 403 404 401
  DELETE                                  | 405 405 404 405 405 405 404 401
  MKCOL                                   | 405 405 403 405 405 405 403 401
/dav/Workflow/Cases/{begun}/Timers/case.json
  GET HEAD                                | 200 200 404 200 200 200 404 401
  PROPFIND                                | 207 207 404 207 207 207 404 401
  PUT {"limit": "P3D"}                    | 204 204 404 403 403 403 404 401
  DELETE POST                             | 405 405 404 405 405 405 404 401
  MKCOL                                   | 405 405 403 405 405 405 403 401
/dav/Workflow/Cases/{begun}/Timers/finish.due.json
  GET HEAD                                | 200 200 404 200 200 200 404 401
  PROPFIND                                | 207 207 404 207 207 207 404 401
  PUT {"limit": null}                     | 204 403 404 204 403 204 404 401
  DELETE POST                             | 405 405 404 405 405 405 404 401
  MKCOL                                   | 405 405 403 405 405 405 403 401
/dav/Workflow/Cases/{begun}/Labels/fresh
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT hello                               | 201 201 404 201 403 201 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/dav/Workflow/Cases/{begun}/Labels/InputMessage
  GET HEAD                                | 200 200 404 200 200 200 404 401
  PROPFIND                                | 207 207 404 207 207 207 404 401
  PUT bye                                 | 204 403 404 403 403 403 404 401
  DELETE POST                             | 405 405 404 405 405 405 404 401
  MKCOL                                   | 405 405 403 405 405 405 403 401

# ---- a canceled case resolves and is read-only until an administrator of its route reopens it; to delete it archives it
/dav/Workflow/Cases/{gone}.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"title": "Another"}                | 403 403 403 403 403 403 404 401
  PUT {"state": "suspended"}              | 403 403 403 403 403 403 404 401
  PUT {"state": "active"}                 | 204 204 403 403 403 403 404 401
  DELETE                                  | 204 204 403 403 403 403 404 401
  POST                                    | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/dav/Workflow/Cases/{gone}/Labels/fresh
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT hello                               | 409 409 403 403 403 403 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401

# ---- a case that waits for its startAt, of a route that the owner does not administer
/dav/Workflow/Cases/{later}.json
  GET HEAD                                | 200 200 404 200 200 200 404 401
  PROPFIND                                | 207 207 404 207 207 207 404 401
  PUT {"startAt": "2012-12-31T00:00:00Z"} | 204 204 404 403 403 403 404 401
  PUT {"startAt": null}                   | 204 204 404 403 403 403 404 401
  PUT {"state": "suspended"}              | 409 409 404 403 403 403 404 401
  PUT {"state": "canceled"}               | 204 204 404 403 403 403 404 401
  DELETE                                  | 204 204 404 403 403 403 404 401
  POST                                    | 405 405 404 405 405 405 404 401
  MKCOL                                   | 405 405 403 405 405 405 403 401

# ---- a new case: access.start says who; what its document names must be the starter's to use
/dav/Workflow/Cases/new.json
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT {"route": "bug"}                    | 201 201 201 201 201 201 201 401
  PUT {"route": "bug", "startAt": "2012-12-24T00:00:00Z"} | 201 201 201 201 201 201 201 401
  PUT {"route": "{desk}"}                 | 422 201 201 422 422 422 422 401
  PUT {"route": "{errand}"}               | 422 201 422 422 422 422 422 401
  PUT?dryRun {"route": "{desk}"}          | 422 200 200 422 422 422 422 401
  PUT {"route": "bug", "context": "{team}"} | 403 403 201 403 403 403 403 401
  PUT {"route": "bug", "context": "{user}"} | 403 201 403 403 403 403 403 401
  PUT {"route": "desk", "roles": {"clerk": ["member"]}} | 422 201 201 422 422 422 422 401
  PUT {"route": "desk", "roles": {"clerk": ["stranger"]}} | 422 201 403 422 422 422 422 401
  PUT {"route": "desk", "roles": {"boss": ["member"]}} | 422 201 403 422 422 422 422 401
  PUT {"route": "bug", "attachmentUUID": "{file}"} | 201 201 422 422 422 422 422 401
  PUT {"route": "bug", "attachmentUUID": "{shared}"} | 201 422 201 422 422 422 422 401
  PUT {"route": "bug", "attachmentUUID": "{bound}"} | 201 201 201 201 201 201 422 401
  PUT {"route": "bug", "document": "/dav/Documents/{user}/plans/hall.txt"} | 201 201 422 422 422 422 422 401
  PUT {"route": "bug", "document": "/dav/Documents/{team}/rates/day.csv"} | 201 422 201 422 422 422 422 401
  PUT {"route": "bug", "document": "/dav/Documents/everyone/news/today.txt"} | 201 201 201 201 201 201 201 401
/dav/Workflow/Cases/{case}/nonsense
/dav/nonsense
  OPTIONS                                   | 404 404 404 404 404 404 404 200
  GET HEAD PROPFIND PUT DELETE POST         | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/nonsense
  OPTIONS GET HEAD PROPFIND PUT DELETE POST MKCOL PROPPATCH | 404 404 404 404 404 404 404 401
`
