package session

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// pagedStore is a Store with the lines of one log.
type pagedStore struct {
	Store
	mu    sync.Mutex
	lines [][]byte
}

func (p *pagedStore) add(lines ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, lines...)
}

func (p *pagedStore) Read(
	_ context.Context,
	_ string,
	after, through uint64,
	_ bool,
	max int,
	dst []byte,
) ([]byte, uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := memSession{lines: p.lines, rec: Record{Head: uint64(len(p.lines))}}
	dst, last := s.read(after, through, false, max, dst)
	return dst, last, nil
}

// lineOf returns a line for a seq, different for each attempt.
func lineOf(seq uint64, attempt, size int) []byte {
	return fmt.Appendf(nil, "%d %d %s\n", seq, attempt, strings.Repeat("x", size))
}

func TestTheLogReadsWhatWasPublishedAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := &pagedStore{}
		l := newLog("s", "e", store, 0)
		var durable, open [][]byte // up to visible, and beyond
		var handed, copies [][]byte
		attempt := 0
		var buf []byte
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "lines") {
					attempt++
					size := rapid.SampledFrom([]int{0, 10, 3000, 5000, 70 << 10, 200 << 10}).Draw(t, "size")
					line := lineOf(uint64(len(durable)+len(open)+1), attempt, size)
					l.append(line)
					open = append(open, line)
				}
			},
			"publish": func(t *rapid.T) {
				n := rapid.IntRange(0, len(open)).Draw(t, "how many")
				store.add(open[:n]...)
				durable, open = append(durable, open[:n]...), open[n:]
				l.publish(uint64(len(durable)))
			},
			"roll back": func(*rapid.T) {
				l.rollback()
				open = nil
			},
			"": func(t *rapid.T) {
				if at := l.Position(); at.Seq != uint64(len(durable)) {
					t.Fatalf("visible %d, want %d", at.Seq, len(durable))
				}
				after := rapid.Uint64Range(0, uint64(len(durable)+2)).Draw(t, "after")
				most := rapid.SampledFrom([]int{1, 100, 64 << 10, 1 << 20}).Draw(t, "max")
				folded := rapid.Bool().Draw(t, "folded")
				got, last, err := l.Read(context.Background(), after, folded, most, buf)
				if err != nil {
					t.Fatal(err)
				}
				if after >= uint64(len(durable)) {
					if len(got) != 0 || last != after {
						t.Fatalf("read %d bytes to %d after the end", len(got), last)
					}
					return
				}
				want := bytes.Join(durable[after:last], nil)
				if last <= after || !bytes.Equal(got, want) {
					t.Fatalf("read after %d to %d: %d bytes, want %d", after, last, len(got), len(want))
				}
				if len(got) > most && last > after+1 {
					t.Fatalf("%d bytes of at most %d", len(got), most)
				}
				if lines, _, ok := l.tail(after, most); ok {
					handed, copies = append(handed, lines), append(copies, bytes.Clone(lines))
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
	store := &pagedStore{}
	l := newLog("s", "e", store, 0)
	var readers sync.WaitGroup
	for reader := range 3 {
		readers.Go(func() {
			w := make(wakeChan, 1)
			l.addReader(w)
			defer l.removeReader(w)
			var buf []byte
			for after := uint64(0); after < end; {
				lines, last, err := l.Read(t.Context(), after, reader == 0, 4<<10, buf)
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
			l.append(lineOf(seq, 1, 100))
			l.append(lineOf(seq+1, 1, 100))
			l.rollback()
		}
		for range 1 + seq%13 {
			if seq <= end {
				line := lineOf(seq, 0, int(seq%300))
				l.append(line)
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
	l := newLog("s", "e", nil, 0) // a call of the nil store would panic
	read := func(after uint64, folded bool) (got []byte) {
		for last := l.Position().Seq; after < last; {
			lines, upto, err := l.Read(context.Background(), after, folded, 64<<10, nil)
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
		l.append(line)
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
	near := lines - catchUpDistance + 1 // within this distance readers read from memory, folding or not
	for _, folded := range []bool{false, true} {
		if got := read(near, folded); !bytes.HasSuffix(all, got) || bytes.Count(got, []byte("\n")) != int(lines-near) {
			t.Errorf("folded %v: read %d bytes", folded, len(got))
		}
	}
}
