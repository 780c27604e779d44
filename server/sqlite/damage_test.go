package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"agentctl/internal/dev/thorough"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// allKinds is the database of writeAllKinds, which makes it once. It names no earlier run, so that the
// store that opens a copy keeps the epochs.
var allKinds []byte

// writeAllKinds writes a closed database with rows of every kind in session "a".
func writeAllKinds(t testing.TB, dir string) {
	t.Helper()
	if allKinds == nil {
		made := t.TempDir()
		writeKinds(t, made, bytes.Repeat([]byte("long spec "), 500))
		execSQL(t, made, "DELETE FROM opened")
		var err error
		if allKinds, err = os.ReadFile(filepath.Join(made, dbFile)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, dbFile), allKinds, 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

// writeKinds commits rows of every kind to session "a" and closes the store. A nil spec is that of the
// creation.
func writeKinds(t testing.TB, dir string, spec []byte) {
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"), events("a", 1, 600), events("a", 601, 602), events("a", 603, 1200), &eventlog.Batch{
			Session: "a", Summary: []byte("summary"), Spec: spec,
			Snapshot: bytes.Repeat([]byte("snap"), 2000), SnapSeq: 5,
			Folds: []eventlog.Fold{{First: 10, Last: 20, Line: []byte("folded\n")}},
			Turns: []eventlog.TurnRow{{
				Turn: "t", MessageID: "m", First: 1, Last: 9, Reason: "completed",
				Ended: noon,
			}},
			Answers:       []eventlog.Answer{{Key: "k", Hash: []byte("hash"), Body: []byte("body"), At: noon}},
			Decisions:     []eventlog.Decision{{Request: "r", Data: []byte("decided")}},
			Blobs:         []eventlog.Blob{{ID: "b", MediaType: "text/plain", Data: bytes.Repeat([]byte("blob"), 2000)}},
			ProcessGroups: []agent.ProcessGroup{{PID: 42, Start: "then"}},
		})
	})
}

// readAll returns the results of all read methods for session "a", by name. An error other than
// ErrCorrupt and ErrNotFound fails the test.
func readAll(t testing.TB, s *sqlite.Store) map[string]string {
	ctx := context.Background()
	all := map[string]string{}
	add := func(name string, result any, err error) {
		if err != nil && !errors.Is(err, eventlog.ErrCorrupt) && !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			all[name] = fmt.Sprint(result)
		}
	}
	one, err := s.Session(ctx, "a")
	one.Epoch = "" // renewed if the damage looks like an older copy
	add("session", one, err)
	sessions, err := sessions(ctx, s)
	for i := range sessions {
		sessions[i].Epoch = ""
	}
	add("sessions", sessions, err)
	raw, at, err := s.Read(ctx, "a", 0, 1200, false, 1<<20, nil)
	add("raw", fmt.Sprint(string(raw), at), err)
	folded, at, err := s.Read(ctx, "a", 0, 1200, true, 1<<20, nil)
	add("folded", fmt.Sprint(string(folded), at), err)
	turns, err := s.Turns(ctx, "a", 0, 10)
	add("turns", turns, err)
	answer, err := s.Answer(ctx, "k")
	add("answer", answer, err)
	decision, err := s.Decision(ctx, "a", "r")
	add("decision", decision, err)
	blob, err := s.Blob(ctx, "a", "b")
	add("blob", blob, err)
	groups, err := s.ProcessGroups(ctx)
	add("groups", groups, err)
	return all
}

