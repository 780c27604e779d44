package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// eventLines returns n event lines of about 250 bytes, with seqs from 1. Half of each is as in the
// line before it; the rest is text of 2,000 words.
func eventLines(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for i := range n {
		b = fmt.Appendf(b, `{"v":1,"session":"a","seq":%d,"time":"2026-11-23T06:45:24.%09dZ","turn":"t_01kf2j3h4k",`+
			`"type":"text.delta","data":{"part":"p1","text":"`, i+1, random.IntN(1e9))
		for range 14 {
			b = append(strconv.AppendUint(b, random.Uint64N(2000)*2654435, 32), ' ')
		}
		b = append(b, "\"}}\n"...)
	}
	return b
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
					commit(b, s, &eventlog.Batch{Session: "a", Events: [][]byte{data}, First: next, Last: last})
					next = last + 1
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// BenchmarkCommitSessions commits one event of each of many sessions in one transaction, as of
// models that write slower than the store commits.
func BenchmarkCommitSessions(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			s := open(b, b.TempDir(), sqlite.Options{})
			batches := make([]*eventlog.Batch, n)
			for i := range batches {
				id := fmt.Sprintf("s_01kf2j3h4k%04d", i)
				commit(b, s, create(id))
				batches[i] = &eventlog.Batch{Session: id, Events: [][]byte{eventLines(1)}}
			}
			b.ReportAllocs()
			for seq := uint64(1); b.Loop(); seq++ {
				for _, batch := range batches {
					batch.First, batch.Last = seq, seq
				}
				commit(b, s, batches...)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*n), "µs/event")
		})
	}
}

// BenchmarkCommitSnapshot replaces a snapshot of 100 KiB with each commit, like the end of a turn.
func BenchmarkCommitSnapshot(b *testing.B) {
	s := open(b, b.TempDir(), sqlite.Options{})
	commit(b, s, create("a"))
	data, snapshot, next := eventLines(10), bytes.Repeat([]byte{'s'}, 100<<10), uint64(1)
	for b.Loop() {
		commit(b, s, &eventlog.Batch{
			Session: "a", Events: [][]byte{data}, First: next, Last: next + 9, Snapshot: snapshot, SnapSeq: next + 9,
		})
		next += 10
	}
}

// BenchmarkCommitSummary replaces the summary of a session whose agent has saved 88 KB.
func BenchmarkCommitSummary(b *testing.B) {
	s := open(b, b.TempDir(), sqlite.Options{})
	saved := create("a")
	saved.Create.Spec = eventLines(330)
	commit(b, s, saved)
	for i := 0; b.Loop(); i++ {
		commit(b, s, &eventlog.Batch{Session: "a", Summary: fmt.Appendf(nil, `{"session":"a","seq":%d}`, i)})
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
	var batches []*eventlog.Batch
	for first := 1; first <= total; first += batch {
		next := &eventlog.Batch{
			Session: "a", Events: [][]byte{data}, First: uint64(first), Last: uint64(first + batch - 1),
		}
		for end := (first + 99) / 100 * 100; end < first+batch; end += 100 {
			next.Folds = append(next.Folds, eventlog.Fold{First: uint64(end - 98), Last: uint64(end), Line: fold})
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
			if _, err := sessions(context.Background(), s); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkMerge measures the merge of the chunks of a turn whose events were committed one by one.
func BenchmarkMerge(b *testing.B) {
	const n = 1000
	s := open(b, b.TempDir(), sqlite.Options{})
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		id := fmt.Sprint("a", i)
		commit(b, s, create(id))
		seq := uint64(0)
		for line := range bytes.Lines(eventLines(n)) {
			seq++
			commit(b, s, &eventlog.Batch{Session: id, Events: [][]byte{line}, First: seq, Last: seq})
		}
		b.StartTimer()
		if err := s.Merge(b.Context(), id, 1, n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*n), "µs/event")
}
