// Package ical writes and reads iCalendar (RFC 5545). It writes what is to
// come, for calendars that people subscribe to. It reads published calendars of
// days on which nothing is to happen.
//
// It writes only what a feed needs, events at UTC instants or on whole days, so
// that no time zone has to be described. It reads the events of a calendar as
// spans of time, and names the line of the first fault. Its cost is limited by
// [MaxSize] and [MaxSpans] for any file.
package ical