func TestADamagedRowIsCorruptAndNothingElseIs(t *testing.T) {
	for name, c := range map[string]struct{ sql, read string }{
		"events":          {"UPDATE chunk SET data = CAST(substr(data, 1, 100) || x'20' || substr(data, 102) AS BLOB) WHERE key & 0xffff = 1", "raw"},
		"end of events":   {"UPDATE chunk SET last = last + 1 WHERE key & 0xffff = 1", "raw"},
		"start of events": {"UPDATE chunk SET key = key + 1 WHERE key & 0xffff = 601", "raw"},
		"missing events":  {"DELETE FROM chunk WHERE key & 0xffff = 601", "raw"},
		"lost tail":       {"DELETE FROM chunk WHERE key & 0xffff = 603", "raw"},
		"no events left":  {"DELETE FROM chunk", "raw"},
		"head":            {"UPDATE head SET last = last - 1", "session"},
		"fold":            {"UPDATE fold SET data = x'00'", "folded"},
		"moved fold":      {"UPDATE fold SET key = key + 1", "folded"},
		"session":         {"UPDATE session SET epoch = 'other'", "session"},
		"summary":         {"UPDATE session SET summary = x'00'", "sessions"},
		"spec":            {"UPDATE spec SET data = x'00'", "session"},
		"listed spec":     {"UPDATE spec SET n = n + 1", "sessions"},
		"no head":         {"DELETE FROM head", "session"},
		"snapshot":        {"UPDATE snapshot SET data = x'00'", "session"},
		"no snapshot":     {"DELETE FROM snapshot", "session"},
		"turn":            {"UPDATE turn SET reason = 'error'", "turns"},
		"answer":          {"UPDATE answer SET body = x'00'", "answer"},
		"decision":        {"UPDATE decision SET data = x'00'", "decision"},
		"blob":            {"UPDATE blob SET media = 'text/html'", "blob"},
		"group":           {"UPDATE process SET pid = 43", "groups"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAllKinds(t, dir)
			execSQL(t, dir, c.sql)
			withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
				if got, ok := readAll(t, s)[c.read]; ok {
					t.Errorf("read %s", got)
				}
			})
		})
	}
}

// TestAFlippedBitIsNeverServed flips bits at random positions of the database file, one at a time.
func TestAFlippedBitIsNeverServed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	writeAllKinds(t, dir)
	path := filepath.Join(dir, "agentctl.db")
	var want map[string]string
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { want = readAll(t, s) })
	clean, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range thorough.Rounds(40, 100) {
		bit := random.IntN(len(clean) * 8)
		// Half of the time in the header and cell pointers of a b-tree page.
		if random.IntN(2) == 0 {
			bit = random.IntN(len(clean)/4096)*4096*8 + random.IntN(32*8)
		}
		damaged := bytes.Clone(clean)
		damaged[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(dir, sqlite.Options{})
		if err != nil {
			continue
		}
		for name, result := range readAll(t, s) {
			switch {
			case result == want[name]:
			case name == "folded" && result == want["raw"]: // raw events replace a lost fold
			case name == "turns" || name == "groups": // a lost row is not detected
				if result == "[]" {
					continue
				}
				fallthrough
			default:
				t.Errorf("bit %d of byte %d: %s: %.300s", bit%8, bit/8, name, result)
			}
		}
		_ = s.Close() // may fail on a damaged file
	}
}

// reopenWithLog kills a writer, changes its write-ahead log with cut and reopens the store on boot.
// It returns the record and events of session "a".
func reopenWithLog(t *testing.T, boot string, cut func(log []byte) []byte) (record eventlog.Record, log []byte) {
	t.Helper()
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a")) })
	runWriterUntilKilled(t, dir, "1", sqlite.Normal, 30)
	path := filepath.Join(dir, walFile)
	wal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, cut(wal), 0o600); err != nil {
		t.Fatal(err)
	}
	withStore(t, dir, sqlite.Options{BootID: boot}, func(s *sqlite.Store) {
		if record, err = s.Session(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
		log = read(t, s, "a", 0, record.Head)
	})
	return record, log
}

func TestATornLogKeepsAPrefixUnderANewEpoch(t *testing.T) {
	for cut := 1; cut < 10; cut += thorough.Step(4) {
		record, log := reopenWithLog(t, "2", func(wal []byte) []byte { return wal[:len(wal)*cut/10] })
		if !bytes.Equal(log, lines(1, record.Head)) {
			t.Errorf("cut %d: %d events in %d bytes", cut, record.Head, len(log))
		}
		if record.Epoch == "e-a" {
			t.Errorf("cut %d: epoch kept", cut)
		}
	}
}

func TestADamagedLogKeepsAPrefixUnderANewEpoch(t *testing.T) {
	for tenth := 0; tenth < 9; tenth += thorough.Step(4) { // the kill may tear the end of the log
		record, log := reopenWithLog(t, "1", func(wal []byte) []byte {
			wal[len(wal)*tenth/10] ^= 4
			return wal
		})
		if !bytes.Equal(log, lines(1, record.Head)) {
			t.Errorf("byte at %d/10: %d events in %d bytes", tenth, record.Head, len(log))
		}
		if record.Epoch == "e-a" {
			t.Errorf("byte at %d/10: epoch kept", tenth)
		}
	}
}
