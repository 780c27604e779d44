package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"agentctl/internal/dev/thorough"
	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

const (
	walFile = "agentctl.db-wal"
	dbFile  = "agentctl.db"
)

// failOn returns a fault that fails one operation on one file with a code.
func failOn(operation, file string, code int32) faultFunc {
	return func(o, f string) int32 {
		if o == operation && f == file {
			return code
		}
		return sqlite3.SQLITE_OK
	}
}

func TestAFullDiskRefusesCommitsUntilThereIsSpace(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"), events("a", 1, 3))
		stop := injectFault(t, failOn("write", walFile, sqlite3.SQLITE_FULL))
		for range 3 {
			err := s.Commit([]*eventlog.Batch{events("a", 4, 6)})
			if !errors.Is(err, eventlog.ErrFull) || errors.Is(err, eventlog.ErrStoreFailed) {
				t.Fatalf("commit on a full disk: %v", err)
			}
			if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 3)) {
				t.Errorf("events: %s", got)
			}
		}
		stop()
		commit(t, s, events("a", 4, 9))
	})
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
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
	stop := injectFault(t, failOn("sync", walFile, sqlite3.SQLITE_IOERR_FSYNC))
	for range 2 {
		if err := s.Commit([]*eventlog.Batch{events("a", 4, 6)}); !errors.Is(err, eventlog.ErrStoreFailed) {
			t.Fatalf("commit: %v", err)
		}
		if got := read(t, s, "a", 0, 9); string(got) != string(lines(1, 3)) {
			t.Errorf("events: %s", got)
		}
		stop()
	}
	if err := s.Close(); !errors.Is(err, eventlog.ErrStoreFailed) {
		t.Errorf("close: %v", err)
	}
	if walSize(t, dir) == 0 {
		t.Error("Close checkpointed the write-ahead log")
	}
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		if got := read(t, s, "a", 0, 3); string(got) != string(lines(1, 3)) {
			t.Errorf("events: %s", got)
		}
	})
}

// commitUntilError commits single events until a commit fails, and returns its error.
func commitUntilError(t testing.TB, s session.Store, id string) error {
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for seq := uint64(1); deadline.Err() == nil; seq++ {
		if err := s.Commit([]*eventlog.Batch{events(id, seq, seq)}); err != nil {
			return err
		}
		select { // a checkpoint needs an idle store
		case <-time.After(5 * time.Millisecond):
		case <-deadline.Done():
		}
	}
	return nil
}

