package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

func skipWhereOpenFilesStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove open files")
	}
}

// TestAStoreWhoseFilesAreGoneTakesNoCommit removes, moves and replaces files of an open store. A
// commit would succeed, and the next Open would not find it.
func TestAStoreWhoseFilesAreGoneTakesNoCommit(t *testing.T) {
	skipWhereOpenFilesStay(t)
	for _, c := range []struct {
		name string
		do   func(dir string) error
		kept bool // the database has the earlier commits
	}{
		{"directory", os.RemoveAll, false},
		{"moved directory", func(dir string) error { return os.Rename(dir, dir+"-2") }, false},
		{"database", func(dir string) error { return os.Remove(filepath.Join(dir, dbFile)) }, false},
		{"write-ahead log", func(dir string) error { return os.Remove(filepath.Join(dir, walFile)) }, true},
		{"all but the database", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, walFile)), os.Remove(filepath.Join(dir, dbFile+"-shm")))
		}, true},
		{"replaced database", func(dir string) error {
			path := filepath.Join(dir, "other")
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Rename(path, filepath.Join(dir, dbFile)))
		}, false},
	} {
		t.Run(c.name, inBubble(func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			s, err := sqlite.Open(dir, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, create("a"), events("a", 1, 3))
			if err := c.do(dir); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // looks at the files are this far apart
			err = s.Commit([]*eventlog.Batch{events("a", 4, 6)})
			if !errors.Is(err, eventlog.ErrStoreFailed) || !strings.Contains(err.Error(), dbFile) {
				t.Fatalf("commit: %v", err)
			}
			if err := s.Close(); !errors.Is(err, eventlog.ErrStoreFailed) {
				t.Errorf("close: %v", err)
			}
			if !c.kept {
				return
			}
			withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
				if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 3)) {
					t.Errorf("events: %s", got)
				}
			})
		}))
	}
}

func inBubble(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

func TestCloseOfAStoreWhoseFilesAreGoneFails(t *testing.T) {
	skipWhereOpenFilesStay(t)
	dir := t.TempDir()
	s, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, create("a"), events("a", 1, 3))
	if err := os.Remove(filepath.Join(dir, walFile)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, eventlog.ErrStoreFailed) {
		t.Errorf("close: %v", err)
	}
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 3)) {
			t.Errorf("events: %s", got)
		}
	})
}
