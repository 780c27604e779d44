package sqlite_test

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// commitSlowly commits a session of n events, one at a time, and returns their lines.
func commitSlowly(t *testing.T, s *sqlite.Store, id string, n int) []byte {
	t.Helper()
	all := eventLines(n)
	commit(t, s, create(id))
	seq := uint64(0)
	for line := range bytes.Lines(all) {
		seq++
		commit(t, s, &eventlog.Batch{Session: id, Events: [][]byte{line}, First: seq, Last: seq})
	}
	return all
}

// The events of an ended turn take as much space as if committed together, and are unchanged.
func TestChunksOfAnEndedTurnAreMerged(t *testing.T) {
	const n = 2000
	dir := t.TempDir()
	var all []byte
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		all = commitSlowly(t, s, "a", n)
		if err := s.Merge(context.Background(), "a", 1, n); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, "a", 0, n); !bytes.Equal(got, all) {
			t.Error("events differ from those that were committed")
		}
		more := eventLines(n + 10)[len(all):]
		commit(t, s, &eventlog.Batch{Session: "a", Events: [][]byte{more}, First: n + 1, Last: n + 10})
		if got := read(t, s, "a", n-5, n+10); !bytes.HasSuffix(got, more) || len(got) <= len(more) {
			t.Error("events that were committed later do not follow")
		}
	})
	if rows := queryInt(t, dir, "SELECT count(*) FROM chunk"); rows > 2+len(all)/(40<<10) {
		t.Errorf("%d bytes of events are in %d chunks", len(all), rows)
	}
	if stored := queryInt(t, dir, "SELECT sum(length(data)) FROM chunk"); stored > len(all)/2 {
		t.Errorf("%d bytes are stored in %d", len(all), stored)
	}
}

// The store merges automatically after the end of a turn.
func TestTheEndOfATurnMergesItsChunks(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	all := commitSlowly(t, s, "a", 500)
	turn := eventlog.TurnRow{Turn: "t_1", First: 1, Last: 501}
	commit(t, s, &eventlog.Batch{
		Session: "a", Events: [][]byte{[]byte("end\n")}, First: 501, Last: 501, Turns: []eventlog.TurnRow{turn},
	})
	waitForMerge(t, s)
	if got := read(t, s, "a", 0, 500); !bytes.Equal(got, all) {
		t.Error("events differ from those that were committed")
	}
}

// waitForMerge waits until the session "a" has few chunks.
func waitForMerge(t *testing.T, s *sqlite.Store) {
	t.Helper()
	for {
		n, err := s.Chunks(t.Context(), "a") // fails when the test's time is over
		if err != nil {
			t.Fatalf("%d chunks: %v", n, err)
		}
		if n < 10 {
			break
		}
		runtime.Gosched()
	}
}

// The next run merges the chunks that a closed store left.
func TestTheNextRunMergesWhatAClosedStoreLeft(t *testing.T) {
	dir := t.TempDir()
	var all []byte
	unmerged := func() int { return queryInt(t, dir, "SELECT count(*) FROM unmerged") }
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		all = commitSlowly(t, s, "a", 500)
		commit(t, s, create("b"), &eventlog.Batch{Session: "b", Delete: true})
		s.AddTurn("a", 1, 200)
		s.AddTurn("a", 201, 500)
		s.AddTurn("b", 1, 10)
	})
	if n := unmerged(); n != 2 {
		t.Errorf("%d turns are left to the next run, want 2", n)
	}
	execSQL(t, dir, "INSERT INTO unmerged (key, last) VALUES ((1 << 40) + 7, 1 << 50), (5 << 40, 3)") // damaged
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		waitForMerge(t, s)
		if got := read(t, s, "a", 0, 500); !bytes.Equal(got, all) {
			t.Error("events differ from those that were committed")
		}
	})
	// The last one may have been closed before it was known to be merged.
	if _, found := checkFile(t, filepath.Join(dir, dbFile), false); found != nil || unmerged() > 1 {
		t.Errorf("%q; %d turns are left", found, unmerged())
	}
}

// A damaged chunk stays, so that the damage is found, and the chunks around it are merged.
func TestADamagedChunkIsNotMerged(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commitSlowly(t, s, "a", 100) })
	damaged := func() int { return queryInt(t, dir, "SELECT count(*) FROM chunk WHERE crc = 1") }
	execSQL(t, dir, "UPDATE chunk SET crc = 1 WHERE last = 50")
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		if err := s.Merge(context.Background(), "a", 1, 100); err != nil {
			t.Fatal(err)
		}
		if err := s.Merge(context.Background(), "gone", 1, 100); err != nil {
			t.Errorf("a session that was removed: %v", err)
		}
		if _, _, err := s.Read(context.Background(), "a", 49, 51, false, 1<<20, nil); err == nil {
			t.Error("a damaged event is read")
		}
	})
	if n := damaged(); n != 1 {
		t.Errorf("%d damaged chunks, want 1", n)
	}
	if rows := queryInt(t, dir, "SELECT count(*) FROM chunk"); rows != 3 {
		t.Errorf("%d chunks, want 3", rows)
	}
}
