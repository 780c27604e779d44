package pane

import (
	"encoding/json"
	"fmt"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/transcriptview"
)

// requestNextPage ends the wait for the request of the page after the first one, if there is one.
func (r *rig) requestNextPage() {
	if h := &r.pane.history; !h.Deadline().IsZero() {
		cmd, _ := h.Due()
		r.Run(cmd)
	}
}

func TestHistoryPaging(t *testing.T) {
	j := tuitest.NewJournal()
	j.Pending[1].Attached.After.Seq = 600
	j.Pending[1].Attached.Snapshot.State.Seq = 600
	j.Seq = 600
	j.Pending = j.Pending[:2]
	j.CaughtUp()
	var requests []protocol.HistoryData
	s := open(t, &tuitest.Journal{At: tuitest.Start}, 60, 20)
	s.Journal = j
	s.Session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb != protocol.DoHistory {
			return nil, nil
		}
		d := a.Data.(protocol.HistoryData)
		requests = append(requests, d)
		if d.Before == 601 {
			return tuitest.HistoryPage(181, 200, true), nil
		}
		return tuitest.HistoryPage(1, 180, false), nil
	}
	s.applyJournal()
	s.MustShow("question 200", "answer 200", "── completed")
	if len(requests) != 1 || requests[0].Limit != transcriptview.HistoryPage {
		t.Fatalf("got history requests %+v", requests)
	}
	s.press("ctrl+home")
	s.MustShow("question 181")
	s.press("pgup")
	s.MustShow("question 180")
	s.press("ctrl+home")
	s.MustShow("question 1\n")
	s.press("pgup")
	if len(requests) != 2 || requests[1].Before != 541 {
		t.Errorf("got history requests %+v", requests)
	}
}

// The first page is small; the next one is requested after it is shown, and completes its turn.
func TestTheEndOfALongTurnIsShownFirst(t *testing.T) {
	const turn, last = 30, 31 // the deltas with the message, and all events
	j := &tuitest.Journal{At: tuitest.Start}
	j.UserMessage(tuitest.Bob, "m1", "write it all")
	j.Pending = j.Pending[:1]
	for i := range turn - 1 {
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: fmt.Sprintf("part %d\n\n", i)})
	}
	j.EndTurn(protocol.ReasonCompleted)
	var events []json.RawMessage
	for i, u := range j.Pending {
		u.Event.Seq = uint64(i + 1)
		events = append(events, u.Event.AppendJSON(nil))
	}
	s := openAtEnd(t, last)
	var requests []protocol.HistoryData
	s.Session.Reply = func(a tuitest.Command) (any, error) {
		d, ok := a.Data.(protocol.HistoryData)
		if !ok {
			return nil, nil
		}
		requests = append(requests, d)
		if d.Bytes > 0 {
			return protocol.HistoryResult{Epoch: "k3f9ab", First: 12, Last: last, More: true, Events: events[11:]}, nil
		}
		return protocol.HistoryResult{Epoch: "k3f9ab", First: 1, Last: 11, Events: events[:11]}, nil
	}
	s.applyJournal()
	s.MustShow("part 28", "── completed")
	if len(requests) != 1 || requests[0].Bytes == 0 {
		t.Fatalf("requested %+v for the first frame", requests)
	}
	s.requestNextPage()
	if len(requests) != 2 || requests[1].Bytes != 0 || requests[1].Before != 12 {
		t.Fatalf("requested %+v", requests)
	}
	s.MustShow("part 28", "── completed")
	s.press("ctrl+home")
	s.MustShow("write it all", "part 0")
	if n := s.pane.View.List.Len(); n != 3 {
		t.Errorf("%d items, want the message, one text and the end", n)
	}
}
