package codec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// subscribe subscribes from a position and returns the answer and the seqs of the events that
// follow.
func subscribe(t *testing.T, l *Log, from string) (protocol.SubscribeResult, []uint64) {
	t.Helper()
	c := protocol.Command{ID: "1", Command: protocol.DoSubscribe, Session: "s"}
	if from != "" {
		c.Data = json.RawMessage(fmt.Sprintf(`{"position":%q}`, from))
	}
	var out Output
	l.Attach(&out, &Responder{}, &c, now)
	var r protocol.SubscribeResult
	var seqs []uint64
	for i, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
			t.Fatal(err)
		case i == 0:
			if a == nil || json.Unmarshal(a.Result, &r) != nil {
				t.Fatalf("answered %s", line)
			}
		case e.Durable():
			seqs = append(seqs, e.Seq)
		}
	}
	return r, seqs
}

func turn(l *Log, n int) {
	var out Output
	id := fmt.Sprint("t", n)
	l.Add(&out, now, Entry{Type: protocol.MessageUser, Turn: id, Data: protocol.Message{MessageID: id}})
	l.Add(&out, now, Entry{
		Type: protocol.TurnEnded, Turn: id,
		Data: protocol.TurnEndedData{Reason: protocol.ReasonCompleted},
	})
}

func TestALogResumesAcrossTurns(t *testing.T) {
	l := NewLog("s", "e")
	turn(l, 1)
	turn(l, 2)
	for from, want := range map[string]string{
		"": "snapshot [] 4", "e:0": "resume [1 2 3 4] 0", "e:1": "resume [2 3 4] 1", "e:4": "resume [] 4",
		"e:5": "reset past_end [] 4", "f:1": "reset fresh_snapshot [] 4",
	} {
		r, seqs := subscribe(t, l, from)
		got := strings.Join(strings.Fields(fmt.Sprint(r.Mode, " ", r.Reason, " ", seqs, " ", r.After.Seq)), " ")
		if got != want {
			t.Errorf("from %q: %s, want %s", from, got, want)
		}
	}
}

func TestALogForgetsTheOldestAndNeverTheTurnUnderWay(t *testing.T) {
	l := NewLog("s", "e")
	var out Output
	big := strings.Repeat("x", 200<<10)
	for n := range 60 {
		turn(l, n)
		l.Add(&out, now, Entry{Type: protocol.Notice, Data: protocol.NoticeData{Message: big}})
	}
	if l.bytes > maxKept+protocol.MaxEvent || len(l.lines) != int(l.State.Seq-l.droppedSeq) ||
		l.droppedSeq > l.snapshot.seq {
		t.Errorf("%d bytes in %d lines after %d, boundary %d", l.bytes, len(l.lines), l.droppedSeq, l.snapshot.seq)
	}
	if r, _ := subscribe(t, l, "e:0"); r.Mode != protocol.ModeReset {
		t.Errorf("resumed at what is forgotten: %+v", r)
	}
	if r, seqs := subscribe(t, l, ""); r.Mode != protocol.ModeSnapshot || len(seqs) != 1 ||
		r.Snapshot.State.Turns != 60 {
		t.Errorf("%s %v", r.Mode, seqs)
	}
}

func TestWhatIsTooLargeForAnEventIsRaw(t *testing.T) {
	l := NewLog("s", "e")
	var out Output
	l.Add(&out, now, Entry{
		Type: protocol.Notice,
		Data: protocol.NoticeData{Message: strings.Repeat("x", protocol.MaxEvent)},
	})
	var e protocol.Event
	if err := json.Unmarshal(l.lines[0], &e); err != nil || e.Type != protocol.Raw {
		t.Errorf("%v %s", err, e.Type)
	}
}

func TestWhatIsTooDeepForAnEventIsRaw(t *testing.T) {
	l := NewLog("s", "e")
	var out Output
	deep := json.RawMessage(strings.Repeat("[", 9_996) + strings.Repeat("]", 9_996)) // encoding/json reads 10,000
	l.Add(&out, now, Entry{Type: protocol.MessageUser, Turn: "t", Data: protocol.Message{MessageID: "m"}})
	l.Add(&out, now, Entry{
		Type: protocol.ToolStarted, Turn: "t",
		Data: protocol.ToolStartedData{Tool: "c", Input: deep},
	})
	l.Add(&out, now, Entry{
		Type: protocol.TurnEnded, Turn: "t",
		Data: protocol.TurnEndedData{Reason: protocol.ReasonCompleted},
	})
	var e protocol.Event
	if err := json.Unmarshal(l.lines[1], &e); err != nil || e.Type != protocol.Raw {
		t.Errorf("%v %s", err, e.Type)
	}
	(&Responder{}).Answer(&out, &protocol.Command{ID: "1"}, l.History(protocol.HistoryData{}))
	if _, a, err := protocol.DecodeIncoming(out.Native[len(out.Native)-1]); err != nil || a == nil {
		t.Errorf("history cannot be read: %v", err)
	}
}

func TestALogBeginsAtAState(t *testing.T) {
	l := NewLog("s", "e")
	turn(l, 1)
	l.StartFrom(&protocol.State{Session: "other", Seq: 1, Title: "x"})
	turn(l, 2)
	if r, _ := subscribe(t, l, "e:1"); r.Mode != protocol.ModeResume || l.State.Session != "s" ||
		l.State.Title != "x" || l.State.Seq != 3 {
		t.Errorf("%+v %+v", r, l.State)
	}
	if r, _ := subscribe(t, l, "0"); r.Mode != protocol.ModeReset {
		t.Errorf("resumed before the beginning: %+v", r)
	}
}

// A subscription from the beginning gets all events, after the state at which they began.
func TestAllThereIsFollowsTheStateThatALogBeganAt(t *testing.T) {
	l := NewLog("s", "e")
	l.StartFrom(&protocol.State{Session: "s", Seq: 1, Title: "x"})
	turn(l, 1)
	turn(l, 2)
	r, seqs := subscribe(t, l, "0")
	if r.Mode != protocol.ModeReset || r.After.Seq != 1 || r.Snapshot.State.Seq != 1 ||
		len(seqs) != int(l.State.Seq)-1 {
		t.Errorf("%+v %v", r, seqs)
	}
}
