package sqlite

import (
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"agentctl/server/eventlog"
)

// A statement is one execution of a prepared statement: bind parameters in order, call next or run,
// then reset. next and run return the first error. The prepared statement lives as long as its
// connection.
type statement struct {
	stmt  *sqlite.Stmt
	param int
	err   error
}

func prepare(conn *sqlite.Conn, query string) *statement {
	stmt, err := conn.Prepare(query)
	return &statement{stmt: stmt, err: classify(err)}
}

func (s *statement) int(v int64) *statement {
	if s.err == nil {
		s.param++
		s.stmt.BindInt64(s.param, v)
	}
	return s
}

func (s *statement) bool(v bool) *statement {
	if v {
		return s.int(1)
	}
	return s.int(0)
}

func (s *statement) time(t time.Time) *statement { return s.int(nanoseconds(t)) }

func (s *statement) text(v string) *statement {
	if s.err == nil {
		s.param++
		s.stmt.BindText(s.param, v)
	}
	return s
}

func (s *statement) blob(v []byte) *statement {
	if s.err == nil {
		s.param++
		s.stmt.BindBytes(s.param, v)
	}
	return s
}

// next advances to the next row and reports whether there is one.
func (s *statement) next() (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	row, err := s.stmt.Step()
	return row, classify(err)
}

// reset ends the execution. It ignores the error, which next has already returned.
func (s *statement) reset() {
	if s.stmt != nil {
		_ = s.stmt.Reset()
	}
}

// run executes a statement and ignores its rows.
func (s *statement) run() error { return s.each(func(*statement) error { return nil }) }

// each executes a statement and calls read for each row, until read returns an error.
func (s *statement) each(read func(*statement) error) error {
	defer s.reset()
	for {
		if row, err := s.next(); err != nil || !row {
			return err
		}
		if err := read(s); err != nil {
			return err
		}
	}
}

// one executes a statement and calls read for its row. Without a row it returns eventlog.ErrNotFound.
func (s *statement) one(read func(*statement) error) error {
	defer s.reset()
	if row, err := s.next(); err != nil {
		return err
	} else if !row {
		return eventlog.ErrNotFound
	}
	return read(s)
}

// intAt, textAt, timeAt, sumAt and blobAt read a column of the current row. blobAt returns a copy,
// nil for an empty value.
func (s *statement) intAt(col int) int64      { return s.stmt.ColumnInt64(col) }
func (s *statement) textAt(col int) string    { return s.stmt.ColumnText(col) }
func (s *statement) timeAt(col int) time.Time { return instant(s.stmt.ColumnInt64(col)) }
func (s *statement) sumAt(col int) sum        { return sum(s.stmt.ColumnInt64(col)) }

// verify returns eventlog.ErrCorrupt unless a column has the checksum of the row.
func (s *statement) verify(col int, want sum) error {
	if s.sumAt(col) != want {
		return eventlog.ErrCorrupt
	}
	return nil
}

func (s *statement) blobAt(col int) []byte {
	n := s.stmt.ColumnLen(col)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	s.stmt.ColumnBytes(col, b)
	return b
}

// blobTo reads a column of the current row to the memory of b, or to new memory if that is too
// short.
func (s *statement) blobTo(col int, b []byte) []byte {
	n := s.stmt.ColumnLen(col)
	b = slices.Grow(b[:0], n)[:n]
	s.stmt.ColumnBytes(col, b)
	return b
}

// nanoseconds and instant convert a time to its column value and back. The zero time is 0.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
