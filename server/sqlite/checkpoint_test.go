package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

func walSize(t testing.TB, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, walFile))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// waitFor polls done for at most a minute.
func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("timeout: %s", what)
		}
	}
}

func TestAQuietStoreEmptiesItsLog(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, sqlite.Options{}.WithInterval(time.Millisecond))
	commit(t, s, create("a"), events("a", 1, 1000))
	waitFor(t, "write-ahead log is empty", func() bool { return walSize(t, dir) == 0 })
	commit(t, s, events("a", 1001, 1001))
	waitFor(t, "write-ahead log is empty again", func() bool { return walSize(t, dir) == 0 })
}

func TestTheLogStaysBoundedUnderLoadWithReaders(t *testing.T) {
	for each, commits := range map[uint64]uint64{1: 1500, 200: 250} { // each commits many times the limit
		t.Run(fmt.Sprint(each), func(t *testing.T) {
			const limit = 1 << 20
			dir := t.TempDir()
			s := open(t, dir, sqlite.Options{}.WithWALLimit(limit))
			commit(t, s, create("a"))
			ctx, cancel := context.WithCancel(t.Context())
			var readers sync.WaitGroup
			for range 2 {
				readers.Go(func() { readLoop(ctx, t, s) })
			}
			data, largest := eventLines(int(each)), int64(0)
			for i := range commits {
				commit(t, s, &eventlog.Batch{
					Session: "a", Events: [][]byte{data}, First: i*each + 1, Last: (i + 1) * each,
				})
				largest = max(largest, walSize(t, dir))
			}
			cancel()
			readers.Wait()
			if largest > 4*limit {
				t.Errorf("write-ahead log grew to %d KiB", largest>>10)
			}
		})
	}
}

// readLoop reads the log of "a" repeatedly until ctx ends.
func readLoop(ctx context.Context, t *testing.T, s session.Store) {
	var buf []byte
	for at := uint64(0); ctx.Err() == nil; {
		var err error
		before := at
		if buf, at, err = s.Read(context.Background(), "a", at, 1<<39, false, 64<<10, buf[:0]); err != nil {
			t.Error(err)
			return
		}
		if at == before {
			at = 0
		}
	}
}

// A warningHandler sends logged messages to its channel.
type warningHandler chan string

func (w warningHandler) Enabled(context.Context, slog.Level) bool { return true }
func (w warningHandler) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w warningHandler) WithGroup(string) slog.Handler            { return w }
func (w warningHandler) Handle(_ context.Context, r slog.Record) error {
	select {
	case w <- r.Message:
	default:
	}
	return nil
}

func TestACheckpointThatFindsNoSpaceIsTriedAgain(t *testing.T) {
	dir, warnings := t.TempDir(), make(warningHandler, 1)
	s := open(t, dir, sqlite.Options{Log: slog.New(warnings)}.WithInterval(time.Millisecond))
	commit(t, s, create("a"))
	stop := injectFault(t, failOn("write", dbFile, sqlite3.SQLITE_FULL))
	commit(t, s, events("a", 1, 1000))
	select {
	case <-warnings:
	case <-time.After(time.Minute):
		t.Fatal("no warning")
	}
	commit(t, s, events("a", 1001, 1002))
	stop()
	waitFor(t, "write-ahead log is empty", func() bool { return walSize(t, dir) == 0 })
}

func TestCommitsReadsAndForgettingGoOnAtOnce(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{}.WithInterval(time.Millisecond))
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		commit(t, s, create(id))
	}
	const last = 600
	ctx := context.Background()
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			for seq := uint64(1); seq <= last; seq += 2 {
				b := events(id, seq, seq+1)
				b.Folds = []eventlog.Fold{{First: seq, Last: seq + 1, Line: lines(seq, seq+1)}}
				b.Answers = []eventlog.Answer{{Key: id, Session: id, At: noon}}
				b.Snapshot, b.SnapSeq = lines(1, 1), seq+1
				if err := s.Commit([]*eventlog.Batch{b}); err != nil {
					t.Error(err)
					return
				}
			}
		})
		for _, folded := range []bool{false, true} {
			all.Go(func() {
				var got []byte
				for at := uint64(0); at < last; {
					var err error
					if got, at, err = s.Read(ctx, id, at, last, folded, 300, got); err != nil {
						t.Error(err)
						return
					}
					r, err := s.Session(ctx, id)
					if err != nil || r.Head < at || r.SnapSeq != r.Head {
						t.Errorf("head %d, snapshot %d after reading %d: %v", r.Head, r.SnapSeq, at, err)
					}
				}
				if string(got) != string(lines(1, last)) {
					t.Errorf("events of %s: %d bytes", id, len(got))
				}
			})
		}
	}
	all.Go(func() {
		for range 50 {
			if err := s.PruneAnswers(ctx, noon.Add(time.Hour)); err != nil {
				t.Error(err)
			}
			if _, err := s.Answer(ctx, "a"); err != nil && !errors.Is(err, eventlog.ErrNotFound) {
				t.Error(err)
			}
		}
	})
	all.Wait()
}
