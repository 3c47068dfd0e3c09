package main

// rightsOnContents is the part of the rights table that is about attachments,
// documents, accounts and administration.
const rightsOnContents = `
#                                           adm own mem pla sta dep str nob
# ---- attachments: of a context, in use, of a case
/attachfs/{file}
/attachfs/view/{file}
/attachfs/download/{file}
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  DELETE                                  | 204 204 404 404 404 404 404 401
  PUT POST                                | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
/attachfs/{used}
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  DELETE                                  | 409 409 404 404 404 404 404 401
  PUT POST                                | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
/attachfs/{shared}
  GET HEAD                                | 200 404 200 404 404 404 404 401
  PROPFIND                                | 207 404 207 404 404 404 404 401
  DELETE                                  | 204 404 204 404 404 404 404 401
  PUT POST                                | 405 404 405 404 404 404 404 401
  MKCOL                                   | 405 403 405 403 403 403 403 401
/attachfs/{bound}
/attachfs/view/{bound}
/attachfs/download/{bound}
/attachfs/{case}/{bound}
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  DELETE                                  | 204 204 403 204 403 403 404 401
  PUT POST                                | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/attachfs/{case}/{file}
  GET HEAD PROPFIND DELETE PUT POST       | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/attachfs/{case}/
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  DELETE                                  | 403 403 403 403 403 403 404 401
  PUT POST                                | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/attachfs/{case}/.contents
/attachfs/{case}/.ls
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT DELETE POST                         | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
/attachfs/new.csv
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT 1,2                                 | 201 201 201 201 201 201 201 401
  PUT?context={team} 1,2                  | 403 403 201 403 403 403 403 401
  PUT?context={user} 1,2                  | 403 201 403 403 403 403 403 401
  PUT?context=everyone 1,2                | 201 403 403 403 403 403 403 401
/attachfs/{case}/new.csv
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT 1,2                                 | 201 201 201 201 201 201 404 401
/attachfs/{begun}/new.csv
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT 1,2                                 | 201 201 404 201 201 201 404 401

# ---- documents of a user: administrators read
/dav/Documents/{user}/
  OPTIONS                                 | 200 200 404 404 404 404 404 200
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT POST                                | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
  DELETE                                  | 403 403 404 404 404 404 404 401
/dav/Documents/{user}/plans/
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT POST                                | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 404 404 404 404 404 401
  DELETE                                  | 403 204 404 404 404 404 404 401
/dav/Documents/{user}/.contents
/dav/Documents/{user}/plans/.ls
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT DELETE POST                         | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 403 403 403 403 403 401
/dav/Documents/{user}/plans/hall.txt
  GET HEAD                                | 200 200 404 404 404 404 404 401
  PROPFIND                                | 207 207 404 404 404 404 404 401
  PUT bye                                 | 403 204 404 404 404 404 404 401
  PUT?dryRun bye                          | 403 200 404 404 404 404 404 401
  DELETE                                  | 403 204 404 404 404 404 404 401
  POST                                    | 405 405 404 404 404 404 404 401
  MKCOL                                   | 405 405 404 404 404 404 404 401
/dav/Documents/{user}/plans/new.txt
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT hello                               | 403 201 404 404 404 404 404 401
  MKCOL                                   | 403 201 404 404 404 404 404 401
/dav/Documents/{user}/nowhere/new.txt
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT hello                               | 403 409 404 404 404 404 404 401
  MKCOL                                   | 403 409 404 404 404 404 404 401

# ---- documents of a team: its members'
/dav/Documents/{team}/
  OPTIONS                                 | 200 404 200 404 404 404 404 200
  GET HEAD                                | 200 404 200 404 404 404 404 401
  PROPFIND                                | 207 404 207 404 404 404 404 401
  PUT POST                                | 405 404 405 404 404 404 404 401
  MKCOL                                   | 405 403 405 403 403 403 403 401
  DELETE                                  | 403 404 403 404 404 404 404 401
/dav/Documents/{team}/rates/
  GET HEAD                                | 200 404 200 404 404 404 404 401
  PROPFIND                                | 207 404 207 404 404 404 404 401
  PUT POST                                | 405 404 405 404 404 404 404 401
  MKCOL                                   | 405 404 405 404 404 404 404 401
  DELETE                                  | 403 404 204 404 404 404 404 401
/dav/Documents/{team}/rates/day.csv
  GET HEAD                                | 200 404 200 404 404 404 404 401
  PROPFIND                                | 207 404 207 404 404 404 404 401
  PUT 3,4                                 | 403 404 204 404 404 404 404 401
  DELETE                                  | 403 404 204 404 404 404 404 401
  POST                                    | 405 404 405 404 404 404 404 401
  MKCOL                                   | 405 404 405 404 404 404 404 401
/dav/Documents/{team}/new.csv
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT 3,4                                 | 403 404 201 404 404 404 404 401
  MKCOL                                   | 403 404 201 404 404 404 404 401

# ---- documents of everyone: administrators write
/dav/Documents/everyone/
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT POST MKCOL                          | 405 405 405 405 405 405 405 401
  DELETE                                  | 403 403 403 403 403 403 403 401
/dav/Documents/everyone/news/
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT POST MKCOL                          | 405 405 405 405 405 405 405 401
  DELETE                                  | 204 403 403 403 403 403 403 401
/dav/Documents/everyone/news/today.txt
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT bye                                 | 204 403 403 403 403 403 403 401
  DELETE                                  | 204 403 403 403 403 403 403 401
  POST MKCOL                              | 405 405 405 405 405 405 405 401
/dav/Documents/everyone/new.txt
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT hello                               | 201 403 403 403 403 403 403 401
  MKCOL                                   | 201 403 403 403 403 403 403 401

# ---- the caller's own account; the owner has an app password and a calendar link for a phone
/dav/Account/me.json
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT {"email": "me@example.org"}         | 204 204 204 204 204 204 204 401
  PUT {"deputy": {"user": "sam", "to": "2012-12-24"}} | 204 204 204 204 204 204 204 401
  DELETE POST MKCOL                       | 405 405 405 405 405 405 405 401
/dav/Account/AppPasswords/{phone}.json
/dav/Account/CalendarLinks/{phone}.json
  GET HEAD                                | 404 200 404 404 404 404 404 401
  PROPFIND                                | 404 207 404 404 404 404 404 401
  PUT {}                                  | 201 409 201 201 201 201 201 401
  DELETE                                  | 404 204 404 404 404 404 404 401
  POST                                    | 404 405 404 404 404 404 404 401
  MKCOL                                   | 403 405 403 403 403 403 403 401

# ---- administration
/dav/Admin/
/dav/Admin/Users/
/dav/Admin/Teams/
/dav/Admin/Holds/
/dav/Admin/Audit/
/dav/Admin/Sessions/
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD                                | 200 404 404 404 404 404 404 401
  PROPFIND                                | 207 404 404 404 404 404 404 401
  PUT POST                                | 405 404 404 404 404 404 404 401
  MKCOL                                   | 405 403 403 403 403 403 403 401
  DELETE                                  | 403 404 404 404 404 404 404 401
/dav/Admin/Users/.contents
/dav/Admin/Teams/.ls
/dav/Admin/Holds/.ls
/dav/Admin/Audit/.contents
/dav/Admin/Sessions/.contents
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD                                | 200 404 404 404 404 404 404 401
  PROPFIND                                | 207 404 404 404 404 404 404 401
  PUT DELETE POST                         | 405 404 404 404 404 404 404 401
  MKCOL                                   | 405 403 403 403 403 403 403 401
/dav/Admin/Audit/{date}.jsonl
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD                                | 200 404 404 404 404 404 404 401
  PROPFIND                                | 207 404 404 404 404 404 404 401
  PUT DELETE POST                         | 405 404 404 404 404 404 404 401
  MKCOL                                   | 405 403 403 403 403 403 403 401
/dav/Admin/Users/{user}.json
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD                                | 200 404 404 404 404 404 404 401
  PROPFIND                                | 207 404 404 404 404 404 404 401
  PUT {"fullName": "Somebody"}            | 204 404 404 404 404 404 404 401
  DELETE                                  | 409 404 404 404 404 404 404 401
  POST                                    | 405 404 404 404 404 404 404 401
  MKCOL                                   | 405 403 403 403 403 403 403 401
/dav/Admin/Users/fresh.json
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT {}                                  | 201 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/dav/Admin/Holds/{hold}.json
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD                                | 200 404 404 404 404 404 404 401
  PROPFIND                                | 207 404 404 404 404 404 404 401
  PUT {"group": "night"}                  | 204 404 404 404 404 404 404 401
  PUT {}                                  | 422 404 404 404 404 404 404 401
  DELETE                                  | 204 404 404 404 404 404 404 401
  POST                                    | 405 404 404 404 404 404 404 401
  MKCOL                                   | 405 403 403 403 403 403 403 401
/dav/Admin/Holds/fresh.json
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  PUT {"engine": true}                    | 201 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
/dav/Admin/Teams/{team}.json
  OPTIONS                                 | 200 404 404 404 404 404 404 200
  GET HEAD                                | 200 404 404 404 404 404 404 401
  PROPFIND                                | 207 404 404 404 404 404 404 401
  PUT {"members": ["stranger"]}           | 204 404 404 404 404 404 404 401
  DELETE                                  | 409 404 404 404 404 404 404 401
  POST                                    | 405 404 404 404 404 404 404 401
  MKCOL                                   | 405 403 403 403 403 403 403 401
`
