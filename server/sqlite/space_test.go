package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// commitUntil calls done after each commit of a byte, until it is true.
func commitUntil(t *testing.T, s *sqlite.Store, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for n := 0; !done(); n++ {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
		commit(t, s, &eventlog.Batch{Session: "kept", Summary: fmt.Append(nil, n)})
	}
}

// TestARemovedSessionIsOverwrittenAndItsSpaceGivenBack finds no byte of it in the files.
func TestARemovedSessionIsOverwrittenAndItsSpaceGivenBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, dbFile)
	secret := []byte("hunter2-hunter2")
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	withStore(t, dir, sqlite.Options{}.WithInterval(time.Millisecond), func(s *sqlite.Store) {
		commit(t, s, create("kept"), events("kept", 1, 100), create("gone"))
		text := append(bytes.Repeat(secret, 5000), '\n')
		for seq := uint64(1); seq <= 20; seq++ {
			commit(t, s, &eventlog.Batch{
				Session: "gone", Events: [][]byte{text}, First: seq, Last: seq, Snapshot: text, SnapSeq: seq,
				Summary: secret, Spec: text,
				Blobs:     []eventlog.Blob{{ID: fmt.Sprint(seq), Data: text}},
				Answers:   []eventlog.Answer{{Key: fmt.Sprint("k", seq), Body: secret}},
				Decisions: []eventlog.Decision{{Request: fmt.Sprint("r", seq), Data: secret}},
				Turns:     []eventlog.TurnRow{{Turn: string(secret), First: seq, Last: seq}},
				Folds:     []eventlog.Fold{{First: seq, Last: seq, Line: text}},
			})
		}
		commitUntil(t, s, "the database never grew", func() bool { return size() > 1<<20 })
		commit(t, s, &eventlog.Batch{Session: "gone", Delete: true})
		commitUntil(t, s, "the space was not given back", func() bool { return size() < 256<<10 })
	})
	for _, name := range []string{dbFile, walFile} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Contains(b, secret) {
			t.Errorf("%s holds text of the removed session", name)
		}
	}
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		if got := read(t, s, "kept", 0, 100); !bytes.Equal(got, lines(1, 100)) {
			t.Errorf("%d bytes of the other session", len(got))
		}
	})
}

// TestASmallDatabaseOfAnEarlierReleaseGivesSpaceBack opens a database without automatic vacuum.
func TestASmallDatabaseOfAnEarlierReleaseGivesSpaceBack(t *testing.T) {
	dir := t.TempDir()
	writeAllKinds(t, dir)
	withStatements(t, dir, func(run func(sql string) int) {
		run("PRAGMA journal_mode = DELETE")
		run("PRAGMA auto_vacuum = NONE")
		run("VACUUM")
	})
	mode := func() (mode int) {
		withStatements(t, dir, func(run func(sql string) int) { mode = run("PRAGMA auto_vacuum") })
		return mode
	}
	if mode() != 0 {
		t.Fatal("the database was not changed")
	}
	var before, after map[string]string
	for _, result := range []*map[string]string{&before, &after} {
		withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) { *result = readAll(t, s) })
	}
	if mode() != 2 || fmt.Sprint(before) != fmt.Sprint(after) || sessionEpochs(t, dir) != "e-a" {
		t.Errorf("mode %d", mode())
	}
}

// withStatements calls do with a function that runs a statement on a closed store and returns the
// first column of its last row.
func withStatements(t *testing.T, dir string, do func(run func(sql string) int)) {
	t.Helper()
	conn, err := sqlite3.OpenConn(filepath.Join(dir, dbFile), sqlite3.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	do(func(sql string) (n int) {
		if err != nil {
			return 0
		}
		err = sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{
			ResultFunc: func(q *sqlite3.Stmt) error {
				n = q.ColumnInt(0)
				return nil
			},
		})
		return n
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}
