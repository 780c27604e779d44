package sqlite_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

func TestStoredEventsAreSmallerThanTheirLines(t *testing.T) {
	dir := t.TempDir()
	data := eventLines(2000)
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"), &eventlog.Batch{Session: "a", Events: [][]byte{data}, First: 1, Last: 2000})
		if got := read(t, s, "a", 0, 2000); !bytes.Equal(got, data) {
			t.Error("events differ from those that were committed")
		}
	})
	stored := queryInt(t, dir, "SELECT sum(length(data)) FROM chunk")
	if most := len(data) / 2; stored > most {
		t.Errorf("%d bytes are stored in %d, want at most %d", len(data), stored, most)
	}
}

// TestAnyBytesAreReadAsTheyWereCommitted commits lines that begin like compressed data, lines that
// do not shrink, and short ones.
func TestAnyBytesAreReadAsTheyWereCommitted(t *testing.T) {
	random := make([]byte, 200<<10)
	for i, state := 0, uint32(1); i < len(random); i++ {
		state = state*1664525 + 1013904223
		if random[i] = byte(state >> 24); random[i] == '\n' {
			random[i] = 0
		}
	}
	all := [][]byte{
		{0, '\n'},
		{0, 1, 2, '\n'},
		append(bytes.Repeat([]byte{0}, 500), '\n'),
		{'\n'},
		append(random, '\n'),
		append([]byte{0}, append(random, '\n')...),
	}
	withStore(t, t.TempDir(), sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"))
		for i, line := range all {
			seq := uint64(i + 1)
			commit(t, s, &eventlog.Batch{
				Session: "a", Events: [][]byte{line}, First: seq, Last: seq, Snapshot: line, SnapSeq: seq,
				Folds: []eventlog.Fold{{First: seq, Last: seq, Line: line}},
			})
			for _, folded := range []bool{false, true} {
				got, _, err := s.Read(context.Background(), "a", seq-1, seq, folded, 1<<20, []byte("before"))
				if want := append([]byte("before"), line...); err != nil || !bytes.Equal(got, want) {
					t.Errorf("line %d, folded %t: %d bytes, %v; want %d", i, folded, len(got), err, len(want))
				}
			}
			if r, err := s.Session(context.Background(), "a"); err != nil || !bytes.Equal(r.Snapshot, line) {
				t.Errorf("snapshot %d: %d bytes, %v; want %d", i, len(r.Snapshot), err, len(line))
			}
		}
		want := bytes.Join(all, nil)
		got, _, err := s.Read(context.Background(), "a", 0, 6, false, 2<<20, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("all lines: %d bytes, %v; want %d", len(got), err, len(want))
		}
	})
}

// TestADatabaseOfTheFirstSchemaIsReadAsBefore opens testdata/schema1.db.gz, the output of
// writeKinds before rows were compressed.
func TestADatabaseOfTheFirstSchemaIsReadAsBefore(t *testing.T) {
	fresh, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "agentctl.db")
	unpack(t, "testdata/schema1.db.gz", path)
	if report, damages := checkFile(t, path, false); len(damages) > 0 || report.Events != 1200 {
		t.Errorf("check: %+v, %q", report, damages)
	}
	var want map[string]string
	writeKinds(t, fresh, nil)
	withStore(t, fresh, sqlite.Options{}, func(s *sqlite.Store) { want = readAll(t, s) })
	var log bytes.Buffer
	same := func(what string) {
		t.Helper()
		withStore(t, dir, sqlite.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, func(s *sqlite.Store) {
			if got := readAll(t, s); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: read %v", what, got)
			}
		})
	}
	same("first schema")
	same("upgraded")
	if n := strings.Count(log.String(), "upgrade the database"); n != 1 || !strings.Contains(log.String(), "schema=1 to=3") {
		t.Errorf("the log names %d upgrades:\n%s", n, &log)
	}
	repairDir(t, dir)
	same("repaired")
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, events("a", 1201, 1300))
		if got := read(t, s, "a", 0, 1300); !bytes.Equal(got, lines(1, 1300)) {
			t.Errorf("old and new events: %d bytes", len(got))
		}
	})
	if version := queryInt(t, dir, "PRAGMA user_version"); version != 3 {
		t.Errorf("schema version %d, want 3, which earlier releases refuse", version)
	}
}

func unpack(t testing.TB, packed, path string) {
	t.Helper()
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func queryInt(t testing.TB, dir, query string) int {
	t.Helper()
	conn, err := sqlite3.OpenConn(filepath.Join(dir, "agentctl.db"), sqlite3.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	n, err := sqlitex.ResultInt(conn.Prep(query))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
