package main

// rightsOfLocks is the part of the rights table that is about locks: for every
// kind of node what LOCK, with the body of an exclusive lock, and UNLOCK, with
// a token that no lock has, are answered. What can be locked by whom follows
// from who may write it (docs/contract/drive.md#locks).
const rightsOfLocks = `
#                                           adm own mem pla sta dep str nob
/healthz
/livez
/readyz
/version
/openapi.json
  LOCK UNLOCK                             | 405 405 405 405 405 405 405 405
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
  LOCK UNLOCK                             | 403 403 403 403 403 403 403 401
/ui/
  LOCK UNLOCK                             | 308 308 308 308 308 308 308 308
/events
/clock
  LOCK UNLOCK                             | 405 405 405 405 405 405 405 401
/metrics
  LOCK UNLOCK                             | 405 404 404 404 404 404 404 401
/dav/Workflow/Cases/Rejected/
  LOCK                                    | 404 404 404 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Schedule/{entry}.json
/dav/Workflow/Schedule/{nightly}@owner.json
  LOCK                                    | 200 200 404 404 404 404 404 401
  UNLOCK                                  | 409 409 404 404 404 404 404 401
/dav/Workflow/Schedule/{nightly}.json
  LOCK                                    | 404 200 404 404 404 404 404 401
  UNLOCK                                  | 404 409 404 404 404 404 404 401
/dav/Workflow/Schedule/{entry}/
/dav/Workflow/Schedule/{entry}/occurrences.json
  LOCK UNLOCK                             | 403 403 404 404 404 404 404 401
/dav/Workflow/Schedule/{shift}.json
  LOCK                                    | 200 404 200 404 404 404 404 401
  UNLOCK                                  | 409 404 409 404 404 404 404 401
/dav/Workflow/Schedule/{common}.json
  LOCK                                    | 200 403 403 403 403 403 403 401
  UNLOCK                                  | 409 409 409 409 409 409 409 401
/dav/Workflow/Schedule/new.json
  LOCK                                    | 404 404 404 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Routes/{desk}.yaml
/dav/Workflow/Routes/{desk}.json
/dav/Workflow/Routes/{idle}.yaml
/dav/Workflow/Routes/{told}.scenario.yaml
  LOCK                                    | 200 200 403 403 404 404 404 401
  UNLOCK                                  | 409 409 409 409 404 404 404 401
/dav/Workflow/Routes/{led}.yaml
  LOCK                                    | 200 404 200 404 404 404 404 401
  UNLOCK                                  | 409 404 409 404 404 404 404 401
/dav/Workflow/Routes/fresh.yaml
  LOCK                                    | 404 404 404 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Routes/{desk}/
/dav/Workflow/Routes/{desk}/Board/open/
/dav/Workflow/Routes/{desk}/Board/
/dav/Workflow/Routes/{desk}/Versions/
/dav/Workflow/Routes/{desk}/Versions/1.json
/dav/Workflow/Routes/{desk}/Versions/1.yaml
/dav/Workflow/Routes/{desk}/.contents
/dav/Workflow/Routes/{desk}/.ls
  LOCK UNLOCK                             | 403 403 403 403 404 404 404 401
/dav/Workflow/Routes/{desk}/Board/open/{case}%20Counter.json
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401
/dav/Workflow/Routes/{desk}/new.txt
/dav/Workflow/Routes/{desk}/{order}
  LOCK                                    | 403 404 404 403 404 404 404 401
  UNLOCK                                  | 403 404 404 403 404 404 404 401
/dav/Workflow/Routes/{desk}/{case}/
/dav/Workflow/Routes/{desk}/{case}/input
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}.json
/dav/Workflow/Cases/{given}@sam.json
  LOCK                                    | 200 200 403 200 403 403 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{case}/
/dav/Workflow/Cases/{case}/Actions/
/dav/Workflow/Cases/{case}/Timers/
/dav/Workflow/Cases/{case}/Messages/
/dav/Workflow/Cases/{case}/Labels/
/dav/Workflow/Cases/{case}/input
/dav/Workflow/Cases/{case}/log.json
/dav/Workflow/Cases/{case}/log.txt
/dav/Workflow/Cases/{case}/diagram.svg
/dav/Workflow/Cases/{case}/Messages/{message}
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/output
/dav/Workflow/Cases/{case}/exception
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Actions/finish.json
  LOCK                                    | 200 200 403 200 403 200 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
# A task is locked under all its names, also where it is on no list of the caller's: it can be saved there as well.
/dav/Workflow/Worklist/Offered/{case}.finish.json
/dav/Workflow/Worklist/Escalated/{case}.finish.json
/dav/Workflow/Worklist/Accepted/{taken}.finish.json
  LOCK                                    | 200 200 403 200 403 200 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{case}/Timers/case.json
/dav/Workflow/Cases/{case}/Timers/state.json
  LOCK                                    | 200 200 403 403 403 403 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{case}/Timers/finish.due.json
/dav/Workflow/Cases/{case}/Timers/finish.offer.json
  LOCK                                    | 200 200 403 200 403 200 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{case}/Timers/finish.timeout.json
/dav/Workflow/Cases/{case}/Timers/reopen.due.json
/dav/Workflow/Cases/{case}/Timers/review.json
/dav/Workflow/Cases/{case}/Actions/reopen.json
/dav/Workflow/Cases/{case}/Actions/nonsense.json
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Labels/remark
  LOCK                                    | 200 200 403 200 403 200 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{case}/Labels/fresh
  LOCK                                    | 404 404 403 404 403 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/Labels/InputMessage
  LOCK                                    | 200 200 403 403 403 403 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{begun}.json
  LOCK                                    | 200 200 404 200 403 403 404 401
  UNLOCK                                  | 409 409 404 409 409 409 404 401
/dav/Workflow/Cases/{begun}/Actions/finish.json
  LOCK                                    | 200 403 404 200 403 200 404 401
  UNLOCK                                  | 409 409 404 409 409 409 404 401
/dav/Workflow/Cases/{begun}/Timers/case.json
  LOCK                                    | 200 200 404 403 403 403 404 401
  UNLOCK                                  | 409 409 404 409 409 409 404 401
/dav/Workflow/Cases/{begun}/Timers/finish.due.json
  LOCK                                    | 200 403 404 200 403 200 404 401
  UNLOCK                                  | 409 409 404 409 409 409 404 401
/dav/Workflow/Cases/{begun}/Labels/fresh
  LOCK                                    | 404 404 404 404 403 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{begun}/Labels/InputMessage
  LOCK                                    | 200 403 404 403 403 403 404 401
  UNLOCK                                  | 409 409 404 409 409 409 404 401
/dav/Workflow/Cases/{gone}.json
  LOCK                                    | 200 200 403 200 403 403 404 401
  UNLOCK                                  | 409 409 409 409 409 409 404 401
/dav/Workflow/Cases/{gone}/Labels/fresh
  LOCK                                    | 404 404 403 403 403 403 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/new.json
  LOCK                                    | 404 404 404 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Workflow/Cases/{case}/nonsense
/dav/nonsense
/nonsense
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/attachfs/{file}
/attachfs/view/{file}
/attachfs/download/{file}
/attachfs/{used}
  LOCK UNLOCK                             | 403 403 404 404 404 404 404 401
/attachfs/{shared}
  LOCK UNLOCK                             | 403 404 403 404 404 404 404 401
/attachfs/{bound}
/attachfs/view/{bound}
/attachfs/download/{bound}
/attachfs/{case}/{bound}
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401
/attachfs/{case}/{file}
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/attachfs/{case}/
/attachfs/{case}/.contents
/attachfs/{case}/.ls
  LOCK UNLOCK                             | 403 403 403 403 403 403 404 401
/attachfs/new.csv
/attachfs/{case}/new.csv
/attachfs/{begun}/new.csv
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Documents/{user}/
/dav/Documents/{user}/plans/
  LOCK                                    | 403 200 404 404 404 404 404 401
  UNLOCK                                  | 409 409 404 404 404 404 404 401
/dav/Documents/{user}/.contents
/dav/Documents/{user}/plans/.ls
  LOCK UNLOCK                             | 403 403 404 404 404 404 404 401
/dav/Documents/{user}/plans/hall.txt
  LOCK                                    | 403 200 404 404 404 404 404 401
  UNLOCK                                  | 409 409 404 404 404 404 404 401
/dav/Documents/{user}/plans/new.txt
  LOCK                                    | 403 201 404 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Documents/{user}/nowhere/new.txt
  LOCK                                    | 403 409 404 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Documents/{team}/
/dav/Documents/{team}/rates/
/dav/Documents/{team}/rates/day.csv
  LOCK                                    | 403 404 200 404 404 404 404 401
  UNLOCK                                  | 409 404 409 404 404 404 404 401
/dav/Documents/{team}/new.csv
  LOCK                                    | 403 404 201 404 404 404 404 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Documents/everyone/
/dav/Documents/everyone/news/
/dav/Documents/everyone/news/today.txt
  LOCK                                    | 200 403 403 403 403 403 403 401
  UNLOCK                                  | 409 409 409 409 409 409 409 401
/dav/Documents/everyone/new.txt
  LOCK                                    | 201 403 403 403 403 403 403 401
  UNLOCK                                  | 404 404 404 404 404 404 404 401
/dav/Account/me.json
  LOCK                                    | 200 200 200 200 200 200 200 401
  UNLOCK                                  | 409 409 409 409 409 409 409 401
/dav/Account/AppPasswords/{phone}.json
/dav/Account/CalendarLinks/{phone}.json
  LOCK                                    | 404 200 404 404 404 404 404 401
  UNLOCK                                  | 404 409 404 404 404 404 404 401
/dav/Admin/
/dav/Admin/Users/
/dav/Admin/Teams/
/dav/Admin/Holds/
/dav/Admin/Audit/
/dav/Admin/Sessions/
/dav/Admin/Users/.contents
/dav/Admin/Teams/.ls
/dav/Admin/Holds/.ls
/dav/Admin/Audit/.contents
/dav/Admin/Sessions/.contents
/dav/Admin/Audit/{date}.jsonl
  LOCK UNLOCK                             | 403 404 404 404 404 404 404 401
/dav/Admin/Users/{user}.json
/dav/Admin/Holds/{hold}.json
  LOCK                                    | 200 404 404 404 404 404 404 401
  UNLOCK                                  | 409 404 404 404 404 404 404 401
/dav/Admin/Users/fresh.json
/dav/Admin/Holds/fresh.json
  LOCK UNLOCK                             | 404 404 404 404 404 404 404 401
/dav/Admin/Teams/{team}.json
  LOCK                                    | 200 404 404 404 404 404 404 401
  UNLOCK                                  | 409 404 404 404 404 404 404 401
`
