package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/thorough"
	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
	"agentctl/server/sqlite/dirlock"
)

// checkFile checks a database and returns its damages as text.
func checkFile(t testing.TB, path string, quick bool) (sqlite.Report, []string) {
	t.Helper()
	var found []string
	report, err := sqlite.Check(context.Background(), path, sqlite.CheckOptions{
		Quick: quick,
		Damage: func(d sqlite.Damage) error {
			found = append(found, d.String())
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if int(report.Damages) != len(found) {
		t.Errorf("%d damages counted, %d reported", report.Damages, len(found))
	}
	return report, found
}

func TestCheckCountsEverythingOfAGoodDatabase(t *testing.T) {
	dir := t.TempDir()
	writeAllKinds(t, dir)
	want := sqlite.Report{Sessions: 1, Events: 1200, Folds: 1, Turns: 1, Answers: 1, Decisions: 1, Blobs: 1}
	report, found := checkFile(t, filepath.Join(dir, dbFile), false)
	if report != want || found != nil {
		t.Errorf("%+v %q", report, found)
	}
	want.Folds, want.Blobs = 0, 0
	if report, found = checkFile(t, filepath.Join(dir, dbFile), true); report != want || found != nil {
		t.Errorf("quick: %+v %q", report, found)
	}
}

func TestAnEmptyFileIsNoBackup(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "empty.db"), t.TempDir()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, checked := sqlite.Check(t.Context(), file, sqlite.CheckOptions{})
	_, restored := sqlite.Restore(t.Context(), file, dir, true, nil)
	for _, err := range []error{checked, restored} {
		if err == nil || !strings.Contains(err.Error(), "is no database of agentctl") {
			t.Errorf("%v", err)
		}
	}
}

func TestCheckNamesWhatIsDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		sql, want string
		quick     bool // found by a quick check too
	}{
		"events": {
			"UPDATE chunk SET data = x'00' WHERE key & 0xffff = 601", "session a: events 601 to 602", false,
		},
		"missing events": {"DELETE FROM chunk WHERE key & 0xffff = 601", "session a: events 601 to 602", true},
		"lost tail":      {"DELETE FROM chunk WHERE key & 0xffff = 603", "session a: events 603 to 1200", true},
		"no events left": {"DELETE FROM chunk", "session a: events 1 to 1200", true},
		"head":           {"UPDATE head SET last = last - 1", "session a: head", true},
		"fold":           {"UPDATE fold SET data = x'00'", "session a: fold 10 to 20", false},
		"session":        {"UPDATE session SET epoch = 'other'", "session a: session: its row is damaged", true},
		"spec":           {"UPDATE spec SET data = x'00'", "session a: session: its spec is damaged", true},
		"no spec":        {"DELETE FROM spec", "session a: session: its spec is damaged", true},
		"no session":     {"DELETE FROM session", "session: the row of session number 1 is lost", true},
		"snapshot":       {"UPDATE snapshot SET data = x'00'", "session a: snapshot", true},
		"no snapshot":    {"DELETE FROM snapshot", "session a: snapshot", true},
		"turn":           {"UPDATE turn SET reason = 'error'", "session a: turn 1 to 9", true},
		"answer":         {"UPDATE answer SET body = x'00'", "answer", true},
		"decision":       {"UPDATE decision SET data = x'00'", "session a: decision", true},
		"blob":           {"UPDATE blob SET media = 'text/html'", "session a: blob", false},
		"group":          {"UPDATE process SET pid = 43", "session a: process", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAllKinds(t, dir)
			execSQL(t, dir, c.sql)
			if _, found := checkFile(t, filepath.Join(dir, dbFile), false); !slices.Contains(found, c.want) {
				t.Errorf("%q, want %q", found, c.want)
			}
			if _, found := checkFile(t, filepath.Join(dir, dbFile), true); slices.Contains(found, c.want) != c.quick {
				t.Errorf("quick: %q", found)
			}
		})
	}
}

func TestACheckOfALiveStoreSeesWhatIsCommitted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, sqlite.Options{})
	commit(t, s, create("a"), events("a", 1, 3))
	if report, found := checkFile(t, filepath.Join(dir, dbFile), false); report.Events != 3 || found != nil {
		t.Errorf("%+v %q", report, found)
	}
	commit(t, s, events("a", 4, 9))
}

