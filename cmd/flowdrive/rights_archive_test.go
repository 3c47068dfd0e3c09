package main

// rightsOnArchive is the part of the rights table that is about the archive:
// the case past, of the team ops as gone is, was canceled and archived.
const rightsOnArchive = `
#                                           adm own mem pla sta dep str nob
/dav/Workflow/Archive/
  GET HEAD                                | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT MKCOL POST                          | 405 405 405 405 405 405 405 401
  DELETE                                  | 403 403 403 403 403 403 403 401
  COPY                                    | 403 403 403 403 403 403 403 401
  MOVE                                    | 403 403 403 403 403 403 403 401
  LOCK UNLOCK                             | 403 403 403 403 403 403 403 401
/dav/Workflow/Archive/.contents
/dav/Workflow/Archive/.ls
  GET HEAD                                | 200 200 200 200 200 200 200 401
  GET?route={desk}                        | 200 200 200 200 200 200 200 401
  GET?parent={past}                       | 200 200 200 200 200 200 200 401
  PROPFIND                                | 207 207 207 207 207 207 207 401
  PUT DELETE MKCOL POST                   | 405 405 405 405 405 405 405 401
  COPY                                    | 201 201 201 201 201 201 201 401
  MOVE                                    | 403 403 403 403 403 403 403 401
  LOCK UNLOCK                             | 403 403 403 403 403 403 403 401
/dav/Workflow/Archive/2012/
/dav/Workflow/Archive/2012/11/
/dav/Workflow/Archive/2012/11/{past}/
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT POST                                | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
  DELETE                                  | 403 403 403 403 403 403 404 401
  COPY MOVE                               | 403 403 403 403 403 403 404 401
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401
/dav/Workflow/Archive/2012/12/
/dav/Workflow/Archive/2012/11/{case}.json
/dav/Workflow/Archive/2012/12/{past}.json
  GET HEAD PUT DELETE POST PROPFIND       | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  COPY MOVE                               | 404 404 404 404 404 404 404 401
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Workflow/Archive/2012/13/
/dav/Workflow/Archive/2012/11/new.json
  OPTIONS                                   | 404 404 404 404 404 404 404 200
  GET HEAD PUT DELETE POST PROPFIND         | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  COPY MOVE                               | 404 404 404 404 404 404 404 401
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Workflow/Archive/2012/11/{past}.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"title": "Another"}                | 403 403 403 403 403 403 404 401
  PUT {"state": "active"}                 | 204 204 403 403 403 403 404 401
  DELETE                                  | 204 403 403 403 403 403 404 401
  POST                                    | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
  LOCK                                    | 200 200 403 403 403 403 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Archive/2012/11/{past}/log.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT DELETE POST                         | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401

# It goes on resolving in Cases/, and is read-only but for what reopens it.
/dav/Workflow/Cases/{past}.json
  GET HEAD                                | 200 200 200 200 200 200 404 401
  PROPFIND                                | 207 207 207 207 207 207 404 401
  PUT {"title": "Another"}                | 403 403 403 403 403 403 404 401
  PUT {"state": "active"}                 | 204 204 403 403 403 403 404 401
  DELETE                                  | 204 204 403 403 403 403 404 401
  POST                                    | 405 405 405 405 405 405 404 401
  MKCOL                                   | 405 405 405 405 405 405 403 401
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
  LOCK                                    | 200 200 403 403 403 403 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{past}/Actions/finish.json
  GET HEAD PROPFIND DELETE                | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT POST {}                             | 403 403 403 403 403 403 404 401
  COPY MOVE                               | 404 404 404 404 404 404 404 401
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{past}/Labels/fresh
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT hello                               | 403 403 403 403 403 403 404 401
  COPY MOVE                               | 404 404 404 404 404 404 404 401
  LOCK                                    | 403 403 403 403 403 403 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/attachfs/{past}/new.csv
  GET HEAD PROPFIND DELETE POST           | 404 404 404 404 404 404 404 401
  MKCOL                                   | 403 403 403 403 403 403 403 401
  PUT 1,2                                 | 403 403 403 403 403 403 404 401
  COPY MOVE                               | 404 404 404 404 404 404 404 401
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
`
