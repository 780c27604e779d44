package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// runTurns runs a turn of output of each size, in bytes, and returns the session.
func runTurns(r *testReader, sizes ...int) string {
	id := r.create()
	for i, size := range sizes {
		r.send(id, fmt.Sprint("turn ", i))
		run := r.agents.run()
		piece := max(1000, size/100)
		for range size / piece {
			run.emit(
				agent.Event{
					Type: protocol.TextDelta,
					Data: protocol.PartDeltaData{Part: "p", Text: strings.Repeat("x", piece)},
				},
			)
		}
		run.emit(agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: fmt.Sprint("tool", i)}})
		run.finish(agent.End{}, nil)
		synctest.Wait()
	}
	return id
}

func TestHistoryPagesBackOverWholeTurns(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := runTurns(r, 0, 5000, 400_000, 1_500_000, 10, 700_000, 700_000, 0, 0, 0)
		for _, most := range []int64{0, 1000} {
			testPages(t, r, id, most)
		}
	})
}

// testPages reads a session in pages of most bytes and compares them with its events.
func testPages(t *testing.T, r *testReader, id string, most int64) {
	t.Helper()
	bound := int(cmp.Or(most, protocol.MaxHistory)) + protocol.MaxEvent
	var all [][]byte
	before := uint64(0)
	for {
		h := must[protocol.HistoryResult](
			r,
			r.do(newCommand(protocol.DoHistory, id, protocol.HistoryData{Before: before, Limit: 3, Bytes: most})),
		)
		page := make([][]byte, len(h.Events))
		size := 0
		for i, e := range h.Events {
			page[i] = e
			size += len(e)
		}
		if size > bound {
			t.Errorf("page of %d bytes", size)
		}
		requireWholeTurns(t, decodeLines(t, bytes.Join(page, []byte("\n"))))
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
		if e := &got[i]; e.Type == protocol.TextDelta && e.FirstSeq == 0 && got[i-1].Type == protocol.TextDelta {
			t.Fatalf("%d is a part of a fold", e.Seq)
		}
	}
	raw := r.store.events(r.t, id)[1:] // without session.created
	if transcript(t, got) != transcript(t, raw) {
		t.Error("the pages differ from the events")
	}
}

// requireWholeTurns checks that the oldest of several turns in a page begins with its message.
func requireWholeTurns(t *testing.T, page []protocol.Event) {
	t.Helper()
	page = slices.DeleteFunc(page, func(e protocol.Event) bool { return e.Turn == "" })
	if n := len(page); n > 0 && page[0].Turn != page[n-1].Turn && page[0].Type != protocol.MessageUser {
		t.Errorf("a page begins in the turn of seq %d and has the turn of seq %d", page[0].Seq, page[n-1].Seq)
	}
}

// A page of a turn costs about its own size, however long the turn is.
func TestAPageOfALongTurnReadsNoMoreThanItNeeds(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.send(id, "a long answer")
		run := r.agents.run()
		text := strings.Repeat("x", 200)
		for range 8_000 {
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: text}})
		}
		run.finish(agent.End{}, nil)
		synctest.Wait()
		const most = 64 << 10
		r.store.takeRead()
		events, pages := 0, 0
		for before := uint64(0); ; pages++ {
			h := must[protocol.HistoryResult](
				r, r.do(newCommand(protocol.DoHistory, id, protocol.HistoryData{Before: before, Bytes: most})),
			)
			if n := r.store.takeRead(); n > most+2*protocol.MaxEvent {
				t.Errorf("a page before %d reads %d bytes", before, n)
			}
			if before != 0 && h.Last != before-1 {
				t.Fatalf("a page before %d ends at %d", before, h.Last)
			}
			events += int(h.Last - h.First + 1)
			if before = h.First; !h.More {
				break
			}
		}
		if want := len(r.store.events(t, id)) - 1; events != want || pages < 10 {
			t.Errorf("%d events in %d pages, want %d", events, pages, want)
		}
	})
}

// transcript returns the transcript of events from the first, as JSON.
func transcript(t testingT, events []protocol.Event) string {
	t.Helper()
	var tr protocol.Transcript
	for i := range events {
		if _, err := tr.Apply(&events[i]); err != nil {
			t.Fatalf("transcript: %v", err)
		}
	}
	return string(protocol.MustEncode(&tr))
}

func TestHistoryHasTheNoticesAroundTurns(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		notices := func(n int, text string) {
			t.Helper()
			r.send(id, "a turn before "+text) // opens the agent
			r.agents.run().finish(agent.End{}, nil)
			synctest.Wait()
			host := r.agents.opened[len(r.agents.opened)-1].host
			for range n {
				for _, e := range []agent.Event{
					{Type: protocol.Raw, Data: protocol.RawData{Source: "acp", Data: []byte("{}")}},
					{Type: protocol.Notice, Data: protocol.NoticeData{Level: protocol.LevelWarning, Message: text}},
				} {
					if err := host.Emit(e); err != nil {
						t.Fatal(err)
					}
				}
			}
			synctest.Wait()
		}
		want := ""
		for i, n := range []int{1, 1, 9, 1, 1, 9} {
			notices(n, fmt.Sprint("notice ", i, " ", strings.Repeat("x", 20_000)))
			want += "turn " + strings.Repeat("notice ", n)
		}
		for limit := 1; limit <= 7; limit += thorough.Step(2) {
			var got []string
			for before := uint64(0); ; {
				d := protocol.HistoryData{Before: before, Limit: limit, Bytes: 100_000} // five notices
				h := must[protocol.HistoryResult](r, r.do(newCommand(protocol.DoHistory, id, d)))
				var page []string
				for _, e := range decodeLines(t, bytes.Join(rawLines(h.Events), []byte("\n"))) {
					switch e.Type {
					case protocol.MessageUser:
						page = append(page, "turn")
					case protocol.Notice:
						page = append(page, "notice")
					case protocol.Raw:
						t.Error("an event outside of turns that is no notice")
					}
				}
				got = append(page, got...)
				if !h.More {
					break
				}
				before = h.First
			}
			if strings.Join(got, " ")+" " != want {
				t.Errorf("limit %d: %v", limit, got)
			}
		}
	})
}

func rawLines(events []json.RawMessage) (lines [][]byte) {
	for _, e := range events {
		lines = append(lines, e)
	}
	return lines
}
