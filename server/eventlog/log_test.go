package eventlog

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// lineOf returns a line for a seq, different for each attempt.
func lineOf(seq uint64, attempt, size int) []byte {
	return fmt.Appendf(nil, `{"session":"s","seq":%d,"attempt":%d,"text":"%s"}`+"\n", seq, attempt,
		strings.Repeat("x", size))
}

func TestTheLogReadsWhatWasPublishedAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := &memStore{}
		cache := NewCache(rapid.SampledFrom([]int64{0, 100 << 10, 1 << 20, 64 << 20}).Draw(t, "cache"))
		l := NewLog("s", "e", store, cache, 0)
		var durable, open [][]byte // up to visible, and beyond
		var handed, copies [][]byte
		attempt, folds := 0, uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "lines") {
					attempt++
					size := rapid.SampledFrom([]int{0, 10, 3000, 5000, 70 << 10, 200 << 10}).Draw(t, "size")
					line := lineOf(uint64(len(durable)+len(open)+1), attempt, size)
					l.append(line, false)
					open = append(open, line)
				}
			},
			"publish": func(t *rapid.T) {
				n := rapid.IntRange(0, len(open)).Draw(t, "how many")
				store.add(open[:n]...)
				durable, open = append(durable, open[:n]...), open[n:]
				for folds+2 < uint64(len(durable)) && rapid.Bool().Draw(t, "fold") {
					first := rapid.Uint64Range(folds+1, min(folds+10, uint64(len(durable)-1))).Draw(t, "first")
					folds = rapid.Uint64Range(first+1, min(first+100, uint64(len(durable)))).Draw(t, "last")
					store.addFold(first, folds)
					l.folds.Store(folds)
				}
				l.publish(uint64(len(durable)))
			},
			"roll back": func(*rapid.T) {
				l.rollback()
				open = nil
			},
			"release": func(*rapid.T) { l.release() },
			"load again": func(*rapid.T) {
				cache.end(l)
				l = NewLog("s", "e", store, cache, uint64(len(durable)))
				open, folds = nil, uint64(len(durable))
			},
			"": func(t *rapid.T) {
				if at := l.Position(); at.Seq != uint64(len(durable)) {
					t.Fatalf("visible %d, want %d", at.Seq, len(durable))
				}
				after := rapid.Uint64Range(0, uint64(len(durable)+2)).Draw(t, "after")
				most := rapid.SampledFrom([]int{1, 100, 64 << 10, 1 << 20}).Draw(t, "max")
				folded := rapid.Bool().Draw(t, "folded")
				lines, _, inMemory := l.tail(after, uint64(len(durable)), most)
				if inMemory {
					handed, copies = append(handed, lines), append(copies, bytes.Clone(lines))
				}
				got, last, err := l.Read(context.Background(), after, folded, most)
				if err != nil {
					t.Fatal(err)
				}
				if after >= uint64(len(durable)) {
					if len(got) != 0 || last != after {
						t.Fatalf("read %d bytes to %d after the end", len(got), last)
					}
					return
				}
				if inMemory && after+catchUpDistance > uint64(len(durable)) || after >= folds {
					folded = false
				}
				want, _ := store.read(after, last, folded, math.MaxInt, nil)
				if last <= after || !bytes.Equal(got, want) {
					t.Fatalf("read after %d to %d: %d bytes, want %d", after, last, len(got), len(want))
				}
				if start := store.fold(after + 1).First; folded && (start == 0 || start > after) {
					if f := store.fold(last); f.Last > last {
						t.Fatalf("read after %d to %d, within the fold of %d to %d", after, last, f.First, f.Last)
					}
				}
				if _, next := store.read(after, last, folded, most, nil); next != last {
					t.Fatalf("read to %d more than %d bytes, which are to %d", last, most, next)
				}
				held := 0
				for e := cache.recent.Front(); e != nil; e = e.Next() {
					held += e.Value.(*cached).size()
				}
				if held != cache.bytes || held > cache.most {
					t.Fatalf("%d bytes in the cache, %d counted, at most %d", held, cache.bytes, cache.most)
				}
			},
		})
		for i := range handed {
			if !bytes.Equal(handed[i], copies[i]) {
				t.Fatalf("returned bytes changed: %.40q, were %.40q", handed[i], copies[i])
			}
		}
		if l.bytes > 2*tailBytes+len(bytes.Join(open, nil))+maxSegment {
			t.Fatalf("%d bytes in memory", l.bytes)
		}
	})
}

