package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
	"agentctl/server/sqlite/dirlock"
)

func TestASecondOpenFailsAndNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, sqlite.Options{})
	_, err := sqlite.Open(dir, sqlite.Options{})
	if !errors.Is(err, dirlock.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("%v", err)
	}
}

func TestAFailedOpenLeavesTheDirectoryFree(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agentctl.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := sqlite.Open(dir, sqlite.Options{}); !errors.Is(err, eventlog.ErrCorrupt) {
			t.Fatalf("open: %v", err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {})
}

func TestAnUnknownSyncLevelIsRefused(t *testing.T) {
	if _, err := sqlite.Open(t.TempDir(), sqlite.Options{Sync: "often"}); err == nil {
		t.Error("opened")
	}
}

// execSQL runs SQL on the database of a closed store.
func execSQL(t testing.TB, dir, sql string) {
	t.Helper()
	conn, err := sqlite3.OpenConn(filepath.Join(dir, "agentctl.db"), sqlite3.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sqlitex.ExecuteScript(conn, sql, nil), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestANewerDatabaseIsRefusedAndNotTouched(t *testing.T) {
	live, dir := t.TempDir(), filepath.Join(t.TempDir(), "data")
	withStore(t, live, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a"), events("a", 1, 3)) })
	newer, err := sqlite3.OpenConn(filepath.Join(live, dbFile), sqlite3.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(newer, "PRAGMA user_version = 99; CREATE TABLE later (x); INSERT INTO later VALUES (1)",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	copyDir(t, live, dir) // with a write-ahead log, as after a kill
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	before := storeFiles(t, dir)
	_, err = sqlite.Open(dir, sqlite.Options{})
	var refused *sqlite.NewerError
	if !errors.As(err, &refused) || refused.Version != 99 {
		t.Fatalf("open: %v", err)
	}
	if after := storeFiles(t, dir); !maps.Equal(after, before) {
		t.Error("files differ")
	}
}

// storeFiles returns the files of a store by name.
func storeFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{dbFile, walFile, "generation"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	return files
}

// sessionEpochs opens the store on boot "1", closes it and returns the epochs of its sessions.
func sessionEpochs(t testing.TB, dir string) string {
	t.Helper()
	var all []string
	withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) {
		records, err := sessions(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			all = append(all, r.Epoch)
		}
	})
	return strings.Join(all, " ")
}

// copyDir copies a data directory with its times, like backup tools.
func copyDir(t testing.TB, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-pR", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestEpochsAreKeptAsLongAsNothingShownCanBeLost(t *testing.T) {
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	nothing := func(*testing.T, string) {}
	for name, c := range map[string]struct {
		boot    string // of the last run
		sync    sqlite.Sync
		clean   bool
		between func(t *testing.T, dir string)
		kept    bool
	}{
		"closed":                 {"1", sqlite.Normal, true, nothing, true},
		"closed on another boot": {"0", sqlite.Normal, true, nothing, true},
		"killed":                 {"1", sqlite.Normal, false, nothing, true},
		"killed by another boot": {"0", sqlite.Normal, false, nothing, false},
		"killed by another boot, every commit sync": {"0", sqlite.Full, false, nothing, true},
		"killed, log removed, of an earlier release": {"1", sqlite.Full, false, func(t *testing.T, dir string) {
			remove("agentctl.db-wal")(t, dir)
			remove("unclosed")(t, dir)
		}, false},
		"closed, generation removed": {"1", sqlite.Normal, true, remove("generation"), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			withStore(t, dir, sqlite.Options{BootID: "1"},
				func(s *sqlite.Store) { commit(t, s, create("a"), create("b")) })
			if c.clean {
				withStore(t, dir, sqlite.Options{BootID: c.boot, Sync: c.sync}, func(s *sqlite.Store) {
					commit(t, s, events("a", 1, 3))
				})
			} else {
				runWriterUntilKilled(t, dir, c.boot, c.sync, 1)
			}
			c.between(t, dir)
			got := sessionEpochs(t, dir)
			if c.kept && got != "e-a e-b" {
				t.Errorf("epochs %s", got)
			}
			if !c.kept && !regexp.MustCompile(`^[a-z2-7]{12} [a-z2-7]{12}$`).MatchString(got) {
				t.Errorf("epochs %s", got)
			}
			if again := sessionEpochs(t, dir); again != got {
				t.Errorf("epochs %s then %s", got, again)
			}
		})
	}
}

func TestARestoredBackupGetsNewEpochs(t *testing.T) {
	for _, what := range []string{"agentctl.db", "."} {
		t.Run(what, func(t *testing.T) {
			dir, backup := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "backup")
			withStore(t, dir, sqlite.Options{BootID: "1"},
				func(s *sqlite.Store) { commit(t, s, create("a"), events("a", 1, 3)) })
			copyDir(t, dir, backup)
			withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) { commit(t, s, events("a", 4, 9)) })
			copyDir(t, filepath.Join(backup, what), filepath.Join(dir, what))
			if got := sessionEpochs(t, dir); got == "e-a" {
				t.Error("epoch kept")
			}
		})
	}
}

// An empty database beside a used directory is refused, and the directory does not change: its
// write-ahead log may hold committed data.
func TestAMissingDatabaseOfAUsedDirectoryIsRefused(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed":   os.Remove,
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"no schema": func(path string) error { return os.WriteFile(path, emptyDatabase(t), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a")) })
			runWriterUntilKilled(t, dir, "1", sqlite.Normal, 1)
			if err := change(filepath.Join(dir, dbFile)); err != nil {
				t.Fatal(err)
			}
			if name == "no schema" {
				for _, file := range []string{walFile, "unclosed"} {
					if err := os.Remove(filepath.Join(dir, file)); err != nil {
						t.Fatal(err)
					}
				}
			}
			before, _ := os.ReadFile(filepath.Join(dir, walFile))
			_, err := sqlite.Open(dir, sqlite.Options{})
			var missing *sqlite.MissingError
			if !errors.As(err, &missing) || missing.Dir != dir {
				t.Fatalf("open: %v", err)
			}
			after, _ := os.ReadFile(filepath.Join(dir, walFile))
			if name != "no schema" && !bytes.Equal(before, after) {
				t.Error("the write-ahead log was changed")
			}
		})
	}
}

// emptyDatabase returns a database without tables.
func emptyDatabase(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "empty")
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite|sqlite3.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(conn, "CREATE TABLE x (y); DROP TABLE x", nil)
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
