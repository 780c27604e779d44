package main

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sqlite DIR SESSIONS EVENTS")
		os.Exit(2)
	}
	sessions, err1 := strconv.Atoi(os.Args[2])
	events, err2 := strconv.Atoi(os.Args[3])
	err := errors.Join(err1, err2)
	if err == nil {
		err = run(os.Args[1], sessions, events)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1)
	}
}

// run appends events to each session of a new database and prints the seconds that took.
func run(dir string, sessions, events int) (err error) {
	s, err := open(filepath.Join(dir, "events.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	lines := encodeLines(transaction)
	began := time.Now()
	if err := s.appendAll(sessions, events, lines); err != nil {
		return err
	}
	fmt.Println(time.Since(began).Seconds())
	return nil
}

// A store is a database with one row for each event. It uses the connection of the driver, without
// database/sql, which adds its own cost to each row.
type store struct {
	conn                  driver.Conn
	begin, commit, insert driver.Stmt
}

// open makes a database with the settings of agentctl: a write-ahead log, and no sync at a commit.
func open(path string) (*store, error) {
	conn, err := new(sqlite3.SQLiteDriver).Open("file:" + path + "?_journal_mode=WAL&_synchronous=NORMAL")
	if err != nil {
		return nil, err
	}
	s := &store{conn: conn}
	table, err := conn.Prepare("CREATE TABLE event (key INTEGER PRIMARY KEY, line BLOB NOT NULL)")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	err = errors.Join(exec(table), table.Close())
	for _, p := range []struct {
		to   *driver.Stmt
		text string
	}{
		{&s.begin, "BEGIN IMMEDIATE"}, {&s.commit, "COMMIT"}, {&s.insert, "INSERT INTO event (key, line) VALUES (?, ?)"},
	} {
		if err == nil {
			*p.to, err = conn.Prepare(p.text)
		}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

func (s *store) close() error {
	return errors.Join(s.begin.Close(), s.commit.Close(), s.insert.Close(), s.conn.Close())
}

// transaction is the number of events in a transaction.
const transaction = 1000

// appendAll appends events to each session, in turns, as sessions that run at the same time do. The
// lines are encoded before, so that the time is that of the store alone.
func (s *store) appendAll(sessions, events int, lines [][]byte) error {
	for i := range sessions * events {
		at := i % transaction
		if at == 0 {
			if err := exec(s.begin); err != nil {
				return err
			}
		}
		session, seq := i%sessions, i/sessions+1
		if err := exec(s.insert, int64(session)<<40|int64(seq), lines[at]); err != nil {
			return err
		}
		if at == transaction-1 || i == sessions*events-1 {
			if err := exec(s.commit); err != nil {
				return err
			}
		}
	}
	return nil
}

func exec(s driver.Stmt, args ...driver.Value) error {
	_, err := s.Exec(args) //nolint:staticcheck // ExecContext needs names and copies the arguments
	return err
}

// encodeLines returns lines of about 220 bytes, as agentctl encodes its events.
func encodeLines(n int) [][]byte {
	filler := strings.Repeat("token ", 9)
	lines := make([][]byte, n)
	for i := range lines {
		now := time.Now().UTC()
		lines[i] = fmt.Appendf(nil, `{"session":"s_01kf2j3h4k5m6n7p","seq":%d,"turn":"t_01kf2j3h4k5m6n7p","time":%q,`+
			`"type":"text.delta","data":{"part":"p1","text":"%08d %d %s"}}`+"\n",
			100_000+i, now.Format("2006-01-02T15:04:05.000Z"), i, now.UnixNano(), filler)
	}
	return lines
}
