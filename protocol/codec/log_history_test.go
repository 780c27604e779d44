package codec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

// addTurn adds a turn with a text of size bytes.
func addTurn(l *Log, id string, size int) {
	var out Output
	for _, en := range []Entry{
		{Type: protocol.MessageUser, Data: protocol.MessageUserData{Message: protocol.Message{MessageID: "m" + id}}},
		{Type: protocol.TurnStarted, Data: protocol.TurnStartedData{}},
		{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: strings.Repeat("x", size)}},
		{Type: protocol.TurnEnded, Data: protocol.TurnEndedData{Reason: protocol.ReasonCompleted}},
	} {
		en.Turn = id
		l.Add(&out, time.Unix(1700000000, 0), en)
	}
}

func TestHistoryIsWholeTurnsNewestFirstWithinItsBounds(t *testing.T) {
	l := NewLog("s", "e")
	l.StartFrom(&protocol.State{Session: "s", Title: "known before"})
	var out Output
	l.Add(&out, time.Unix(1700000000, 0),
		Entry{Type: protocol.Notice, Data: protocol.NoticeData{Message: "between turns"}})
	for i := range 5 {
		addTurn(l, fmt.Sprint("t", i), 10)
	}
	var got []string
	for r := l.History(protocol.HistoryData{Limit: 2}); ; r = l.History(protocol.HistoryData{
		Before: r.First,
		Limit:  2,
	}) {
		if len(r.Events) != int(r.Last-r.First)+1 {
			t.Errorf("%d events from %d to %d", len(r.Events), r.First, r.Last)
		}
		var first protocol.Event
		if err := json.Unmarshal(r.Events[0], &first); err != nil || first.Seq != r.First ||
			first.Type != protocol.MessageUser {
			t.Errorf("begins with %s", r.Events[0])
		}
		got = append(got, first.Turn)
		if !r.More {
			break
		}
	}
	if s := strings.Join(got, " "); s != "t3 t1 t0" {
		t.Errorf("pages begin at %s", s)
	}
	if r := l.History(protocol.HistoryData{Before: 1}); len(r.Events) != 0 || r.Events == nil {
		t.Errorf("before the first: %+v", r)
	}
	if l.State.Title != "known before" || l.State.Turns != 5 {
		t.Errorf("%+v", l.State)
	}
}

func TestTheOldestTurnsAreForgotten(t *testing.T) {
	l := NewLog("s", "e")
	for i := range 100 {
		addTurn(l, fmt.Sprint("t", i), 200<<10)
	}
	kept := 0
	for r := l.History(protocol.HistoryData{}); len(r.Events) > 0; r = l.History(protocol.HistoryData{Before: r.First}) {
		for _, line := range r.Events {
			kept += len(line)
		}
	}
	if kept > maxHistory || kept < maxHistory/2 {
		t.Errorf("%d bytes are kept", kept)
	}
}
