package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Server has what administrators are told of the server itself
// (docs/contract/routes.md#what-is-wrong-with-the-server).
type Server struct {
	*base
	decider *decider

	looked atomic.Bool // for what routes name, since the settings were read
	logged []lack      // what was logged last of that; only Again has it
}

// ServerPart is a part of the server with which something can be wrong.
type ServerPart string

// The parts of the server.
const (
	ServerAudit       ServerPart = "audit"
	ServerBackup      ServerPart = "backup"
	ServerCertificate ServerPart = "certificate"
	ServerClock       ServerPart = "clock"
	ServerContents    ServerPart = "contents"
	ServerDatabase    ServerPart = "database"
	ServerDirectory   ServerPart = "directory"
	ServerDisk        ServerPart = "disk"
	ServerHeartbeat   ServerPart = "heartbeat"
	ServerRoutes      ServerPart = "routes"
	ServerSettings    ServerPart = "settings"
	ServerSignOn      ServerPart = "single-sign-on"
	ServerStore       ServerPart = "contents-store"
	ServerUnfinished  ServerPart = "unfinished"
)

func serverParts() []ServerPart {
	return []ServerPart{ServerAudit, ServerBackup, ServerCertificate, ServerClock, ServerContents, ServerDatabase, ServerDirectory, ServerDisk, ServerHeartbeat, ServerRoutes, ServerSettings, ServerSignOn, ServerStore, ServerUnfinished}
}

func (p ServerPart) subject() *notice.Server {
	switch p {
	case ServerAudit:
		return &notice.Server{Name: string(p), Title: "the audit log", Hint: "Somebody or something has changed it after it was written. flowdrive audit verify says the same; a backup has it as it was. Look who can write to the database, and at the disk.", Over: "The whole audit log is as it was written"}
	case ServerBackup:
		return &notice.Server{Name: string(p), Title: "the automatic backup", Hint: "The log of the server says more. flowdrive backup makes one by hand.", Over: "A backup has been made and is complete, or the settings ask for none any more"}
	case ServerCertificate:
		return &notice.Server{Name: string(p), Title: "the server's certificate", Hint: "Browsers and mounts refuse the server without a valid one. docs/operate/tls.md says how to get one. The log says more.", Over: "All names have a certificate that is valid and is not about to end, or the settings name none any more"}
	case ServerClock:
		return &notice.Server{Name: string(p), Title: "the clock of the machine", Hint: "Nothing fires twice, so that a schedule entry that has fired at a later time waits for that. If the clock was wrong before and is right now, flowdrive schedule trigger starts a job that cannot wait, and an entry that is stored under a new name is planned from now on. Look at the synchronisation of the clock.", Over: "The clock is as late again as it was"}
	case ServerContents:
		return &notice.Server{Name: string(p), Title: "stored contents", Hint: "flowdrive check says of what they are; a backup may have them. Look at the disk.", Over: "What was damaged can be read again, or is gone"}
	case ServerDirectory:
		return &notice.Server{Name: string(p), Title: "the directory that checks passwords", Hint: "Nobody new logs in by it. Who is logged in stays so, who has logged in with a mount in the last half hour too, and app passwords and the passwords of Flowdrive work. Look at ldap-url, the network, its certificate, ldap-bind-dn and ldap-base. The log says more; flowdrive doctor asks it.", Over: "The directory answers again, or is not in the settings any more"}
	case ServerDisk:
		return &notice.Server{Name: string(p), Title: "the disk", Hint: "Things can be read, and deleted if it is only full. Make room on the file system of the data folder, or mount it so that it can be written; the server goes on by itself then. One that an error of the disk has made read-only has to be checked first (fsck): stop the server for that.", Over: "The server can store again"}
	case ServerHeartbeat:
		return &notice.Server{Name: string(p), Title: "the server's signs of life", Hint: "The server works; look at the setting heartbeat-url and at the service that waits there. It tells you that the server is down, which is not true.", Over: "The service has taken a sign of life of the server, or the settings name none any more"}
	case ServerRoutes:
		return &notice.Server{Name: string(p), Title: "settings that routes need", Hint: "A case fails when it comes to such a step. Put what is missing back into the settings and restart the server, or store the routes without it. Status/late.txt has a line for each.", Over: "The settings have what the routes name"}
	case ServerSettings:
		return &notice.Server{Name: string(p), Title: "the settings", Hint: "Those from before still count, but the server would not start with these. Correct them, and have them read again by systemctl reload flowdrive or the signal HUP. flowdrive config check says all that is wrong with them.", Over: "The settings were read and can be used"}
	case ServerSignOn:
		return &notice.Server{Name: string(p), Title: "the provider of the single sign-on", Hint: "Nobody new logs in by it. Who is logged in stays so, and app passwords and the passwords of Flowdrive work. Look at oidc-issuer, oidc-client-id, oidc-client-secret, the network and the clocks of both. The log says more; flowdrive doctor asks it.", Over: "The provider answers again, or is not in the settings any more"}
	case ServerStore:
		return &notice.Server{Name: string(p), Title: "the store of contents", Hint: "Documents and attachments cannot be read or stored meanwhile; all else goes on, and no restart is needed. Look at the store and at the network. flowdrive doctor asks it.", Over: "The store answers again, or is not in the settings any more"}
	case ServerUnfinished:
		return &notice.Server{Name: string(p), Title: "changes of many cases", Hint: "It is tried again by itself, at least every ten minutes, and no restart is needed. Cases that have not followed a new name are read as if they had. Look at the disk and at the database; the log says what was in the way.", Over: "All cases have followed"}
	case ServerDatabase:
	}
	return &notice.Server{Name: string(p), Title: "the database", Hint: "flowdrive check says more; flowdrive restore makes a new data folder of a backup. Look at the disk.", Over: "The server was stopped in good order since, and has started again"}
}

