package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"flowdrive/store/relational"
)

// conn is a connection as store/relational uses one: package driver's interfaces over
// the protocol. It is for one goroutine at a time.
//
// What only opens or ends a part of a transaction is not sent by itself: it goes with the
// next statement, so that it costs no round trip. Statements are prepared with the types
// of the values that they are given, because PostgreSQL would otherwise guess those that
// are compared with a literal.
type conn struct {
	pg      *pgconn.PgConn
	began   string    // what follows the begin of a transaction: the look at the epoch
	looked  string    // the same of one that only reads
	bounds  string    // what comes before either; "" if the session has it
	pooled  bool      // each transaction may reach another session, in which nothing is prepared
	pending []pending // is sent before the next statement
	names   int       // of statements prepared so far
	lost    func(error)
}

// pending is a statement that waits: one of the driver's own, which only opens or ends a part of a
// transaction, or one that was queued.
type pending struct {
	query   string
	of      *stmt // nil: the driver's own
	variant *variant
	values  [][]byte
	formats []int16
	types   []uint32
}

var (
	_ relational.Pipeline     = (*conn)(nil)
	_ driver.Conn             = (*conn)(nil)
	_ driver.StmtExecContext  = (*stmt)(nil)
	_ driver.StmtQueryContext = (*stmt)(nil)
)

// Prepare implements driver.Conn. The statement is prepared when its values are known.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return &stmt{c: c, query: query, control: c.isControl(query), inputs: inputs(query)}, nil
}

// isControl reports whether a statement only opens or ends a part of a transaction.
func (c *conn) isControl(query string) bool {
	for _, prefix := range []string{beginRead, beginWrite, "SAVEPOINT ", "RELEASE ", "ROLLBACK TO "} {
		if strings.HasPrefix(query, prefix) {
			return true
		}
	}
	return false
}