func TestReadersSeeEveryLineOnceWhileTheLogIsWritten(t *testing.T) {
	const end = 5000
	store := &memStore{}
	l := NewLog("s", "e", store, NewCache(300<<10), 0)
	var readers sync.WaitGroup
	for reader := range 3 {
		readers.Go(func() {
			w := make(wakeChan, 1)
			l.AddReader(w)
			defer l.RemoveReader(w)
			for after := uint64(0); after < end; {
				lines, last, err := l.Read(t.Context(), after, reader == 0, 4<<10)
				if err != nil {
					t.Error(err)
					return
				}
				for line := range bytes.Lines(lines) {
					after++
					if want := lineOf(after, 0, int(after%300)); !bytes.Equal(line, want) {
						t.Errorf("line %d is %.40q", after, line)
						return
					}
				}
				if after != last {
					t.Errorf("%d lines, want %d", after, last)
					return
				}
				if len(lines) == 0 {
					<-w
				}
			}
		})
	}
	for seq := uint64(1); seq <= end; {
		if seq%7 == 0 { // rolled back, never visible
			l.append(lineOf(seq, 1, 100), false)
			l.append(lineOf(seq+1, 1, 100), false)
			l.rollback()
		}
		for range 1 + seq%13 {
			if seq <= end {
				line := lineOf(seq, 0, int(seq%300))
				l.append(line, false)
				store.add(line)
				seq++
			}
		}
		l.publish(seq - 1)
	}
	readers.Wait()
	if len(l.readers) != 0 {
		t.Errorf("%d readers left", len(l.readers))
	}
}

// wakeChan is a Waker on a channel.
type wakeChan chan struct{}

func (w wakeChan) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

func TestTheNewestEventsAreReadFromMemory(t *testing.T) {
	l := NewLog("s", "e", nil, NewCache(4<<20), 0) // a call of the nil store would panic
	read := func(after uint64, folded bool) (got []byte) {
		for last := l.Position().Seq; after < last; {
			lines, upto, err := l.Read(context.Background(), after, folded, 64<<10)
			if err != nil || upto <= after {
				t.Fatalf("after %d: %d bytes up to %d, %v", after, len(lines), upto, err)
			}
			got, after = append(got, lines...), upto
		}
		return got
	}
	var all []byte
	lines := uint64(0)
	add := func(size int) {
		lines++
		line := lineOf(lines, 0, size)
		l.append(line, false)
		all = append(all, line...)
	}
	for len(all) < tailBytes/2 {
		add(5000)
		l.publish(lines)
	}
	if got := read(0, false); !bytes.Equal(got, all) {
		t.Errorf("read %d bytes of %d", len(got), len(all))
	}
	for len(all) < 4*tailBytes {
		add(5000)
		l.publish(lines)
	}
	if l.bytes > tailBytes+maxSegment || l.bytes < tailBytes-maxSegment {
		t.Errorf("%d bytes are in memory", l.bytes)
	}
	if got := read(0, false); !bytes.Equal(got, all) {
		t.Errorf("read %d bytes of %d, of which the log has dropped some", len(got), len(all))
	}
	near := lines - catchUpDistance + 1 // within this distance readers read from memory, folding or not
	for _, folded := range []bool{false, true} {
		if got := read(near, folded); !bytes.HasSuffix(all, got) || bytes.Count(got, []byte("\n")) != int(lines-near) {
			t.Errorf("folded %v: read %d bytes", folded, len(got))
		}
	}
}

func TestTheFirstEventOfALogTakesLittleMemory(t *testing.T) {
	const logs, most = 200, 1 << 10
	line := lineOf(1, 0, 250)
	kept := make([]*Log, logs)
	for i := range kept {
		kept[i] = NewLog("s", "e", nil, nil, 0)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, l := range kept {
		l.append(line, false)
	}
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	if size := (after.TotalAlloc - before.TotalAlloc) / logs; size > most {
		t.Errorf("the first event allocates %d bytes, more than %d", size, most)
	}
}
