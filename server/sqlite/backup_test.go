package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
	"agentctl/server/sqlite/dirlock"
)

func noReport(int64, int64) {}

// TestABackupUnderLoadRestoresToAPrefixOfEverySession takes backups while two goroutines commit.
func TestABackupUnderLoadRestoresToAPrefixOfEverySession(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, sqlite.Options{}.WithWALLimit(1<<20))
	const writers = 4
	for w := range writers {
		commit(t, s, create(fmt.Sprint(w)))
	}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	written := make([]uint64, writers)
	for w := range writers {
		writing.Go(func() {
			for next := uint64(1); ; next += 10 {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Commit([]*eventlog.Batch{events(fmt.Sprint(w), next, next+9)}); err != nil {
					t.Error(err)
					return
				}
				written[w] = next + 9
			}
		})
	}
	files := t.TempDir()
	for n := range 5 {
		if err := sqlite.Backup(t.Context(), dir, filepath.Join(files, fmt.Sprint(n)), noReport); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	writing.Wait()
	for n := range 5 {
		file, restored := filepath.Join(files, fmt.Sprint(n)), t.TempDir()
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", info, err)
		}
		if kept, err := sqlite.Restore(t.Context(), file, restored, false, noReport); err != nil || kept != "" {
			t.Fatalf("restore: %q %v", kept, err)
		}
		withStore(t, restored, sqlite.Options{}, func(s *sqlite.Store) {
			records, err := sessions(t.Context(), s)
			if err != nil || len(records) != writers {
				t.Fatalf("%d sessions, %v", len(records), err)
			}
			for w, r := range records {
				if got := read(t, s, r.ID, 0, r.Head); !bytes.Equal(got, lines(1, r.Head)) || r.Head > written[w] {
					t.Errorf("backup %d, session %s: head %d, %d bytes", n, r.ID, r.Head, len(got))
				}
				if r.Epoch == "e-"+r.ID {
					t.Errorf("session %s: the epoch was kept", r.ID)
				}
			}
		})
	}
	if list, err := os.ReadDir(files); err != nil || len(list) != 5 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

func TestABackupHoldsEverything(t *testing.T) {
	dir, restored := t.TempDir(), t.TempDir()
	writeAllKinds(t, dir)
	var want map[string]string
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { want = readAll(t, s) })
	file := filepath.Join(t.TempDir(), "backup")
	var done, total int64
	if err := sqlite.Backup(t.Context(), dir, file, func(d, of int64) { done, total = d, of }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil || done != total || total != int64(len(b)) {
		t.Fatalf("%d of %d bytes reported, %v", done, total, err)
	}
	if b[18] != 1 || b[19] != 1 { // the versions that write and read it
		t.Errorf("the backup has a write-ahead log: format %d, %d", b[18], b[19])
	}
	if _, err := sqlite.Restore(t.Context(), file, restored, false, noReport); err != nil {
		t.Fatal(err)
	}
	withStore(t, restored, sqlite.Options{}, func(s *sqlite.Store) {
		for part, result := range readAll(t, s) {
			if result != want[part] {
				t.Errorf("%s: %.100s", part, result)
			}
		}
	})
}

func TestABackupThatFailsLeavesNoFile(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	writeAllKinds(t, dir)
	file := filepath.Join(files, "backup")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sqlite.Backup(ctx, dir, file, noReport); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := sqlite.Backup(t.Context(), t.TempDir(), file, noReport); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a database: %v", err)
	}
	if list, err := os.ReadDir(files); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), dir, file, noReport); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if b, err := os.ReadFile(file); string(b) != "mine" {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestARestoreRefusesWhatWouldBeLost(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	writeAllKinds(t, dir)
	if err := sqlite.Backup(t.Context(), dir, file, noReport); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), file, dir, false, noReport); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("over a database: %v", err)
	}
	withStore(t, dir, sqlite.Options{}, func(*sqlite.Store) {
		if _, err := sqlite.Restore(t.Context(), file, dir, true, noReport); !errors.Is(err, dirlock.ErrLocked) {
			t.Errorf("over an open database: %v", err)
		}
	})
	kept, err := sqlite.Restore(t.Context(), file, dir, true, noReport)
	if report, found := checkFile(t, kept, false); err != nil || report.Sessions != 1 || found != nil {
		t.Errorf("kept %q: %+v %v, %v", kept, report, found, err)
	}
	damaged, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged[bytes.Index(damaged, []byte("blobblobblob"))] ^= 1
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *sqlite.DamagedError
	if _, err := sqlite.Restore(t.Context(), file, t.TempDir(), false, noReport); !errors.As(err, &refused) ||
		refused.Damage.Part != "blob" {
		t.Errorf("a damaged backup: %v", err)
	}
}
