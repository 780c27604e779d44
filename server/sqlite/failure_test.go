package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"agentctl/server/session"
	"agentctl/server/sqlite"
)

const (
	logFile  = "agentctl.db-wal"
	dataFile = "agentctl.db"
)

// on fails one operation on one file with a code.
func on(operation, file string, code int32) fault {
	return func(o, f string) int32 {
		if o == operation && f == file {
			return code
		}
		return sqlite3.SQLITE_OK
	}
}

func TestAFullDiskRefusesCommitsUntilThereIsSpace(t *testing.T) {
	dir := t.TempDir()
	reopened(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"), events("a", 1, 3))
		stop := failing(t, on("write", logFile, sqlite3.SQLITE_FULL))
		for range 3 {
			err := s.Commit([]*session.Batch{events("a", 4, 6)})
			if err == nil || errors.Is(err, session.ErrStoreFailed) {
				t.Fatalf("commit on a full disk: %v", err)
			}
			if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 3)) {
				t.Errorf("events: %s", got)
			}
		}
		stop()
		commit(t, s, events("a", 4, 9))
	})
	reopened(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 9)) {
			t.Errorf("events: %s", got)
		}
	})
}

func TestAFailedSyncStopsTheStoreForGood(t *testing.T) {
	dir := t.TempDir()
	s, err := sqlite.Open(dir, sqlite.Options{Sync: sqlite.Full})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, create("a"), events("a", 1, 3))
	stop := failing(t, on("sync", logFile, sqlite3.SQLITE_IOERR_FSYNC))
	for range 2 {
		if err := s.Commit([]*session.Batch{events("a", 4, 6)}); !errors.Is(err, session.ErrStoreFailed) {
			t.Fatalf("commit: %v", err)
		}
		if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 3)) {
			t.Errorf("events: %s", got)
		}
		stop()
	}
	if err := s.Close(); !errors.Is(err, session.ErrStoreFailed) {
		t.Errorf("close: %v", err)
	}
	if logSize(t, dir) == 0 {
		t.Error("its log was moved when it was closed")
	}
	reopened(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		if got := read(t, s, "a", 0, 3); string(got) != string(lines(1, 3)) {
			t.Errorf("events: %s", got)
		}
	})
}

// eventually commits one event after another until a commit fails, and returns its error.
func eventually(t testing.TB, s session.Store, id string) error {
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for seq := uint64(1); deadline.Err() == nil; seq++ {
		if err := s.Commit([]*session.Batch{events(id, seq, seq)}); err != nil {
			return err
		}
		select { // the store must get quiet for a checkpoint
		case <-time.After(5 * time.Millisecond):
		case <-deadline.Done():
		}
	}
	return nil
}

func TestAFailedSyncOfACheckpointStopsTheStore(t *testing.T) {
	for _, file := range []string{logFile, dataFile} {
		t.Run(file, func(t *testing.T) {
			s, err := sqlite.Open(t.TempDir(), sqlite.Options{}.WithRounds(time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, create("a"))
			failing(t, on("sync", file, sqlite3.SQLITE_IOERR_FSYNC))
			if err := eventually(t, s, "a"); !errors.Is(err, session.ErrStoreFailed) {
				t.Errorf("commit: %v", err)
			}
			if err := s.Close(); !errors.Is(err, session.ErrStoreFailed) {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestAFailedReadIsAnErrorAndPasses(t *testing.T) {
	dir := t.TempDir()
	reopened(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a"), events("a", 1, 3)) })
	s := open(t, dir, sqlite.Options{})
	stop := failing(t, on("read", dataFile, sqlite3.SQLITE_IOERR_READ))
	got, at, err := s.Read(context.Background(), "a", 0, 3, false, 1<<20, nil)
	if err == nil || errors.Is(err, session.ErrCorrupt) || len(got) != 0 || at != 0 {
		t.Errorf("read: %q at %d, %v", got, at, err)
	}
	stop()
	if got := read(t, s, "a", 0, 3); string(got) != string(lines(1, 3)) {
		t.Errorf("events: %s", got)
	}
}

// TestNoFailedOperationLosesOrInventsACommit fails every single write and sync of a store's life in turn.
func TestNoFailedOperationLosesOrInventsACommit(t *testing.T) {
	for operation, codes := range map[string][]int32{
		"write": {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE},
		"sync":  {sqlite3.SQLITE_IOERR_FSYNC},
	} {
		t.Run(operation, func(t *testing.T) {
			for n := 1; ; n++ {
				left := n
				stop := failing(t, func(o, _ string) int32 {
					if o != operation {
						return sqlite3.SQLITE_OK
					}
					if left--; left == 0 {
						return codes[n%len(codes)]
					}
					return sqlite3.SQLITE_OK
				})
				dir := memoryDir(t)
				kept, failed := life(t, dir)
				stop()
				reopened(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
					records, err := s.Sessions(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					got := ""
					if len(records) > 0 {
						got = string(read(t, s, "a", 0, 1<<30))
					}
					// What a stopped store was writing when it stopped may turn up: nobody can tell what became of it.
					if got != kept && (failed == "" || got != kept+failed) {
						t.Errorf("operation %d: %d bytes, want %d", n, len(got), len(kept))
					}
				})
				if left > 0 {
					break
				}
			}
		})
	}
}

// memoryDir returns a temporary directory in memory, where the system has one: a sync costs nothing
// there.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "agentctl")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// life opens a store, commits and closes it, going on after errors. It returns the events reported as committed, and
// those whose commit stopped the store.
func life(t *testing.T, dir string) (kept, failed string) {
	s, err := sqlite.Open(dir, sqlite.Options{Sync: sqlite.Full})
	if err != nil {
		return "", ""
	}
	created, next := false, uint64(1)
	for i := range 3 {
		batches := []*session.Batch{{
			Session: "a", Events: fmt.Appendf(nil, "%d %s\n", i, strings.Repeat("x", 5_000)), First: next, Last: next,
		}}
		if !created {
			batches = append([]*session.Batch{create("a")}, batches...)
		}
		before := err
		err = s.Commit(batches)
		switch {
		case err == nil:
			created = true
			next++
			kept += string(batches[len(batches)-1].Events)
		case errors.Is(err, session.ErrStoreFailed) && !errors.Is(before, session.ErrStoreFailed):
			failed = string(batches[len(batches)-1].Events)
		}
		if !created {
			continue
		}
		if got := read(t, s, "a", 0, 1<<30); string(got) != kept {
			t.Errorf("after commit %d (%v): %d bytes, want %d", i, err, len(got), len(kept))
		}
	}
	_ = s.Close() // failing it is one of the cases
	return kept, failed
}
