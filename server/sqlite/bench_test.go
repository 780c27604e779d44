package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// eventLines returns n event lines of 250 bytes.
func eventLines(n int) []byte {
	line := append(bytes.Repeat([]byte{'x'}, 249), '\n')
	return bytes.Repeat(line, n)
}

func BenchmarkCommit(b *testing.B) {
	for _, sync := range []sqlite.Sync{sqlite.Normal, sqlite.Full} {
		for _, n := range []int{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("sync=%s/events=%d", sync, n), func(b *testing.B) {
				s := open(b, b.TempDir(), sqlite.Options{Sync: sync})
				commit(b, s, create("a"))
				data, next := eventLines(n), uint64(1)
				b.ReportAllocs()
				for b.Loop() {
					last := next + uint64(n) - 1
					commit(b, s, &session.Batch{Session: "a", Events: data, First: next, Last: last})
					next = last + 1
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// BenchmarkCommitSnapshot replaces a snapshot of 100 KiB with each commit, like the end of a turn.
func BenchmarkCommitSnapshot(b *testing.B) {
	s := open(b, b.TempDir(), sqlite.Options{})
	commit(b, s, create("a"))
	data, snapshot, next := eventLines(10), bytes.Repeat([]byte{'s'}, 100<<10), uint64(1)
	for b.Loop() {
		commit(b, s, &session.Batch{
			Session: "a", Events: data, First: next, Last: next + 9, Snapshot: snapshot, SnapSeq: next + 9,
		})
		next += 10
	}
}

// BenchmarkCatchUp reads 100,000 events in batches of 64 KiB, like a connection.
func BenchmarkCatchUp(b *testing.B) {
	const total = 100_000
	for _, batch := range []int{1, 10, 100, 1000} {
		for _, folded := range []bool{false, true} {
			b.Run(fmt.Sprintf("batch=%d/folded=%t", batch, folded), func(b *testing.B) {
				s := open(b, b.TempDir(), sqlite.Options{})
				commit(b, s, create("a"))
				fillLog(b, s, total, batch)
				buf := make([]byte, 0, 256<<10)
				b.ReportAllocs()
				for b.Loop() {
					for at := uint64(0); at < total; {
						var err error
						if buf, at, err = s.Read(context.Background(), "a", at, total, folded, 64<<10,
							buf[:0]); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(total*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// fillLog commits total events, with a fold of 4 KiB for 99 of every 100.
func fillLog(b *testing.B, s session.Store, total, batch int) {
	data := eventLines(batch)
	fold := append(bytes.Repeat([]byte{'f'}, 4095), '\n')
	var batches []*session.Batch
	for first := 1; first <= total; first += batch {
		next := &session.Batch{Session: "a", Events: data, First: uint64(first), Last: uint64(first + batch - 1)}
		for end := (first + 99) / 100 * 100; end < first+batch; end += 100 {
			next.Folds = append(next.Folds, session.Fold{First: uint64(end - 98), Last: uint64(end), Line: fold})
		}
		if batches = append(batches, next); len(batches) == 1000 {
			commit(b, s, batches...)
			batches = batches[:0]
		}
	}
	commit(b, s, batches...)
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	withStore(b, dir, sqlite.Options{}, func(s *sqlite.Store) {
		for i := range 1000 {
			commit(b, s, create(fmt.Sprint(i)), events(fmt.Sprint(i), 1, 10))
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		withStore(b, dir, sqlite.Options{}, func(s *sqlite.Store) {
			if _, err := s.Sessions(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
