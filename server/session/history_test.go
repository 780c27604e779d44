package session

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

// talk runs turns that say as many bytes as told.
func talk(r *rig, sizes ...int) string {
	id := r.create()
	for i, size := range sizes {
		r.send(id, fmt.Sprint("turn ", i))
		run := r.agents.run()
		piece := max(1000, size/100)
		for range size / piece {
			run.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: strings.Repeat("x", piece)}})
		}
		run.say(Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: fmt.Sprint("tool", i)}})
		run.finish(End{}, nil)
		r.settle()
	}
	return id
}

func TestHistoryPagesBackOverWholeTurns(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := talk(r, 0, 5000, 400_000, 3_000_000, 10, 700_000, 700_000, 0, 0, 0)
		var all [][]byte
		before := uint64(0)
		for {
			h := must[protocol.HistoryResult](r, r.do(anna, command(protocol.DoHistory, id, protocol.HistoryData{Before: before, Limit: 3})))
			page := make([][]byte, len(h.Events))
			size := 0
			for i, e := range h.Events {
				page[i] = e
				size += len(e)
			}
			if size > historyBytes+protocol.MaxEvent {
				t.Errorf("a page of %d bytes", size)
			}
			all = append(page, all...)
			if !h.More {
				break
			}
			if h.First >= before && before != 0 {
				t.Fatalf("page before %d begins at %d", before, h.First)
			}
			before = h.First
		}
		got := decodeLines(t, bytes.Join(all, []byte("\n")))
		for i := 1; i < len(got); i++ {
			if got[i].First() != got[i-1].Seq+1 {
				t.Fatalf("%d..%d follows %d", got[i].First(), got[i].Seq, got[i-1].Seq)
			}
		}
		raw := r.events(id, false)[1:] // without session.created
		if transcript(t, got) != transcript(t, raw) {
			t.Error("the pages say something else than the events")
		}
	})
}

func TestMessagesAreThePairsOfFinishedTurns(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := talk(r, 1000, 2000, 3000)
		all, err := r.hub.Messages(context.Background(), id, "")
		if err != nil || len(all) != 6 {
			t.Fatalf("%d messages, %v", len(all), err)
		}
		for i, m := range all {
			role, size := "user", len("turn 0")
			if i%2 == 1 {
				role, size = "assistant", (i+1)/2*1000
			}
			if n := len(m.Items); n != 2*(i%2) || i%2 == 1 && (m.Items[1].ID != fmt.Sprint("tool", i/2) || m.Reason != protocol.ReasonCompleted) {
				t.Errorf("message %d: %d items, ended %s", i, n, m.Reason)
			}
			if m.Role != role || len(m.Text) != size {
				t.Errorf("message %d: %s with %d bytes", i, m.Role, len(m.Text))
			}
			after, err := r.hub.Messages(context.Background(), id, m.MessageID)
			if err != nil || !slices.EqualFunc(after, all[i+1:], func(a, b HistoryMessage) bool { return a.MessageID == b.MessageID }) {
				t.Errorf("after message %d: %d messages, %v", i, len(after), err)
			}
		}
	})
}

func TestAnAnswerIsWhatTheAgentSaidInTheEnd(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "go")
		asked := time.Now()
		time.Sleep(time.Minute)
		run := r.agents.run()
		run.say(
			Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "hm"}},
			Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "one "}},
			Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "t", Text: "out"}},
			Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "q", Text: "two"}},
		)
		run.finish(End{Reason: protocol.ReasonMaxTokens}, nil)
		r.settle()
		list, err := r.hub.Messages(t.Context(), id, "")
		if err != nil || len(list) != 2 {
			t.Fatalf("%d messages, %v", len(list), err)
		}
		if m := list[0]; m.Text != "go" || m.By == nil || m.By.Name != "anna" || !m.Time.Equal(asked.Truncate(time.Millisecond)) {
			t.Errorf("asked %+v", m)
		}
		if m := list[1]; m.Text != "one two" || len(m.Items) != 4 || m.Reason != protocol.ReasonMaxTokens || m.Time.Sub(list[0].Time) != time.Minute || m.By != nil {
			t.Errorf("answered %+v", m)
		}
		if _, err := r.hub.Messages(t.Context(), "nobody", ""); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("messages of nobody: %v", err)
		}
	})
}

func TestAHugeTurnKeepsItsMessageAndTheEndOfItsAnswer(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "say much")
		run := r.agents.run()
		piece := strings.Repeat("x", protocol.MaxText)
		for range messageBytes/protocol.MaxText + 10 {
			run.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: piece}})
		}
		run.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "the end"}})
		run.finish(End{}, nil)
		r.settle()
		list, err := r.hub.Messages(t.Context(), id, "")
		if err != nil || len(list) != 2 || list[0].Text != "say much" || !strings.HasSuffix(list[1].Text, "the end") {
			t.Fatalf("%d messages, %v", len(list), err)
		}
		if after, err := r.hub.Messages(t.Context(), id, list[0].MessageID); err != nil || len(after) != 1 {
			t.Errorf("after the question: %d messages, %v", len(after), err)
		}
	})
}

func TestABlobIsReadInPieces(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "go")
		raw := []byte(`"` + strings.Repeat("z", 1<<20) + `"`)
		r.agents.run().say(Event{Type: protocol.Raw, Data: protocol.RawData{Source: "acp", Data: raw}})
		r.settle()
		var d protocol.RawData
		for _, e := range r.events(id, false) {
			if e.Type == protocol.Raw {
				_ = e.Decode(&d)
			}
		}
		var got []byte
		for offset := int64(0); offset < d.Bytes; {
			piece := must[protocol.BlobResult](r, r.do(anna, command(protocol.DoBlob, id, protocol.BlobData{Blob: d.Blob, Offset: offset})))
			if len(piece.Data) == 0 || piece.Bytes != d.Bytes || piece.MediaType != "application/json" {
				t.Fatalf("piece at %d: %d of %d bytes", offset, len(piece.Data), piece.Bytes)
			}
			got, offset = append(got, piece.Data...), offset+int64(len(piece.Data))
		}
		if !bytes.Equal(got, raw) {
			t.Errorf("%d bytes of %d", len(got), len(raw))
		}
		refused(r, r.do(anna, command(protocol.DoBlob, id, protocol.BlobData{Blob: "b_none"})), protocol.CodeNotFound)
	})
}
