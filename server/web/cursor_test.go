package web

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

func TestEventsOfAStreamHaveTheirPositions(t *testing.T) {
	var lines []byte
	want := []string{}
	for i, name := range []string{"s1", `a "quoted","seq":7, name`, `\`, "ü\u2028"} {
		e := protocol.Event{
			Session: name, Seq: uint64(i)*1000 + 1, FirstSeq: 1, Type: protocol.TextDelta, Turn: `t,"seq":9`,
			Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p", Text: `"seq":5`}),
		}
		lines = append(e.AppendJSON(lines), '\n')
		want = append(want, "id: "+protocol.Position{Epoch: "e", Seq: e.Seq}.String())
	}
	w := httptest.NewRecorder()
	s := newStream(context.Background(), &deadlines{w})
	for range 2 { // the second time with buffers that are used again
		w.Body.Reset()
		s.writeEvents("e", lines)
		if s.err != nil {
			t.Fatal(s.err)
		}
		events := strings.Split(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n")
		if len(events) != len(want) {
			t.Fatalf("%d events: %q", len(events), events)
		}
		for i, text := range events {
			id, data, _ := strings.Cut(text, "\ndata: ")
			var e protocol.Event
			if id != want[i] || json.Unmarshal([]byte(data), &e) != nil || e.Seq != uint64(i)*1000+1 {
				t.Errorf("event %q, want %s", text, want[i])
			}
		}
	}
}

// BenchmarkStreamEvents measures the events of one batch.
func BenchmarkStreamEvents(b *testing.B) {
	var lines []byte
	for i := range 250 {
		e := protocol.Event{
			Session: "s_0123456789", Seq: uint64(i) + 1, Type: protocol.TextDelta, Turn: "t_1",
			Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p1", Text: strings.Repeat("token ", 16)}),
		}
		lines = append(e.AppendJSON(lines), '\n')
	}
	s := newStream(context.Background(), &deadlines{httptest.NewRecorder()})
	w := s.w.ResponseWriter.(*deadlines)
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		w.Body.Reset()
		s.writeEvents("9f3ac1", lines)
	}
}

// deadlines is a recorder that accepts deadlines.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetWriteDeadline(time.Time) error { return nil }
