package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/server/session/stored"
	"agentctl/server/sqlite"
)

// killedWithoutLog returns a data directory with the session a, whose store was killed and whose
// write-ahead log was removed.
func killedWithoutLog(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) {
		commit(t, s, create("a"), events("a", 1, 3))
	})
	runWriterUntilKilled(t, dir, "1", sqlite.Full, 4)
	if err := os.Remove(filepath.Join(dir, walFile)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A store that was not closed and whose log is missing is refused, and the directory stays as it
// is.
func TestAMissingLogOfAnUnclosedStoreIsRefused(t *testing.T) {
	dir := killedWithoutLog(t)
	for name, open := range map[string]func() error{
		"open":   func() error { _, err := sqlite.Open(dir, sqlite.Options{}); return err },
		"backup": func() error { return sqlite.Backup(t.Context(), dir, filepath.Join(t.TempDir(), "b"), noReport) },
		"repair": func() error { _, _, err := sqlite.Repair(t.Context(), dir, sqlite.RepairOptions{}); return err },
	} {
		for range 2 {
			var missing *sqlite.LogMissingError
			if err := open(); !errors.As(err, &missing) || missing.Dir != dir {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, walFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log was made: %v", err)
	}
	for _, quick := range []bool{false, true} {
		var found []sqlite.Damage
		report, err := sqlite.Check(t.Context(), sqlite.Path(dir), sqlite.CheckOptions{
			Quick: quick, Damage: func(d sqlite.Damage) error { found = append(found, d); return nil },
		})
		if err != nil || len(found) != 1 || found[0].Part != sqlite.PartLog || report.Sessions != 1 {
			t.Errorf("check: %+v, %v, %v", report, found, err)
		}
	}
}

// A repair without the log keeps what the database has, says for each session where it ends, and
// gives it a new epoch.
func TestARepairWithoutTheLogSaysWhereSessionsEnd(t *testing.T) {
	dir := killedWithoutLog(t)
	var ends []string
	_, kept, err := sqlite.Repair(t.Context(), dir, sqlite.RepairOptions{
		Lost: stored.LostEvents, Record: stored.RecordFromEvent, WithoutLog: true,
		Kept: func(session, epoch string, last uint64) error {
			ends = append(ends, fmt.Sprintf("%s %s:%d", session, epoch, last))
			return nil
		},
	})
	if err != nil || kept == "" || !slices.Equal(ends, []string{"a e-a:3"}) {
		t.Fatalf("kept %q, ends %q, %v", kept, ends, err)
	}
	got := sessionEpochs(t, dir)
	if got == "e-a" || strings.Contains(got, " ") {
		t.Errorf("epochs %s", got)
	}
	if again := sessionEpochs(t, dir); again != got {
		t.Errorf("epochs %s then %s", got, again)
	}
}

// A restore takes the place of a database without its log, and of a log without its database: the
// log belongs to another database.
func TestARestoreTakesThePlaceOfHalfAStore(t *testing.T) {
	for _, missing := range []string{walFile, dbFile} {
		t.Run(missing, func(t *testing.T) {
			dir, backup := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "backup")
			withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) {
				commit(t, s, create("a"), events("a", 1, 3))
			})
			if err := sqlite.Backup(t.Context(), dir, backup, noReport); err != nil {
				t.Fatal(err)
			}
			runWriterUntilKilled(t, dir, "1", sqlite.Full, 4)
			if err := os.Remove(filepath.Join(dir, missing)); err != nil {
				t.Fatal(err)
			}
			if _, err := sqlite.Restore(t.Context(), backup, dir, true, noReport); err != nil {
				t.Fatal(err)
			}
			withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) {
				records, err := sessions(context.Background(), s)
				if err != nil || len(records) != 1 || records[0].Head != 3 || records[0].Epoch == "e-a" {
					t.Errorf("%+v, %v", records, err)
				}
			})
		})
	}
}

// Every way to close a store, and an Open that fails, leaves a directory that opens.
func TestAClosedStoreNeedsNoLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for range 2 {
		withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) {
			if _, err := os.Stat(filepath.Join(dir, "unclosed")); err != nil {
				t.Error(err)
			}
		})
		for _, name := range []string{walFile, "unclosed"} {
			if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", name, err)
			}
		}
	}
	withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) { commit(t, s, create("a")) })
	runWriterUntilKilled(t, dir, "1", sqlite.Full, 1)
	generation := filepath.Join(dir, "generation")
	text, err := os.ReadFile(generation)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(generation), os.Mkdir(generation, 0o700)); err != nil { // Open fails late
		t.Fatal(err)
	}
	if _, err := sqlite.Open(dir, sqlite.Options{}); err == nil {
		t.Fatal("opened")
	}
	if err := errors.Join(os.Remove(generation), os.WriteFile(generation, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	withStore(t, dir, sqlite.Options{BootID: "1"}, func(*sqlite.Store) {})
}
