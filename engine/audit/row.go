// Package audit writes and reads the audit log. Log writes rows in the units
// of the changes that they are about, and others soon after. A row is a line of
// JSON. The package bounds the rows that somebody from outside can cause, and
// reads the text of a day.
package audit

import (
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/identity"
)

// Action says what a row of the audit log is about.
type Action string

// The actions of the audit log.
const (
	LogIn           Action = "log-in"               // a session of the pages, with the browser; or refused, of any log-in
	SessionEnd      Action = "session-end"          // whose session of the pages was ended, by log-out or from the list; with the browser
	Request         Action = "request"              // refused for want of a right; the target is method and path
	UserAdd         Action = "user-add"             // a user
	UserChange      Action = "user-change"          // the detail names the fields
	UserDisable     Action = "user-disable"         // a user, who can no longer log in
	UserEnable      Action = "user-enable"          // a user, who can log in again
	UserDelete      Action = "user-delete"          // a user
	Password        Action = "password-change"      // whose password
	Admin           Action = "administrator-change" // who is an administrator of the server
	Deputy          Action = "deputy-change"        // whose deputy
	TeamAdd         Action = "team-add"             // a team
	TeamChange      Action = "team-change"          // a team; the detail names the fields
	TeamDelete      Action = "team-delete"          // a team
	AppPassword     Action = "app-password-add"     // its label
	AppPasswordEnd  Action = "app-password-revoke"  // its label
	SecondFactor    Action = "second-factor-change" // whose; the detail says how
	CalendarLink    Action = "calendar-link-add"    // its label
	CalendarLinkEnd Action = "calendar-link-revoke" // its label
	RouteAdd        Action = "route-add"            // a route
	RouteChange     Action = "route-change"         // a route; the detail says its version
	RouteDelete     Action = "route-delete"         // a route
	HoldAdd         Action = "hold-add"             // the detail says what is held
	HoldChange      Action = "hold-change"          // a hold
	HoldDelete      Action = "hold-delete"          // a hold
	HookAdd         Action = "hook-add"             // a hook of a route
	HookChange      Action = "hook-change"          // a hook of a route
	HookDelete      Action = "hook-delete"          // a hook of a route
	HookRequest     Action = "hook-request"         // refused, to a hook of a route; the detail says why
	LockBreak       Action = "lock-break"           // another's; the detail says whose
	CasePurge       Action = "case-purge"           // a case, deleted for good
	DocumentRead    Action = "document-read"        // another's, by an administrator
	HistoryRead     Action = "history-read"         // of what another has written, as it was, by an administrator
	MessageRead     Action = "message-read"         // of a case that an administrator sees by that right alone
	AttachmentRead  Action = "attachment-read"      // another's, by an administrator
	ClockSet        Action = "clock-set"            // of a sandbox, and to when
	Lost            Action = "rows-lost"            // too many at once; the detail says how many
)

// Titled is an action with its words for people.
type Titled struct {
	Action Action
	Title  string
}

// Actions returns all actions with their words.
func Actions() []Titled {
	return []Titled{
		{LogIn, "Log-in"},
		{SessionEnd, "Session ended"},
		{Request, "Request"},
		{UserAdd, "User added"},
		{UserChange, "User changed"},
		{UserDisable, "User disabled"},
		{UserEnable, "User enabled"},
		{UserDelete, "User deleted"},
		{Password, "Password changed"},
		{Admin, "Administrator changed"},
		{Deputy, "Deputy changed"},
		{TeamAdd, "Team added"},
		{TeamChange, "Team changed"},
		{TeamDelete, "Team deleted"},
		{AppPassword, "App password made"},
		{AppPasswordEnd, "App password revoked"},
		{SecondFactor, "Second factor changed"},
		{CalendarLink, "Calendar address made"},
		{CalendarLinkEnd, "Calendar address revoked"},
		{RouteAdd, "Route added"},
		{RouteChange, "Route changed"},
		{RouteDelete, "Route deleted"},
		{HoldAdd, "Hold added"},
		{HoldChange, "Hold changed"},
		{HoldDelete, "Hold let go"},
		{HookAdd, "Hook added"},
		{HookChange, "Hook changed"},
		{HookDelete, "Hook deleted"},
		{HookRequest, "Request to a hook"},
		{LockBreak, "Lock broken"},
		{CasePurge, "Case deleted for good"},
		{DocumentRead, "Document of another read"},
		{HistoryRead, "Old version of another read"},
		{MessageRead, "Message of a case read"},
		{AttachmentRead, "Attachment of another read"},
		{ClockSet, "Clock of the sandbox moved"},
		{Lost, "Rows left out"},
	}
}

// Title returns the words of the action, the action itself of one that is not known.
func (a Action) Title() string {
	for _, one := range Actions() {
		if one.Action == a {
			return one.Title
		}
	}
	return string(a)
}

// The outcomes in the audit log.
const (
	Done    = "done"    // it was done
	Refused = "refused" // it was asked for, and refused
)

// Row is a row of the audit log. Nothing in it is a secret.
type Row struct {
	Time    time.Time
	Actor   string // a user's name, or "" if the user is not known
	Address string // where the request came from, or "" for the machine itself
	Action  Action
	Target  string
	Outcome string
	Detail  string

	missed int // of a row about rows that were not written: how many
}

// NewRow returns a row that says that by has done something at that time. It
// has no address.
func NewRow(by identity.Principal, at time.Time, action Action, target, detail string) *Row {
	return &Row{Time: at, Actor: by.Actor(), Action: action, Target: target, Outcome: Done, Detail: detail}
}

const mostText = 1000 // bytes of a target or detail

// Line renders the row without its place in the chain: every key always, in this order.
func (r *Row) Line() []byte {
	b := append(make([]byte, 0, 256), `{"time":"`...)
	b = r.Time.UTC().AppendFormat(b, time.RFC3339)
	for _, field := range []struct{ key, value string }{
		{`","actor":`, r.Actor},
		{`,"address":`, r.Address},
		{`,"action":`, string(r.Action)},
		{`,"target":`, clipped(r.Target, mostText)},
		{`,"outcome":`, r.Outcome},
		{`,"detail":`, clipped(r.Detail, mostText)},
	} {
		b = append(b, field.key...)
		if field.value == "" {
			b = append(b, "null"...)
		} else {
			b = document.AppendString(b, field.value)
		}
	}
	return append(b, "}\n"...)
}

// clipped bounds what a client can make the log hold.
func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // within a character
		cut--
	}
	return s[:cut] + "…"
}
