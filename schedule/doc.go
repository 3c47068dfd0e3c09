// Package schedule says when an entry creates its cases: it reads and writes
// schedule entries, knows their four kinds of recurrence (simple, interval,
// cron, crontab), and does the arithmetic of firing. It is pure: the time comes
// as an argument, routes, contexts and attachments are names that the caller
// resolves, and nothing is stored or started here (docs/contract/schedule.md).
//
// # Recurrences
//
// A [Schedule] is robfig/cron's interface of one method. Next returns the first
// instant strictly after its argument, in UTC. It returns the zero time if
// there is none up to the end of the year 9999. All recurrences of this package
// can also be walked backwards. [Latest] does that to find what was missed
// during an outage without counting through it.
//
// Fields of the type cron, in the order of their weight:
//
//	year       1970-9999
//	month      1-12
//	day        1-31, last, last fri, 2nd tue (1st to 5th)
//	week       1-53, the ISO week
//	dayOfWeek  0-6 from Monday to Sunday, mon to sun, mon-fri
//	hour       0-23
//	minute     0-59
//
// Each is a list, separated by commas, of *, */n, a, a-b, a-b/n and a/n. All of
// them must match. An absent field is *, independently of the others: {"hour":
// "23"} fires sixty times a day.
//
// # Entries
//
// [Read] takes what a client sent, notes every fault, and returns the [Entry].
// [Entry.Form] is its complete form, which is stored and which [ReadForm]
// reads. [Entry.Due] and [Entry.Step] are the firing: one occurrence per step.
package schedule