// A check must not make a log that was lost look like one that is empty, also without the file that
// names an unclosed store, as an earlier release leaves its directory.
func TestACheckDoesNotHideALostLog(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{BootID: "1"}, func(s *sqlite.Store) { commit(t, s, create("a")) })
	runWriterUntilKilled(t, dir, "1", sqlite.Normal, 1)
	for _, name := range []string{walFile, dbFile + "-shm", "unclosed"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	checkFile(t, filepath.Join(dir, dbFile), false)
	if got := sessionEpochs(t, dir); got == "e-a" {
		t.Error("epoch kept")
	}
}

// placeholders returns lines that replace lost events.
func placeholders(_ string, first, last uint64) []byte {
	var b bytes.Buffer
	for seq := first; seq <= last; seq++ {
		fmt.Fprintf(&b, `{"lost":%d}`+"\n", seq)
	}
	return b.Bytes()
}

func repairDir(t testing.TB, dir string) (sqlite.Report, string) {
	t.Helper()
	report, kept, err := sqlite.Repair(context.Background(), dir, sqlite.RepairOptions{
		Lost: placeholders,
		Record: func([]byte) (eventlog.Record, bool) {
			return eventlog.Record{ID: "found", Created: noon, Spec: []byte("spec")}, true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report, kept
}

func TestARepairKeepsAllThatIsReadable(t *testing.T) {
	lost := func(first, last uint64) string {
		return string(lines(1, first-1)) + string(placeholders("", first, last)) + string(lines(last+1, 1200))
	}
	for name, c := range map[string]struct {
		sql  string
		part string            // that differs
		want map[string]string // by part
	}{
		"nothing damaged": {"", "", nil},
		"events": {
			"UPDATE chunk SET data = x'00' WHERE key & 0xffff = 601", "raw folded",
			map[string]string{"raw": lost(601, 602) + "1200"},
		},
		"start of events": {
			"DELETE FROM chunk WHERE key & 0xffff = 1", "raw folded turns",
			map[string]string{"raw": lost(1, 600) + "1200", "turns": "[]"},
		},
		"lost tail": {
			"DELETE FROM chunk WHERE key & 0xffff = 603", "raw folded",
			map[string]string{"raw": lost(603, 1200) + "1200"},
		},
		"fold": {
			"UPDATE fold SET data = x'00'", "folded",
			map[string]string{"folded": string(lines(1, 1200)) + "1200"},
		},
		"snapshot": {"UPDATE snapshot SET data = x'00'", "session sessions", nil},
		"head":     {"UPDATE head SET crc = 0", "session sessions", nil},
		"turn":     {"UPDATE turn SET reason = 'x'", "turns", map[string]string{"turns": "[]"}},
		"blob":     {"UPDATE blob SET media = 'x'", "blob", map[string]string{"blob": ""}},
		"answer":   {"UPDATE answer SET body = x'00'", "answer", map[string]string{"answer": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAllKinds(t, dir)
			var before map[string]string
			withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { before = readAll(t, s) })
			execSQL(t, dir, c.sql)
			damaged, err := os.ReadFile(filepath.Join(dir, dbFile))
			if err != nil {
				t.Fatal(err)
			}
			_, kept := repairDir(t, dir)
			if copied, err := os.ReadFile(kept); err != nil || !bytes.Equal(copied, damaged) {
				t.Errorf("the damaged database was not kept: %v", err)
			}
			if _, found := checkFile(t, filepath.Join(dir, dbFile), false); found != nil {
				t.Errorf("damaged after the repair: %q", found)
			}
			if epoch := sessionEpochs(t, dir); epoch == "e-a" || epoch == "" {
				t.Errorf("epoch %q", epoch)
			}
			withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
				after := readAll(t, s)
				for part, was := range before {
					if want, ok := c.want[part]; ok {
						if after[part] != want {
							t.Errorf("%s: %q\nwant %q", part, brief(after[part]), brief(want))
						}
					} else if !strings.Contains(c.part, part) && after[part] != was {
						t.Errorf("%s: %q\nwant %q", part, brief(after[part]), brief(was))
					}
				}
				commit(t, s, events("a", 1201, 1300)) // the log continues
			})
		})
	}
}