// ServerState is what the program knows of the server, for Admin/Status.json.
type ServerState struct {
	Version string        `json:"version"`
	Started string        `json:"started"`
	Backup  *BackupStatus `json:"backup"` // nil: the server makes none
}

// BackupStatus is how the automatic backup stands.
type BackupStatus struct {
	LastGood *string `json:"lastGood"` // nil: there is none
	Next     string  `json:"next"`
	Failed   bool    `json:"failed"` // the last try
}

// serverRecord is what is wrong with a part of the server.
type serverRecord struct {
	Since time.Time `json:"since"`
	Text  string    `json:"text"`
	Again time.Time `json:"again"`          // when people are told again
	Sums  [][]byte  `json:"sums,omitempty"` // of damaged contents
}

// nextDay sets when people are told again to a time that is to come.
func (r *serverRecord) nextDay(now time.Time) {
	for !r.Again.After(now) {
		r.Again = r.Again.Add(toldAgainAfter)
	}
}

// mostDamaged is how many damaged contents are remembered.
const mostDamaged = 100

func serverKey(part ServerPart) string { return "server " + string(part) }

// Note notes that something is wrong with a part of the server or, with "", that it is
// over. Administrators are told once, and once when it is over; Again tells them daily.
func (e *Server) Note(ctx context.Context, part ServerPart, text string) error {
	if part == ServerDisk && !e.sandbox {
		return e.noteDisk(ctx, text)
	}
	return e.Store.Update(ctx, func(tx store.Tx) error {
		record, err := readServerRecord(tx, part)
		if err != nil {
			return err
		}
		switch {
		case text == "" && record == nil:
			return nil
		case text == "":
			return e.over(tx, part, record)
		}
		return e.wrong(tx, part, record, text, nil)
	})
}

// NoteDamage notes that a content was read that is not what was stored.
func (e *Server) NoteDamage(ctx context.Context, sum [32]byte, what string) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		record, err := readServerRecord(tx, ServerContents)
		if err != nil {
			return err
		}
		text := what
		if sum != [32]byte{} {
			text = fmt.Sprintf("the content %x is damaged: %s", sum, what)
		}
		return e.wrong(tx, ServerContents, record, text, sum[:])
	})
}

// wrong stores that something is wrong with a part, and tells people if that is new.
func (e *Server) wrong(tx store.Tx, part ServerPart, record *serverRecord, text string, sum []byte) error {
	now := e.Clock.Now()
	known := record != nil
	if !known {
		record = &serverRecord{Since: now, Again: againAt(now)}
	}
	record.Text = text
	if sum != nil && len(record.Sums) < mostDamaged && !slices.ContainsFunc(record.Sums, func(have []byte) bool { return string(have) == string(sum) }) {
		record.Sums = append(record.Sums, sum)
	}
	if err := putServerRecord(tx, part, record); err != nil || known {
		return err
	}
	return e.tell(tx, part, record, notice.KindFailure, false)
}

// over forgets what was wrong with a part, and tells people.
func (e *Server) over(tx store.Tx, part ServerPart, record *serverRecord) error {
	if err := tx.Write().Settings().Put(serverKey(part), ""); err != nil {
		return err
	}
	return e.tell(tx, part, record, notice.KindMended, false)
}

func (e *Server) tell(tx store.Tx, part ServerPart, record *serverRecord, kind notice.Kind, again bool) error {
	tx.AfterCommit(func() { e.logTrouble(part, record, kind) })
	if !e.decider.canNotify() {
		return nil
	}
	n := e.troubleOf(part, record, kind, again)
	return e.decider.tell(tx, n, e.decider.postLoose(tx, n.Time))
}

