package engine_test

// The routes of the tests.
const (
	// routeAuto ends by itself.
	routeAuto = `
title: Automatic
access: {start: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  finish: {trigger: auto, in: [open], to: done, past: Finished}
`
	// routeAsk waits for people.
	routeAsk = `
title: Question
access: {start: [everyone]}
priority: 250
roles:
  asker: {assign: [starter]}
  helper: {assign: ["xattr:helper", "team:core"], pick: ["team:core", "user:bob"]}
  boss: {assign: [admins]}
states: {open: {type: start}, answered: {}, closed: {type: complete}}
actions:
  ask: {trigger: init, past: Asked}
  answer: {in: [open], role: helper, to: answered, past: Answered}
  close: {in: [answered], role: asker, to: closed, past: Closed}
  reopen: {enabledIn: [closed], allowed: [asker], to: open, past: Reopened}
  note: {always: true, allowed: [readers], past: Noted}
  audit: {always: true, role: boss, past: Audited}
`
	// routeOwn is the team core's alone.
	routeOwn = `
context: core
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, closed: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  end: {in: [open], role: worker, to: closed, past: Ended}
`
	// routeTimed does things by itself later.
	routeTimed = `
access: {start: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  remind: {trigger: time, timeout: PT2H, in: [open], past: Reminded}
  expire: {trigger: time, timeout: P1D, in: [open], to: done, past: Expired}
`
	// routeLoop sets itself off without end.
	routeLoop = `
access: {start: [everyone]}
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init}
  there: {trigger: auto, in: [a], to: b}
  back: {trigger: auto, in: [b], to: a}
`
)
