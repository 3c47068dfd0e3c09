// Package ical writes and reads iCalendar (RFC 5545): what is to come, for the
// calendars that people subscribe to, and the days on which nothing is to
// happen, from the calendars that others publish.
//
// It writes no more than a feed needs, events at UTC instants or on whole days,
// so that no time zone has to be described. It reads the events of a calendar
// as spans of time, says of the first fault in which line it is, and its cost
// is bounded by [MaxSize] and [MaxSpans], whatever a file holds.
package ical