func (e *Server) logTrouble(part ServerPart, record *serverRecord, kind notice.Kind) {
	if kind == notice.KindMended {
		e.log.Info().Str("part", string(part)).Time("since", record.Since).Msg("server: what was wrong is over")
		return
	}
	e.log.Error().Str("part", string(part)).Time("since", record.Since).Str("what", record.Text).Msg("server: something is wrong; administrators are told")
}

// troubleOf returns the notice of something that is or was wrong with a part.
func (e *Server) troubleOf(part ServerPart, record *serverRecord, kind notice.Kind, again bool) *notice.Notice {
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(0, true)
	return &notice.Notice{
		Kind: kind, Time: e.Clock.Now(), Server: part.subject(), People: c.people,
		Trouble: &notice.Trouble{What: notice.WhatFailed, Text: record.Text, Since: record.Since, Again: again},
	}
}

// Again tells people again of what has been wrong for another day. Contents that can be
// read again, or are gone, are over.
func (e *Server) Again(ctx context.Context) error {
	if !e.sandbox {
		if err := e.againDisk(ctx); err != nil {
			return err
		}
	}
	return errors.Join(e.lookAtRoutes(ctx), e.againStored(ctx))
}

// againStored tells people again of what is stored to be wrong for another day.
func (e *Server) againStored(ctx context.Context) error {
	records := make([]*serverRecord, len(serverParts()))
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		for i, part := range serverParts() {
			if records[i], err = readServerRecord(r, part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, part := range serverParts() {
		if records[i] == nil || records[i].Again.After(e.Clock.Now()) || part == ServerDisk && !e.sandbox {
			continue
		}
		damaged := e.stillDamaged(records[i].Sums)
		err := e.Store.Update(ctx, func(tx store.Tx) error {
			record, err := readServerRecord(tx, part)
			if err != nil || record == nil {
				return err
			}
			if part == ServerContents && len(damaged) == 0 && len(record.Sums) == len(records[i].Sums) {
				return e.over(tx, part, record)
			}
			record.Sums = damaged
			record.nextDay(e.Clock.Now())
			if err := putServerRecord(tx, part, record); err != nil {
				return err
			}
			return e.tell(tx, part, record, notice.KindFailure, true)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stillDamaged returns those of the contents that are files and still cannot be read.
func (e *Server) stillDamaged(sums [][]byte) (damaged [][]byte) {
	for _, sum := range sums {
		if err := e.readContent([32]byte(sum)); err != nil && !errors.Is(err, contents.ErrGone) && !errors.Is(err, fs.ErrNotExist) {
			damaged = append(damaged, sum)
		}
	}
	return damaged
}

func (e *Server) readContent(sum [32]byte) (err error) {
	body, err := e.contents.Open(sum)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	_, err = io.Copy(io.Discard, body)
	return err
}

func readServerRecord(r store.Reader, part ServerPart) (*serverRecord, error) {
	text, err := r.Settings().Get(serverKey(part))
	if err != nil || text == "" {
		return nil, err
	}
	record := new(serverRecord)
	return record, errs.Wrap("read what is wrong with the "+string(part), json.Unmarshal([]byte(text), record))
}

func putServerRecord(tx store.Tx, part ServerPart, record *serverRecord) error {
	return tx.Write().Settings().Put(serverKey(part), string(document.Line(record)))
}

// serverForm is Admin/Status.json.
type serverForm struct {
	ServerState
	Away     *awayForm       `json:"away"` // nil: it was not, or for some minutes
	Troubles []serverTrouble `json:"troubles"`
	Secrets  []namedSecret   `json:"secrets"` // that something stored names
}

// awayForm is when the server was away last.
type awayForm struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Stopped bool   `json:"stopped"`
}

type serverTrouble struct {
	Part  string `json:"part"`
	Since string `json:"since"`
	Text  string `json:"text"`
}

// Status returns how the server is. Errors: errs.NotFound for users who are not
// administrators.
func (e *Server) Status(ctx context.Context, by identity.Principal) (*Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("file")
	}
	f := serverForm{Troubles: []serverTrouble{}}
	if e.state != nil {
		f.ServerState = e.state()
	}
	if a := e.away.Load(); a != nil {
		f.Away = &awayForm{a.From.UTC().Format(time.RFC3339), a.To.UTC().Format(time.RFC3339), a.Stopped}
	}
	err := e.Store.View(ctx, func(r store.Reader) error {
		for _, part := range serverParts() {
			record, err := e.serverRecord(r, part)
			if err != nil {
				return err
			}
			if record != nil {
				f.Troubles = append(f.Troubles, serverTrouble{string(part), record.Since.UTC().Format(time.RFC3339), record.Text})
			}
		}
		var err error
		f.Secrets, err = secretNames{e.base, map[string][]string{}}.all(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	form := document.Indent(document.Line(&f))
	return &Resource{Name: "Status", Form: form, FormETag: change.SourceETag(form), Modified: e.accounts.Table().Modified(), Own: true}, nil
}
