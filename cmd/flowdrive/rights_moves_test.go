package main

// rightsOfMoves is the part of the rights table that is about COPY and MOVE:
// for every kind of node what they are answered where the destination is a new
// name in the caller's own documents. Whoever reads something may copy it
// there; only documents are moved there (docs/contract/drive.md#copy-and-move).
const rightsOfMoves = `
#                                           adm own mem pla sta dep str nob
/healthz
/livez
/readyz
/version
/openapi.json
  COPY MOVE                               | 405 405 405 405 405 405 405 405
/
/dav
/dav/
/dav/Workflow/
/dav/Workflow/Schedule/
/dav/Workflow/Schedule/.history/
/dav/Workflow/Routes/
/dav/Workflow/Cases/
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
  COPY MOVE                               | 403 403 403 403 403 403 403 401
/dav/Workflow/README.txt
/dav/Workflow/Schemas/route.schema.json
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
  COPY                                    | 201 201 201 201 201 201 201 401
  MOVE                                    | 403 403 403 403 403 403 403 401
/ui/
  COPY MOVE                               | 308 308 308 308 308 308 308 308
/dav/Workflow/Cases/Rejected/
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/events
/clock
  COPY MOVE                               | 405 405 405 405 405 405 405 401
/metrics
  COPY MOVE                               | 405 404 404 404 404 404 404 401
/dav/Workflow/Schedule/{entry}.json
/dav/Workflow/Schedule/{nightly}@owner.json
  COPY                                    | 201 201 404 404 404 404 404 401
  MOVE                                    | 403 403 404 404 404 404 404 401
/dav/Workflow/Schedule/{nightly}.json
  COPY                                    | 404 201 404 404 404 404 404 401
  MOVE                                    | 404 403 404 404 404 404 404 401
/dav/Workflow/Schedule/{entry}/
  COPY MOVE                               | 403 403 404 404 404 404 404 401
/dav/Workflow/Schedule/{entry}/occurrences.json
  COPY                                    | 201 201 404 404 404 404 404 401
  MOVE                                    | 403 403 404 404 404 404 404 401
/dav/Workflow/Schedule/{shift}.json
  COPY                                    | 201 404 201 404 404 404 404 401
  MOVE                                    | 403 404 403 404 404 404 404 401
/dav/Workflow/Schedule/{common}.json
  COPY                                    | 201 201 201 201 201 201 201 401
  MOVE                                    | 403 403 403 403 403 403 403 401
/dav/Workflow/Schedule/new.json
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Routes/{desk}.yaml
/dav/Workflow/Routes/{desk}.json
/dav/Workflow/Routes/{idle}.yaml
  COPY                                    | 201 201 201 201 404 404 404 401
  MOVE                                    | 403 403 403 403 404 404 404 401
/dav/Workflow/Routes/{led}.yaml
  COPY                                    | 201 404 201 404 404 404 404 401
  MOVE                                    | 403 404 403 404 404 404 404 401
/dav/Workflow/Routes/fresh.yaml
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Routes/{desk}/
/dav/Workflow/Routes/{desk}/Board/open/
/dav/Workflow/Routes/{desk}/Board/
/dav/Workflow/Routes/{desk}/Versions/
  COPY MOVE                               | 403 403 403 403 404 404 404 401
/dav/Workflow/Routes/{desk}/Versions/1.json
/dav/Workflow/Routes/{desk}/Versions/1.yaml
/dav/Workflow/Routes/{desk}/.contents
/dav/Workflow/Routes/{desk}/.ls
  COPY                                    | 201 201 201 201 404 404 404 401
  MOVE                                    | 403 403 403 403 404 404 404 401
/dav/Workflow/Routes/{desk}/Board/open/{case}%20Counter.json
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Routes/{desk}/new.txt
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Routes/{desk}/{order}
  COPY                                    | 404 404 201 404 404 404 404 401
  MOVE                                    | 404 404 403 404 404 404 404 401
/dav/Workflow/Routes/{desk}/{case}/
  COPY MOVE                               | 403 403 403 403 403 403 404 401
/dav/Workflow/Routes/{desk}/{case}/input
/dav/Workflow/Cases/{case}.json
/dav/Workflow/Cases/{given}@sam.json
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/
/dav/Workflow/Cases/{case}/Actions/
/dav/Workflow/Cases/{case}/Timers/
/dav/Workflow/Cases/{case}/Messages/
/dav/Workflow/Cases/{case}/Labels/
  COPY MOVE                               | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/input
/dav/Workflow/Cases/{case}/log.json
/dav/Workflow/Cases/{case}/log.txt
/dav/Workflow/Cases/{case}/diagram.svg
/dav/Workflow/Cases/{case}/Messages/{message}
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/output
/dav/Workflow/Cases/{case}/exception
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Timers/case.json
/dav/Workflow/Cases/{case}/Timers/state.json
/dav/Workflow/Cases/{case}/Timers/finish.due.json
/dav/Workflow/Cases/{case}/Timers/finish.offer.json
/dav/Workflow/Cases/{case}/Actions/finish.json
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{taken}/Actions/finish.json
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Worklist/Offered/{case}.finish.json
/dav/Workflow/Worklist/Accepted/{taken}.finish.json
  COPY                                    | 404 404 404 201 404 201 404 401
  MOVE                                    | 404 404 404 403 404 403 404 401
/dav/Workflow/Worklist/Offered/{taken}.finish.json
/dav/Workflow/Worklist/Accepted/{case}.finish.json
/dav/Workflow/Worklist/Warnings/{case}.finish.json
/dav/Workflow/Worklist/Escalated/{case}.finish.json
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Timers/finish.timeout.json
/dav/Workflow/Cases/{case}/Timers/reopen.due.json
/dav/Workflow/Cases/{case}/Timers/review.json
/dav/Workflow/Cases/{case}/Actions/reopen.json
/dav/Workflow/Cases/{case}/Actions/nonsense.json
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Labels/remark
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/Labels/fresh
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Labels/InputMessage
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{begun}.json
/dav/Workflow/Cases/{begun}/Timers/case.json
/dav/Workflow/Cases/{begun}/Timers/finish.due.json
/dav/Workflow/Cases/{begun}/Actions/finish.json
  COPY                                    | 201 201 404 201 201 201 404 401
  MOVE                                    | 403 403 404 403 403 403 404 401
/dav/Workflow/Cases/{begun}/Labels/fresh
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{begun}/Labels/InputMessage
  COPY                                    | 201 201 404 201 201 201 404 401
  MOVE                                    | 403 403 404 403 403 403 404 401
/dav/Workflow/Cases/{gone}.json
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{gone}/Labels/fresh
/dav/Workflow/Cases/new.json
/dav/Workflow/Cases/{case}/nonsense
/dav/nonsense
/nonsense
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/attachfs/{file}
/attachfs/view/{file}
/attachfs/download/{file}
/attachfs/{used}
  COPY                                    | 201 201 404 404 404 404 404 401
  MOVE                                    | 403 403 404 404 404 404 404 401
/attachfs/{shared}
  COPY                                    | 201 404 201 404 404 404 404 401
  MOVE                                    | 403 404 403 404 404 404 404 401
/attachfs/{bound}
/attachfs/view/{bound}
/attachfs/download/{bound}
/attachfs/{case}/{bound}
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/attachfs/{case}/{file}
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/attachfs/{case}/
  COPY MOVE                               | 403 403 403 403 403 403 404 401
/attachfs/{case}/.contents
/attachfs/{case}/.ls
  COPY                                    | 201 201 201 201 201 201 404 401
  MOVE                                    | 403 403 403 403 403 403 404 401
/attachfs/new.csv
/attachfs/{case}/new.csv
/attachfs/{begun}/new.csv
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Documents/{user}/
  COPY                                    | 201 403 404 404 404 404 404 401
  MOVE                                    | 403 403 404 404 404 404 404 401
/dav/Documents/{user}/plans/
  COPY                                    | 201 201 404 404 404 404 404 401
  MOVE                                    | 403 201 404 404 404 404 404 401
/dav/Documents/{user}/.contents
/dav/Documents/{user}/plans/.ls
  COPY                                    | 201 201 404 404 404 404 404 401
  MOVE                                    | 403 403 404 404 404 404 404 401
/dav/Documents/{user}/plans/hall.txt
  COPY                                    | 201 201 404 404 404 404 404 401
  MOVE                                    | 403 201 404 404 404 404 404 401
/dav/Documents/{user}/plans/new.txt
/dav/Documents/{user}/nowhere/new.txt
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Documents/{team}/
  COPY                                    | 201 404 201 404 404 404 404 401
  MOVE                                    | 403 404 403 404 404 404 404 401
/dav/Documents/{team}/rates/
/dav/Documents/{team}/rates/day.csv
  COPY                                    | 201 404 201 404 404 404 404 401
  MOVE                                    | 403 404 201 404 404 404 404 401
/dav/Documents/{team}/new.csv
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Documents/everyone/
  COPY                                    | 201 201 201 201 201 201 201 401
  MOVE                                    | 403 403 403 403 403 403 403 401
/dav/Documents/everyone/news/
/dav/Documents/everyone/news/today.txt
  COPY                                    | 201 201 201 201 201 201 201 401
  MOVE                                    | 201 403 403 403 403 403 403 401
/dav/Documents/everyone/new.txt
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Account/me.json
  COPY                                    | 201 201 201 201 201 201 201 401
  MOVE                                    | 403 403 403 403 403 403 403 401
/dav/Account/AppPasswords/{phone}.json
/dav/Account/CalendarLinks/{phone}.json
  COPY                                    | 404 201 404 404 404 404 404 401
  MOVE                                    | 404 403 404 404 404 404 404 401
/dav/Admin/
/dav/Admin/Users/
/dav/Admin/Teams/
/dav/Admin/Holds/
/dav/Admin/Audit/
/dav/Admin/Sessions/
  COPY MOVE                               | 403 404 404 404 404 404 404 401
/dav/Admin/Users/.contents
/dav/Admin/Teams/.ls
/dav/Admin/Holds/.ls
/dav/Admin/Audit/.contents
/dav/Admin/Sessions/.contents
/dav/Admin/Audit/{date}.jsonl
  COPY                                    | 201 404 404 404 404 404 404 401
  MOVE                                    | 403 404 404 404 404 404 404 401
/dav/Admin/Users/{user}.json
/dav/Admin/Holds/{hold}.json
  COPY                                    | 201 404 404 404 404 404 404 401
  MOVE                                    | 403 404 404 404 404 404 404 401
/dav/Admin/Users/fresh.json
/dav/Admin/Holds/fresh.json
  COPY MOVE                               | 404 404 404 404 404 404 404 401
/dav/Admin/Teams/{team}.json
  COPY                                    | 201 404 404 404 404 404 404 401
  MOVE                                    | 403 404 404 404 404 404 404 401
`