func TestARepairFindsASessionWhoseRecordIsLost(t *testing.T) {
	for _, sql := range []string{
		"DELETE FROM session", "UPDATE session SET spec = x'00'", "UPDATE spec SET data = x'00'", "DELETE FROM spec",
	} {
		dir := t.TempDir()
		writeAllKinds(t, dir)
		execSQL(t, dir, sql)
		repairDir(t, dir)
		withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
			if got := read(t, s, "found", 0, 1200); !bytes.Equal(got, lines(1, 1200)) {
				t.Errorf("%d bytes of events", len(got))
			}
		})
	}
}

func TestARepairIsRefusedWhileTheStoreIsOpen(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, sqlite.Options{})
	_, _, err := sqlite.Repair(context.Background(), dir, sqlite.RepairOptions{})
	if !errors.Is(err, dirlock.ErrLocked) {
		t.Errorf("%v", err)
	}
}

// writeSessions fills a database of some hundred pages.
func writeSessions(t testing.TB, dir string) {
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		for i := range 20 {
			id := fmt.Sprint("s", i)
			commit(t, s, create(id))
			for first := uint64(1); first < 1000; first += 100 {
				commit(t, s, events(id, first, first+99))
			}
			blob := eventlog.Blob{ID: "b", Data: bytes.Repeat([]byte{byte(i)}, 20_000)}
			commit(t, s, &eventlog.Batch{Session: id, Blobs: []eventlog.Blob{blob}})
		}
	})
}

// TestADamagedImageGivesRightEventsOrANamedError damages pages of a real database. Rows that a
// check finds good are good, rows that it finds damaged are errors for readers, and a repair keeps
// every event that readers get.
func TestADamagedImageGivesRightEventsOrANamedError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	writeSessions(t, dir)
	path := filepath.Join(dir, dbFile)
	clean, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	opened, silent := 0, 0
	for round := range damagedImages() {
		damaged := bytes.Clone(clean)
		page := random.IntN(len(clean) / 4096)
		switch round % 3 {
		case 0: // one bit
			damaged[page*4096+random.IntN(4096)] ^= 1 << random.IntN(8)
		case 1: // one bit of a page's header or cell pointers
			damaged[page*4096+random.IntN(32)] ^= 1 << random.IntN(8)
		default: // a page written in part
			clear(damaged[page*4096+random.IntN(4096) : (page+1)*4096])
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, found := checkFile(t, path, false)
		if len(found) == 0 {
			silent++
		}
		readable := map[string]string{}
		s, err := sqlite.Open(dir, sqlite.Options{})
		if err != nil {
			if !errors.Is(err, eventlog.ErrCorrupt) && found == nil {
				t.Fatalf("round %d: open: %v", round, err)
			}
			continue
		}
		opened++
		for i := range 20 {
			id := fmt.Sprint("s", i)
			got, _, err := s.Read(context.Background(), id, 0, 1000, false, 1<<20, nil)
			switch {
			case err == nil && string(got) != string(lines(1, 1000)):
				t.Fatalf("round %d: session %s: %d bytes", round, id, len(got))
			case err == nil:
				readable[id] = string(got)
			case !errors.Is(err, eventlog.ErrCorrupt) && !errors.Is(err, eventlog.ErrNotFound):
				t.Fatalf("round %d: session %s: %v", round, id, err)
			case len(found) == 0:
				t.Fatalf("round %d: session %s: %v, and the check found nothing", round, id, err)
			}
		}
		_ = s.Close() // may fail on a damaged file
		if round%10 != 0 {
			continue
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, kept := repairDir(t, dir)
		withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
			for id, want := range readable {
				if got := string(read(t, s, id, 0, 1000)); got != want {
					t.Errorf("round %d: session %s after the repair: %d bytes", round, id, len(got))
				}
			}
		})
		if err := os.Remove(kept); err != nil {
			t.Fatal(err)
		}
	}
	if n := damagedImages(); opened < n/2 || silent > n/2 {
		t.Errorf("%d of %d images opened, %d damages were not found", opened, n, silent)
	}
}

// damagedImages is the number of images that are damaged.
func damagedImages() int { return thorough.Rounds(60, 1000) }

// brief returns the ends of a text.
func brief(s string) string {
	if len(s) > 120 {
		s = s[:40] + "…" + s[len(s)-60:]
	}
	return s
}
