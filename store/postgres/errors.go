package postgres

import (
	"cmp"
	"crypto/tls"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"flowdrive/internal/errs"
	"flowdrive/store/relational"
)

const (
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`
	commit     = `COMMIT`
	rollback   = `ROLLBACK`
)

// superseded is the SQLSTATE by which the functions of the schema say that another node
// is active.
const superseded = "FD001"

// dialect is what PostgreSQL does in its own way.
//
// A transaction that writes is READ COMMITTED: its first statement locks the one row of
// tenure, so that such transactions come one after the other, and each reads what the one
// before has committed. A transaction that reads sees one snapshot.
func dialect() *relational.Dialect {
	return &relational.Dialect{
		BeginRead: beginRead, EndRead: rollback, BeginWrite: beginWrite, Commit: commit, Rollback: rollback,
		Judge: judge, Text: relational.PostgreSQLText(), Returning: true, FailsWhole: true, EndsBeside: true,
	}
}

// judge returns what an error of the server or of the connection means
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func judge(err error) relational.FaultKind {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return relational.FaultCut
	}
	switch e.Code {
	case "23505":
		return relational.FaultUnique
	case "23503":
		return relational.FaultReferred
	case "53100":
		return relational.FaultFull
	case "54000":
		return relational.FaultTooLong
	case superseded, "25006", "40001", "40P01", "55P03", "57014", "25P03", "42501":
		return relational.FaultUnavailable
	}
	switch e.Code[:2] {
	case "08", "57": // the server ends, or ends the session
		return relational.FaultCut
	case "53", "58":
		return relational.FaultUnavailable
	}
	return relational.FaultOther
}

func isSuperseded(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == superseded || IsReadOnly(err)
}

// failure translates an error that came up in op, as relational.Failure does.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	return relational.Failure(op, dialect().Judged(err))
}

// refusal is a reason not to use a database that no waiting mends: it is one sentence,
// without the password.
func refusal(format string, args ...any) error { return errs.New(errs.Unavailable, format, args...) }

// IsRefusal reports whether no waiting mends why a database could not be opened: the
// address, the user, the password or the database are wrong, or its schema is.
func IsRefusal(err error) bool { return errors.Is(err, errRefused) }

var errRefused = errors.New("the database cannot be used")

// refused makes an error one that no waiting mends.
type refused struct{ error }

// Unwrap returns both what it is and that it is a refusal.
func (r refused) Unwrap() []error { return []error{r.error, errRefused} }

// judgeConnect turns an error of a connection that could not be made into a refusal if it
// is one.
func (o Options) judgeConnect(to *pgconn.Config, err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if wrong, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			return refused{refusal("The certificate of the database at %s is not what sslmode asks for: %v. Check the host and sslrootcert in --db.", place(to), wrong.Err)}
		}
		if strings.Contains(err.Error(), "server refused TLS connection") {
			return refused{refusal("The database at %s does not speak TLS; add sslmode=disable to --db if the way to it is safe.", place(to))}
		}
		return away(err)
	}
	switch e.Code {
	case "28P01", "28000":
		return refused{refusal("The database at %s refuses the log-in of the user %q: %s. Check the user, and the password in %s, PGPASSWORD or .pgpass.", place(to), to.User, e.Message, o.passwordFlag())}
	case "08P01": // PgBouncer
		if strings.Contains(e.Message, "startup parameter") {
			return refused{refusal("What answers at %s passes no settings of a session on (%s). If it is PgBouncer, add %s=exec to --db, and give the address of the database itself with --db-direct.", place(to), e.Message, execMode)}
		}
	case "3D000":
		name := cmp.Or(to.Database, to.User)
		return refused{refusal("There is no database %q at %s; create it with: createdb %s --encoding UTF8 --template template0", name, place(to), name)}
	case "42704", "22023", "55P02": // a parameter that the server does not have, or that cannot have the value
		return refused{refusal("The database at %s refuses a parameter of the address: %s. Check what follows the question mark.", place(to), e.Message)}
	case "42501":
		return refused{refusal("The user %q may not use the database %q at %s: %s.", to.User, to.Database, place(to), e.Message)}
	}
	return away(err)
}

// passwordFlag is the flag by which people name the file with the password.
func (o Options) passwordFlag() string { return cmp.Or(o.Flag, "--db") + "-password-file" }

const oldestServer = 14

// suits returns a refusal if a server is too old for this program, or its database cannot hold
// all texts. What another kind of server does not tell is not judged.
func suits(pg *pgconn.PgConn, to *pgconn.Config) error {
	release := pg.ParameterStatus("server_version")
	major, _, _ := strings.Cut(release, ".")
	if n, err := strconv.Atoi(major); err == nil && n < oldestServer {
		return refused{refusal("The database at %s is PostgreSQL %s; version %d or newer is needed.", place(to), release, oldestServer)}
	}
	// PgBouncer may tell another database's.
	if encoding := pg.ParameterStatus("server_encoding"); encoding != "" && encoding != "UTF8" {
		name := cmp.Or(to.Database, to.User)
		return refused{refusal("The database %q at %s has the encoding %s, which cannot hold all texts; create it with: createdb %s --encoding UTF8 --template template0", name, place(to), encoding, name)}
	}
	return nil
}

// denied turns an error of a statement into a refusal if the user may not do what a node needs.
func denied(to *pgconn.Config, err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	if e.Code != "42501" {
		return err
	}
	name := cmp.Or(to.Database, to.User)
	return refused{refusal("The user %q may not make and use tables in the database %q: %s. Let it own the database (ALTER DATABASE %s OWNER TO %s), and its tables if there are any.", to.User, name, e.Message, name, to.User)}
}

// away returns that a connection could not be made at this moment.
func away(err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: detailLost, Err: errs.Wrap("connect to the database", err)}
}