// inputs returns how many values a statement takes.
func inputs(query string) (most int) {
	for i := 0; i < len(query); i++ {
		if query[i] != '$' {
			continue
		}
		end := i + 1
		for end < len(query) && query[end] >= '0' && query[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(query[i+1 : end]); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// Begin implements driver.Conn.
func (*conn) Begin() (driver.Tx, error) {
	return nil, errors.New("transactions are begun by statements")
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return c.pg.Close(ctx)
}

// stmt is a statement with what was prepared for the types of values that it was given.
type stmt struct {
	c        *conn
	query    string
	control  bool
	inputs   int
	variants []*variant
}

// variant is a statement as it was prepared for some types of values.
type variant struct {
	types   []uint32 // of all values, as the server understands the statement
	name    string
	fields  []pgconn.FieldDescription
	formats []int16 // of the results
	columns []string
}

// NumInput implements driver.Stmt.
func (s *stmt) NumInput() int { return s.inputs }

// Close implements driver.Stmt. What was prepared goes with the connection.
func (*stmt) Close() error { return nil }

// Exec implements driver.Stmt.
func (*stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query implements driver.Stmt.
func (*stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.control {
		s.c.queue(s.query)
		if strings.HasPrefix(s.query, "ROLLBACK TO ") { // nothing can be prepared before
			return driver.RowsAffected(0), s.c.Flush()
		}
		return driver.RowsAffected(0), nil
	}
	_, result, err := s.run(args)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(result.CommandTag.RowsAffected()), nil
}

// QueryContext implements driver.StmtQueryContext. All rows are read at once, so that
// other statements may run while they are looked at.
func (s *stmt) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	v, result, err := s.run(args)
	if err != nil {
		return nil, err
	}
	return &rows{v, result.Rows}, nil
}

// queue has a statement sent before the next one.
func (c *conn) queue(query string) {
	switch query {
	case beginWrite:
		c.begin(query, c.began)
	case beginRead:
		c.begin(query, c.looked)
	default:
		c.pending = append(c.pending, pending{query: query})
	}
}

func (c *conn) begin(query, look string) {
	c.pending = append(c.pending[:0], pending{query: query})
	if c.bounds != "" {
		c.pending = append(c.pending, pending{query: c.bounds})
	}
	c.pending = append(c.pending, pending{query: look})
}

// Queue implements relational.Pipeline.
func (c *conn) Queue(of driver.Stmt, args []driver.NamedValue) error {
	s, ok := of.(*stmt)
	if !ok {
		return fmt.Errorf("a statement is a %T", of)
	}
	p, err := s.bind(args)
	if err == nil {
		c.pending = append(c.pending, p)
	}
	return err
}

// bind returns the statement with its values, as it is sent.
func (s *stmt) bind(args []driver.NamedValue) (p pending, err error) {
	p = pending{query: s.query, of: s}
	p.values, p.formats, p.types, err = encode(args)
	return p, err
}

// add adds the statement to what is sent.
func (p *pending) add(to *pgconn.Batch) {
	if p.variant == nil {
		to.ExecParams(p.query, p.values, p.types, p.formats, nil)
		return
	}
	to.ExecPrepared(p.variant.name, p.values, p.formats, p.variant.formats)
}

// Flush implements relational.Pipeline.
func (c *conn) Flush() error {
	if len(c.pending) == 0 {
		return nil
	}
	_, err := c.send(c.pending, len(c.pending))
	return err
}

// Ask implements relational.Pipeline.
func (c *conn) Ask(questions []relational.Question) ([]driver.Rows, error) {
	asked := make([]pending, len(questions))
	for i, q := range questions {
		s, ok := q.Stmt.(*stmt)
		if !ok {
			return nil, fmt.Errorf("a statement is a %T", q.Stmt)
		}
		var err error
		if asked[i], err = s.bind(q.Args); err != nil {
			return nil, err
		}
	}
	waited := len(c.pending)
	results, err := c.send(append(c.pending, asked...), waited)
	if err != nil {
		return nil, err
	}
	found := make([]driver.Rows, len(questions))
	for i, result := range results[len(results)-len(questions):] {
		found[i] = &rows{asked[i].describe(result), result.Rows}
	}
	return found, nil
}

// send sends statements together, and returns their results. The first of them are those that
// waited.
func (c *conn) send(all []pending, waited int) ([]*pgconn.Result, error) {
	if err := c.prepare(all); err != nil {
		return nil, c.failed(err)
	}
	var batch pgconn.Batch
	for i := range all {
		all[i].add(&batch)
	}
	results, err := c.pg.ExecBatch(context.Background(), &batch).ReadAll()
	if err != nil {
		err = earlier(all[:waited], results, c.failed(err))
	}
	clear(all)
	c.pending = c.pending[:0]
	if err != nil {
		return nil, err
	}
	return results, nil
}

// earlier finds out whether one of the statements that waited has failed, by the results of those
// before it.
func earlier(waited []pending, results []*pgconn.Result, err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
		return err
	}
	ran := 0
	for ran < len(results) && results[ran].Err == nil {
		ran++
	}
	if ran < len(waited) && waited[ran].of != nil {
		return &relational.Earlier{Err: err}
	}
	return err
}

// run sends the statement, after what waits, and returns its result.
func (s *stmt) run(args []driver.NamedValue) (*variant, *pgconn.Result, error) {
	p, err := s.bind(args)
	if err != nil {
		return nil, nil, err
	}
	if s.query == rollback { // what was queued would be undone, and might fail before
		s.c.pending = slices.DeleteFunc(s.c.pending, func(p pending) bool { return p.of != nil })
	}
	waited := len(s.c.pending)
	results, err := s.c.send(append(s.c.pending, p), waited)
	if err != nil {
		return nil, nil, err
	}
	result := results[len(results)-1]
	if s.query == commit && result.CommandTag.String() != commit { // the transaction had failed
		return nil, nil, errors.New("the database has rolled back what was to be committed")
	}
	return p.describe(result), result, nil
}

// describe returns how the rows of a result of the statement are read: as it was prepared, or
// as the result tells.
func (p *pending) describe(result *pgconn.Result) *variant {
	if v := p.of.variant(p.types); v != nil {
		return v
	}
	v := &variant{fields: result.FieldDescriptions}
	for _, f := range v.fields {
		v.columns = append(v.columns, f.Name)
		v.formats = append(v.formats, f.Format)
	}
	return v
}

// variant returns the statement as it is prepared for values of the types, nil if it is not.
func (s *stmt) variant(types []uint32) *variant {
next:
	for _, v := range s.variants {
		for i := range types {
			if types[i] != v.types[i] && types[i] != 0 { // NULL is of any type
				continue next
			}
		}
		return v
	}
	return nil
}

// prepare prepares the statements that are to be sent and are not prepared for the types of their
// values, in one round trip.
func (c *conn) prepare(all []pending) error {
	if c.pooled {
		return nil
	}
	var fresh []*pending
	for i := range all {
		p := &all[i]
		if p.of == nil {
			continue
		}
		if p.variant = p.of.variant(p.types); p.variant != nil {
			continue
		}
		c.names++
		p.variant = &variant{types: p.types, name: "s" + strconv.Itoa(c.names)}
		p.of.variants = append(p.of.variants, p.variant)
		fresh = append(fresh, p)
	}
	if len(fresh) == 0 {
		return nil
	}
	err := c.prepareAll(fresh)
	if err != nil {
		for _, p := range fresh {
			p.of.variants = slices.DeleteFunc(p.of.variants, func(v *variant) bool { return v == p.variant })
		}
	}
	return err
}

func (c *conn) prepareAll(fresh []*pending) error {
	pipeline := c.pg.StartPipeline(context.Background())
	for _, p := range fresh {
		pipeline.SendPrepare(p.variant.name, p.query, p.types)
	}
	err := pipeline.Sync()
	for i := 0; i < len(fresh) && err == nil; i++ {
		var result any
		if result, err = pipeline.GetResults(); err != nil {
			break
		}
		description, ok := result.(*pgconn.StatementDescription)
		if !ok {
			err = fmt.Errorf("a statement that is prepared yields a %T", result)
			break
		}
		v := fresh[i].variant
		v.types, v.fields = description.ParamOIDs, description.Fields
		for _, f := range description.Fields {
			v.columns = append(v.columns, f.Name)
			v.formats = append(v.formats, formatOf(f.DataTypeOID))
		}
	}
	if closeErr := pipeline.Close(); err == nil {
		err = closeErr
	}
	return err
}

// failed looks whether an error means that the database is lost to this node.
func (c *conn) failed(err error) error {
	if c.pg.IsClosed() || isSuperseded(err) {
		c.lost(err)
	}
	return err
}

// encode returns values as they are sent: numbers and bytes in binary, texts as they
// are. A text can hold neither NUL nor what is not UTF-8; such are replaced.
func encode(args []driver.NamedValue) (values [][]byte, formats []int16, types []uint32, err error) {
	values, formats, types = make([][]byte, len(args)), make([]int16, len(args)), make([]uint32, len(args))
	for i, arg := range args {
		switch value := arg.Value.(type) {
		case nil:
		case int64:
			values[i], formats[i], types[i] = binary.BigEndian.AppendUint64(nil, uint64(value)), pgtype.BinaryFormatCode, pgtype.Int8OID
		case bool:
			n := uint64(0)
			if value {
				n = 1
			}
			values[i], formats[i], types[i] = binary.BigEndian.AppendUint64(nil, n), pgtype.BinaryFormatCode, pgtype.Int8OID
		case string:
			values[i], types[i] = []byte(storable(value)), pgtype.TextOID
		case []byte:
			if value != nil {
				values[i] = value
			}
			formats[i], types[i] = pgtype.BinaryFormatCode, pgtype.ByteaOID
		default:
			return nil, nil, nil, fmt.Errorf("argument %d is a %T", i+1, value)
		}
	}
	return values, formats, types, nil
}

// storable returns a text that PostgreSQL can store.
func storable(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}

// formatOf returns in which format values of a type are asked for.
func formatOf(oid uint32) int16 {
	switch oid {
	case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID, pgtype.BoolOID, pgtype.ByteaOID:
		return pgtype.BinaryFormatCode
	}
	return pgtype.TextFormatCode
}

// rows are the rows of a result.
type rows struct {
	v    *variant
	rows [][][]byte
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string { return r.v.columns }

// Close implements driver.Rows.
func (*rows) Close() error { return nil }

// Next implements driver.Rows.
func (r *rows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	row := r.rows[0]
	r.rows = r.rows[1:]
	for i, raw := range row {
		value, err := decode(r.v.fields[i].DataTypeOID, r.v.formats[i], raw)
		if err != nil {
			return fmt.Errorf("column %s: %w", r.v.columns[i], err)
		}
		to[i] = value
	}
	return nil
}

func decode(oid uint32, format int16, raw []byte) (driver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	if format == pgtype.TextFormatCode {
		return decodeText(oid, string(raw))
	}
	switch oid {
	case pgtype.Int8OID:
		return int64(binary.BigEndian.Uint64(raw)), nil
	case pgtype.Int4OID:
		return int64(int32(binary.BigEndian.Uint32(raw))), nil
	case pgtype.Int2OID:
		return int64(int16(binary.BigEndian.Uint16(raw))), nil
	case pgtype.BoolOID:
		return int64(raw[0]), nil
	case pgtype.ByteaOID:
		return raw, nil
	}
	return string(raw), nil
}

func decodeText(oid uint32, text string) (driver.Value, error) {
	switch oid {
	case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID, pgtype.NumericOID: // a sum is NUMERIC
		return strconv.ParseInt(text, 10, 64)
	case pgtype.BoolOID:
		if text == "t" {
			return int64(1), nil
		}
		return int64(0), nil
	case pgtype.ByteaOID:
		digits, ok := strings.CutPrefix(text, `\x`)
		if !ok {
			return nil, errors.New("bytes are not in hexadecimal digits: bytea_output is set otherwise")
		}
		return hex.DecodeString(digits)
	}
	return text, nil
}
