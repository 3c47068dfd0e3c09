package transfer

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math/bits"
	"strings"
)

// table is a table with the columns that are stored, by name.
type table struct {
	name    string
	columns []string
}

func (t table) equal(other table) bool {
	return t.name == other.name && strings.Join(t.columns, ",") == strings.Join(other.columns, ",")
}

// quoted returns the columns as a statement has them.
func (t table) quoted() string { return `"` + strings.Join(t.columns, `", "`) + `"` }

// reader reads the rows of a table.
type reader struct {
	*sql.Rows
	columns int
}

func (d *Database) read(ctx context.Context, t table) (*reader, error) {
	rows, err := d.conn.QueryContext(ctx, `SELECT `+t.quoted()+` FROM "`+t.name+`"`)
	if err != nil {
		return nil, err
	}
	return &reader{rows, len(t.columns)}, rows.Err()
}

// next returns the values of the next row, nil after the last one: int64, string, []byte
// or nil.
func (r *reader) next() ([]any, error) {
	if !r.Next() {
		return nil, r.Err()
	}
	values, to := make([]any, r.columns), make([]any, r.columns)
	for i := range values {
		to[i] = &values[i]
	}
	return values, r.Scan(to...)
}

// digest returns a digest of the rows of a table in any order, and how many there are: the
// sum of the SHA-256 of each, as numbers.
func (d *Database) digest(ctx context.Context, t table) (sum [32]byte, n int64, err error) {
	rows, err := d.read(ctx, t)
	if err != nil {
		return sum, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	h := sha256.New()
	for {
		values, err := rows.next()
		if err != nil || values == nil {
			return sum, n, err
		}
		h.Reset()
		for _, v := range values {
			if err := hashValue(h, v); err != nil {
				return sum, n, err
			}
		}
		add(&sum, [32]byte(h.Sum(nil)))
		n++
	}
}

// hashValue hashes a value so that no two different rows are hashed alike.
func hashValue(h hash.Hash, v any) error {
	var kind byte
	var data []byte
	switch v := v.(type) {
	case nil:
		kind = 'n'
	case int64:
		kind, data = 'i', binary.BigEndian.AppendUint64(nil, uint64(v)) //nolint:gosec // all bits are kept
	case string:
		kind, data = 't', []byte(storable(v))
	case []byte:
		kind, data = 'b', v
	default:
		return fmt.Errorf("a value is a %T, which no column has", v)
	}
	_, _ = h.Write(append(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(data))), data...)) // a hash never fails
	return nil
}

// storable returns a text as both kinds of databases store it: PostgreSQL takes no NUL and
// nothing that is not valid UTF-8 (see store/postgres/conn.go, storable).
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// add adds a number of 256 bits.
func add(sum *[32]byte, other [32]byte) {
	var carry uint64
	for i := 24; i >= 0; i -= 8 {
		var n uint64
		n, carry = bits.Add64(binary.BigEndian.Uint64(sum[i:]), binary.BigEndian.Uint64(other[i:]), carry)
		binary.BigEndian.PutUint64(sum[i:], n)
	}
}