func TestAFailedSyncOfACheckpointStopsTheStore(t *testing.T) {
	for _, file := range []string{walFile, dbFile} {
		t.Run(file, func(t *testing.T) {
			s, err := sqlite.Open(t.TempDir(), sqlite.Options{}.WithInterval(time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, create("a"))
			injectFault(t, failOn("sync", file, sqlite3.SQLITE_IOERR_FSYNC))
			if err := commitUntilError(t, s, "a"); !errors.Is(err, eventlog.ErrStoreFailed) {
				t.Errorf("commit: %v", err)
			}
			if err := s.Close(); !errors.Is(err, eventlog.ErrStoreFailed) {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestAFailedReadIsAnErrorAndPasses(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a"), events("a", 1, 3)) })
	s := open(t, dir, sqlite.Options{})
	stop := injectFault(t, failOn("read", dbFile, sqlite3.SQLITE_IOERR_READ))
	got, at, err := s.Read(context.Background(), "a", 0, 3, false, 1<<20, nil)
	if err == nil || errors.Is(err, eventlog.ErrCorrupt) || len(got) != 0 || at != 0 {
		t.Errorf("read: %q at %d, %v", got, at, err)
	}
	stop()
	if got := read(t, s, "a", 0, 3); string(got) != string(lines(1, 3)) {
		t.Errorf("events: %s", got)
	}
}

// TestNoFailedOperationLosesOrInventsACommit fails each write and each sync of a store in turn,
// from Open to Close.
func TestNoFailedOperationLosesOrInventsACommit(t *testing.T) {
	for operation, codes := range map[string][]int32{
		"write": {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE},
		"sync":  {sqlite3.SQLITE_IOERR_FSYNC},
	} {
		t.Run(operation, func(t *testing.T) {
			for n := 1; ; n++ {
				left := n
				stop := injectFault(t, func(o, _ string) int32 {
					if o != operation {
						return sqlite3.SQLITE_OK
					}
					if left--; left == 0 {
						return codes[n%len(codes)]
					}
					return sqlite3.SQLITE_OK
				})
				dir := t.TempDir()
				kept, failed := runLifecycle(t, dir)
				stop()
				withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
					records, err := sessions(context.Background(), s)
					if err != nil {
						t.Fatal(err)
					}
					got := ""
					if len(records) > 0 {
						got = string(read(t, s, "a", 0, 1<<30))
					}
					// The outcome of the commit that stopped the store is unknown.
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

// TestAFailedOperationOfACopyLeavesEverythingAsItWas fails each operation of a backup, a check, a
// repair and a restore in turn. Failures are reported, and operations reported as done are
// complete.
func TestAFailedOperationOfACopyLeavesEverythingAsItWas(t *testing.T) {
	for name, run := range map[string]func(dir, file string) error{
		"backup": func(dir, file string) error { return sqlite.Backup(t.Context(), dir, file, noReport) },
		"repair": func(dir, _ string) error {
			_, _, err := sqlite.Repair(t.Context(), dir, sqlite.RepairOptions{
				Lost:   placeholders,
				Record: func([]byte) (eventlog.Record, bool) { return eventlog.Record{}, false },
				Damage: func(d sqlite.Damage) error { return fmt.Errorf("damaged: %s", d) },
			})
			return err
		},
		"restore": func(dir, file string) error {
			_, err := sqlite.Restore(t.Context(), filepath.Join(filepath.Dir(file), "other"), dir, true, noReport)
			return err
		},
	} {
		for operation, code := range map[string]int32{
			"read": sqlite3.SQLITE_IOERR_READ, "write": sqlite3.SQLITE_FULL,
		} {
			t.Run(name+" "+operation, func(t *testing.T) {
				for n := 1; ; n += thorough.Step(3) {
					parent := t.TempDir()
					dir, file := filepath.Join(parent, "data"), filepath.Join(parent, "backup")
					writeAllKinds(t, dir)
					if name == "restore" {
						if err := sqlite.Backup(t.Context(), dir, filepath.Join(parent, "other"), noReport); err != nil {
							t.Fatal(err)
						}
					}
					left := n
					stop := injectFault(t, func(o, _ string) int32 {
						if o == operation {
							left--
						}
						if left == 0 && o == operation {
							return code
						}
						return sqlite3.SQLITE_OK
					})
					err := run(dir, file)
					stop()
					if failed := left <= 0; failed != (err != nil) && operation == "write" {
						t.Errorf("operation %d: failed %t, error %v", n, failed, err)
					}
					if _, missing := os.Stat(file); name == "backup" && (missing == nil) != (err == nil) {
						t.Errorf("operation %d: %v, file: %v", n, err, missing)
					}
					if name == "backup" && err == nil {
						if report, found := checkFile(t, file, false); report.Events != 1200 || found != nil {
							t.Errorf("operation %d: %+v %q", n, report, found)
						}
					}
					withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
						if got := read(t, s, "a", 0, 1200); string(got) != string(lines(1, 1200)) {
							t.Errorf("operation %d (%v): %d bytes of events", n, err, len(got))
						}
					})
					if left > 0 {
						break
					}
				}
			})
		}
	}
}

// TestAFailedOperationOfARemovalTouchesNothingElse fails each write and each sync of the removal of
// a session, and of the return of its space, in turn. The session exists or not, as reported, and
// the other one is unchanged.
func TestAFailedOperationOfARemovalTouchesNothingElse(t *testing.T) {
	for operation, code := range map[string]int32{
		"write": sqlite3.SQLITE_FULL, "sync": sqlite3.SQLITE_IOERR_FSYNC,
	} {
		t.Run(operation, func(t *testing.T) {
			for n, left := 1, 0; left <= 0; n += thorough.Step(2) {
				dir := t.TempDir()
				writeAllKinds(t, dir)
				var removed error
				s, err := sqlite.Open(dir, sqlite.Options{Sync: sqlite.Full}.WithInterval(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				commit(t, s, create("b"), events("b", 1, 600))
				want := readAll(t, s)
				left = n
				stop := injectFault(t, func(o, _ string) int32 {
					if o != operation {
						return sqlite3.SQLITE_OK
					}
					if left--; left == 0 {
						return code
					}
					return sqlite3.SQLITE_OK
				})
				removed = s.Commit([]*eventlog.Batch{{Session: "b", Delete: true}})
				_ = s.Collect(t.Context()) // may fail, as one of the cases
				_ = s.Close()
				stop()
				withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
					_, err := s.Session(t.Context(), "b")
					gone := errors.Is(err, eventlog.ErrNotFound)
					switch {
					case removed == nil && !gone:
						t.Errorf("operation %d: removed, but there: %v", n, err)
					case removed != nil && !errors.Is(removed, eventlog.ErrStoreFailed) && gone:
						t.Errorf("operation %d: not removed (%v), but gone", n, removed)
					case !gone && string(read(t, s, "b", 0, 600)) != string(lines(1, 600)):
						t.Errorf("operation %d: events of it are gone", n)
					}
					for name, got := range readAll(t, s) {
						if got != want[name] && name != "sessions" { // the list has both
							t.Errorf("operation %d: %s of the other: %.200s, want %.200s", n, name, got, want[name])
						}
					}
				})
			}
		})
	}
}

// runLifecycle opens a store, commits and closes it, and continues after errors. It returns the
// events of successful commits, and the events of the commit that stopped the store.
func runLifecycle(t *testing.T, dir string) (kept, failed string) {
	s, err := sqlite.Open(dir, sqlite.Options{Sync: sqlite.Full})
	if err != nil {
		return "", ""
	}
	created, next := false, uint64(1)
	for i := range 3 {
		batches := []*eventlog.Batch{{
			Session: "a", First: next, Last: next,
			Events: [][]byte{fmt.Appendf(nil, "%d %s\n", i, strings.Repeat("x", 5_000))},
		}}
		if !created {
			batches = append([]*eventlog.Batch{create("a")}, batches...)
		}
		before := err
		err = s.Commit(batches)
		switch {
		case err == nil:
			created = true
			next++
			kept += string(batches[len(batches)-1].Events[0])
		case errors.Is(err, eventlog.ErrStoreFailed) && !errors.Is(before, eventlog.ErrStoreFailed):
			failed = string(batches[len(batches)-1].Events[0])
		}
		if !created {
			continue
		}
		if got := read(t, s, "a", 0, 1<<30); string(got) != kept {
			t.Errorf("after commit %d (%v): %d bytes, want %d", i, err, len(got), len(kept))
		}
	}
	_ = s.Close() // may fail, as one of the cases
	return kept, failed
}
