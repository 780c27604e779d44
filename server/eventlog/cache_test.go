package eventlog

import (
	"bytes"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

// countingStore counts the reads of a memStore, and the events in them.
type countingStore struct {
	*memStore
	reads, events atomic.Int64
}

func (c *countingStore) Read(
	ctx context.Context, id string, after, through uint64, folded bool, most int, dst []byte,
) ([]byte, uint64, error) {
	lines, last, err := c.memStore.Read(ctx, id, after, through, folded, most, dst)
	c.reads.Add(1)
	c.events.Add(int64(last - after))
	return lines, last, err
}

// foldedLines is the number of lines of storedLog; all except the first have a fold.
const foldedLines = 50

// storedLog returns a log with the given number of lines in a store and none in memory.
func storedLog(store *countingStore, cache *Cache, lines int) *Log {
	for seq := range lines {
		store.add(lineOf(uint64(seq+1), 0, 300))
	}
	for first := 0; first+foldedLines <= lines; first += foldedLines {
		store.addFold(uint64(first+2), uint64(first+foldedLines))
	}
	return NewLog("s", "e", store, cache, uint64(lines))
}

func readLog(t *testing.T, l *Log, folded bool, most int) (got []byte) {
	t.Helper()
	for after, last := uint64(0), l.Position().Seq; after < last; {
		lines, upto, err := l.Read(t.Context(), after, folded, most)
		if err != nil || upto <= after {
			t.Errorf("after %d: to %d, %v", after, upto, err)
			return nil
		}
		got, after = append(got, lines...), upto
	}
	return got
}

// all returns the content of a log, as the store has it.
func (c *countingStore) all(folded bool) []byte {
	lines, _ := c.read(0, uint64(len(c.lines)), folded, math.MaxInt, nil)
	return lines
}

func TestReadersShareTheReadsOfTheStore(t *testing.T) {
	const lines = 5_000
	for _, folded := range []bool{false, true} {
		store := &countingStore{memStore: &memStore{}}
		cache := NewCache(64 << 20)
		l := storedLog(store, cache, lines)
		all := store.all(folded)
		var readers sync.WaitGroup
		for i := range 20 {
			readers.Go(func() {
				if got := readLog(t, l, folded, 10_000+3000*i); !bytes.Equal(got, all) {
					t.Errorf("folded %v: read %d bytes of %d", folded, len(got), len(all))
				}
			})
		}
		readers.Wait()
		if n := store.events.Load(); n != lines {
			t.Errorf("folded %v: %d events were read from the store, not %d", folded, n, lines)
		}
		if most := int64(len(all)/(cacheRead-10_000) + 2); store.reads.Load() > most {
			t.Errorf("folded %v: %d reads of the store, at most %d", folded, store.reads.Load(), most)
		}
		cache.end(l)
		if !bytes.Equal(readLog(t, l, folded, cacheRead), all) { // a connection may still read
			t.Errorf("folded %v: the log is not read after its end", folded)
		}
		if cache.bytes != 0 || cache.recent.Len() != 0 || len(cache.views) != 0 {
			t.Errorf("folded %v: %d bytes are left in the cache", folded, cache.bytes)
		}
	}
}

func TestTheCacheKeepsTheNewestReadsWithinItsBudget(t *testing.T) {
	for _, most := range []int64{0, 100 << 10, 1 << 20} {
		for _, folded := range []bool{false, true} {
			store := &countingStore{memStore: &memStore{}}
			cache := NewCache(most)
			cold := storedLog(store, cache, 10_000)
			hot := storedLog(&countingStore{memStore: &memStore{}}, cache, 1000)
			for range 2 {
				if got, all := readLog(t, cold, folded, 64<<10), store.all(folded); !bytes.Equal(got, all) {
					t.Errorf("budget %d, folded %v: read %d bytes of %d", most, folded, len(got), len(all))
				}
				readLog(t, hot, folded, 64<<10)
				if int64(cache.bytes) > most {
					t.Errorf("%d bytes in the cache of %d", cache.bytes, most)
				}
			}
			before := hot.store.(*countingStore).reads.Load()
			readLog(t, hot, folded, 64<<10)
			if again := hot.store.(*countingStore).reads.Load() - before; (again == 0) != (most == 1<<20) {
				t.Errorf("budget %d, folded %v: what was read last is read again %d times", most, folded, again)
			}
		}
	}
}

// A reader whose place is in a fold, as of a client that reconnects, gets the other events of the
// fold and then folds. It shares them with readers of the whole log.
func TestAReaderWithinAFoldIsGivenItsEvents(t *testing.T) {
	const lines, after = 1000, 10 * foldedLines
	for _, start := range []uint64{after + 1, after + 2, after + foldedLines/2, after + foldedLines - 1} {
		store := &countingStore{memStore: &memStore{}}
		l := storedLog(store, NewCache(64<<20), lines)
		var got []byte
		for at := start; at < lines; {
			part, last, err := l.Read(t.Context(), at, true, 1000)
			if err != nil || last <= at {
				t.Fatal(last, err)
			}
			got, at = append(got, part...), last
		}
		if want, _ := store.read(start, lines, true, math.MaxInt, nil); !bytes.Equal(got, want) {
			t.Errorf("after %d: %d bytes, want %d", start, len(got), len(want))
		}
		if got := readLog(t, l, true, 64<<10); !bytes.Equal(got, store.all(true)) {
			t.Errorf("the whole log after it: %d bytes", len(got))
		}
	}
}

// A canceled reader does not wait for another reader's read of the store.
func TestAReaderOfTheStoreCanBeCanceled(t *testing.T) {
	store := &countingStore{memStore: &memStore{}}
	l := storedLog(store, NewCache(1<<20), 10)
	l.reading <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Read(ctx, 0, false, 1000); err == nil {
		t.Error("read without the right to")
	}
	<-l.reading
	if len(readLog(t, l, false, 1000)) == 0 {
		t.Error("nothing is read afterwards")
	}
}

// damagedStore fails to read one event. Like the store, it then fails every read that would include
// the event.
type damagedStore struct {
	*memStore
	at uint64
}

func (d *damagedStore) Read(
	ctx context.Context, id string, after, through uint64, folded bool, most int, dst []byte,
) ([]byte, uint64, error) {
	lines, last, err := d.memStore.Read(ctx, id, after, through, folded, most, dst)
	if err == nil && after < d.at && d.at <= last {
		return dst, after, &CorruptError{First: d.at, Last: d.at}
	}
	return lines, last, err
}

func TestLinesBeforeDamageAreRead(t *testing.T) {
	for _, folded := range []bool{false, true} {
		store := &damagedStore{&memStore{}, 500}
		for seq := range 1000 {
			store.add(lineOf(uint64(seq+1), 0, 300))
		}
		for first := uint64(1); first < 1000; first += 10 {
			store.addFold(first, first+9)
		}
		l := NewLog("s", "e", store, NewCache(64<<20), 1000)
		after := uint64(0)
		for {
			_, last, err := l.Read(t.Context(), after, folded, 4<<10)
			if err != nil {
				break
			}
			after = last
		}
		if after < 480 || after >= 500 || folded && after%10 != 0 {
			t.Errorf("folded %v: events up to %d were read, 500 is damaged", folded, after)
		}
	}
}
