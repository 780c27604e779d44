package protolog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	// Each check moves many megabytes. A flag on the command line takes precedence.
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestLogLimits(t *testing.T) {
	zeros := make([]byte, 2*MaxFrameBytes)
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog()
		size := rapid.SampledFrom([]int{0, 1, 900, MaxFrameBytes / 3, 2 * MaxFrameBytes})
		sizes := rapid.SliceOfN(size, 1, 12).Draw(t, "sizes")
		copies := rapid.SampledFrom([]int{1, 7, 120}).Draw(t, "copies")
		n := uint64(0)
		for range copies {
			for _, size := range sizes {
				l.AddFrame(noon, true, false, zeros[:size:size])
				n++
			}
		}
		var got []Frame
		for at := uint64(0); at < n; {
			frames, err := l.After(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, frames...)
			at = frames[len(frames)-1].Number
		}
		total := 0
		for i, f := range got {
			total += len(f.Data)
			if want := n - uint64(len(got)-1-i); f.Number != want {
				t.Fatalf("frame %d: got number %d, want %d: no gaps up to the newest", i, f.Number, want)
			}
			if want := sizes[(int(f.Number)-1)%len(sizes)]; f.Size != want || len(f.Data) != min(want, MaxFrameBytes) {
				t.Fatalf("frame %d: got size %d and %d bytes, want size %d", f.Number, f.Size, len(f.Data), want)
			}
		}
		if len(got) > MaxFrames || total > MaxBytes {
			t.Fatalf("%d frames, %d bytes: over the limits", len(got), total)
		}
		if len(got) < int(min(n, MaxFrames)) && total+MaxFrameBytes < MaxBytes-MaxFrameBytes {
			t.Fatalf("%d frames of %d, %d bytes: more would fit", len(got), n, total)
		}
	})
}

func TestReaderNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLog()
		r := NewReader(l)
		got := make(chan Batch)
		go func() {
			for {
				batch, err := r.Next(t.Context())
				if err != nil {
					return
				}
				got <- batch
			}
		}()
		synctest.Wait()
		for i := range 3 {
			l.AddFrame(noon, false, false, fmt.Appendf(nil, `{"type":"t%d"}`, i))
			if batch := <-got; len(batch.Messages) != 1 || batch.Messages[0].Label != fmt.Sprintf("t%d", i) {
				t.Errorf("got %+v, want a message of type t%d", batch, i)
			}
		}
	})
}

func TestLogAfterContextCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewLog().After(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestLogWriteJSON(t *testing.T) {
	l := NewLog("s3cr3t-value")
	l.AddNote(noon, "opened ws://host/v1/ws?token=abcdef")
	l.AddFrame(noon, true, false, []byte(`{"id":"1","command":"hello","data":{"name":"s3cr3t-value"}}`))
	l.AddFrame(noon, false, false, []byte("{\"a\":1}\n{\"b\":2}"))
	l.AddFrame(noon, false, true, []byte{0, 1, 2})
	var out bytes.Buffer
	n, err := l.WriteJSON(&out)
	if err != nil || n != 4 {
		t.Fatalf("got %d frames, error %v, want 4 frames", n, err)
	}
	want := []string{
		`{"frame":1,"time":"2026-03-04T12:00:00Z","note":"opened ws://host/v1/ws?token=‹hidden›"}`,
		`{"frame":2,"time":"2026-03-04T12:00:00Z","direction":"sent","size":59,` +
			`"message":{"id":"1","command":"hello","data":{"name":"‹hidden›"}}}`,
		`{"frame":3,"time":"2026-03-04T12:00:00Z","direction":"received","size":15,"text":"{\"a\":1}\n{\"b\":2}"}`,
		`{"frame":4,"time":"2026-03-04T12:00:00Z","direction":"received","size":3,"binary":"AAEC"}`,
	}
	if got := strings.TrimSpace(out.String()); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for line := range bytes.Lines(out.Bytes()) {
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// BenchmarkAdd measures the cost of logging one frame.
func BenchmarkAdd(b *testing.B) {
	l := NewLog()
	frame := []byte(`{"session":"s_tkpaa93t0aw0h66y","seq":219,"time":"2026-03-04T12:00:00Z",` +
		`"type":"text.delta","data":{"part":"t","text":"word"}}`)
	b.ReportAllocs()
	for b.Loop() {
		l.AddFrame(noon, false, false, frame)
	}
}
