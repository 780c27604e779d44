package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

func specRows(t testing.TB, dir string) int { return queryInt(t, dir, "SELECT count(*) FROM spec") }

// A summary changes far more often than the spec, which has the agent's saved state.
func TestASummaryIsWrittenWithoutALongSpec(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, sqlite.Options{}.WithInterval(1<<62))
	long := create("a")
	long.Create.Spec = eventLines(400) // 100 KB
	commit(t, s, long)
	before := walSize(t, dir)
	for i := range 10 {
		commit(t, s, &eventlog.Batch{Session: "a", Summary: fmt.Append(nil, i)})
	}
	if grown := walSize(t, dir) - before; grown > 10*5*4120 {
		t.Errorf("a summary writes %d bytes", grown/10)
	}
	want := eventlog.Record{ID: "a", Epoch: "e-a", Created: noon, Spec: long.Create.Spec, Summary: []byte("9")}
	check(t, want)(s.Session(context.Background(), "a"))
	check(t, []eventlog.Record{want})(sessions(context.Background(), s))
}

func TestASpecOfAnyLengthReplacesTheOneBefore(t *testing.T) {
	dir := t.TempDir()
	sizes := []int{10, 2000, 1024, 1025, 5000, 0, 100_000, 90_000, 3}
	for i, size := range sizes {
		spec := bytes.Repeat([]byte{byte('a' + i)}, size)
		withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
			if i == 0 {
				commit(t, s, create("a"), create("b"))
			}
			live := i%2 == 0
			commit(t, s, &eventlog.Batch{Session: "a", Spec: spec}, &eventlog.Batch{Session: "a", Live: &live})
			r, err := s.Session(context.Background(), "a")
			if err != nil || !bytes.Equal(r.Spec, spec) || r.Live != live {
				t.Errorf("%d: %d bytes, live %t, %v; want %d", i, len(r.Spec), r.Live, err, size)
			}
		})
		if rows, long := specRows(t, dir), size > 1024; rows != 0 != long {
			t.Errorf("spec of %d bytes: %d rows", size, rows)
		}
		if _, found := checkFile(t, filepath.Join(dir, dbFile), false); found != nil {
			t.Errorf("spec of %d bytes: %q", size, found)
		}
	}
}

func TestARemovedSessionLeavesNoSpec(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"), &eventlog.Batch{Session: "a", Spec: eventLines(50)})
		commit(t, s, &eventlog.Batch{Session: "a", Delete: true})
		commit(t, s, create("a"))
		check(t, eventlog.Record{ID: "a", Epoch: "e-a", Created: noon, Spec: []byte("spec")})(
			s.Session(context.Background(), "a"))
	})
	if rows := specRows(t, dir); rows != 0 {
		t.Errorf("%d rows of specs", rows)
	}
}

// TestADatabaseOfTheSecondSchemaKeepsItsSpecs opens testdata/schema2.db.gz: the output of
// writeKinds and a session "long", from a release that had all specs in the rows of their sessions.
func TestADatabaseOfTheSecondSchemaKeepsItsSpecs(t *testing.T) {
	long := strings.Repeat("what the agent saved ", 500)
	verify := func(dir, summary string) {
		t.Helper()
		withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
			r, err := s.Session(context.Background(), "long")
			if err != nil || string(r.Spec) != long || string(r.Summary) != summary || !r.Live || r.Head != 10 {
				t.Errorf("%+v, %v", r, err)
			}
			if a, err := s.Session(context.Background(), "a"); err != nil || string(a.Spec) != "spec" || a.Live {
				t.Errorf("%+v, %v", a, err)
			}
			all, err := sessions(context.Background(), s)
			if err != nil || len(all) != 2 || string(all[1].Spec) != long {
				t.Errorf("list: %+v, %v", all, err)
			}
		})
		if got := specRows(t, dir); got != 1 { // written with the new epoch
			t.Errorf("%d rows of specs, want 1", got)
		}
		if report, found := checkFile(t, filepath.Join(dir, dbFile), false); found != nil || report.Sessions != 2 {
			t.Errorf("check: %+v %q", report, found)
		}
	}
	unpacked := func() string {
		dir := t.TempDir()
		unpack(t, "testdata/schema2.db.gz", filepath.Join(dir, dbFile))
		return dir
	}
	dir, repaired, restored := unpacked(), unpacked(), t.TempDir()
	if report, found := checkFile(t, filepath.Join(dir, dbFile), false); found != nil || report.Sessions != 2 {
		t.Errorf("check before it is opened: %+v %q", report, found)
	}
	if _, err := sqlite.Restore(t.Context(), filepath.Join(dir, dbFile), restored, false, noReport); err != nil {
		t.Fatal(err)
	}
	verify(restored, "summary")
	repairDir(t, repaired)
	verify(repaired, "summary")
	verify(dir, "summary")
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, &eventlog.Batch{Session: "long", Summary: []byte("new")})
	})
	verify(dir, "new")
}
