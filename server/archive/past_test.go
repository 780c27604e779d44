package archive

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/output"
	"agentctl/server/session/record"
)

var anna = protocol.Actor{Name: "anna"}

// history returns the events of a finished turn with a text and a denied request.
func history() []Event {
	var list []Event
	for _, e := range []struct {
		typ  protocol.Type
		by   *protocol.Actor
		data any
	}{
		{protocol.MessageUser, &anna, protocol.MessageUserData{Message: protocol.Message{MessageID: "m", Text: "one"}}},
		{protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: "m"}},
		{protocol.TextStart, nil, protocol.PartStartData{Part: "p"}},
		{protocol.TextDelta, nil, protocol.PartDeltaData{Part: "p", Text: "answer"}},
		{protocol.TextEnd, nil, protocol.PartEndData{Part: "p"}},
		{protocol.ApprovalRequested, nil, protocol.Approval{
			Request: "q", Kind: protocol.ApproveCommand, Title: "run", Command: "make",
		}},
		{protocol.ApprovalResolved, &anna, protocol.ApprovalResolvedData{
			Request: "q", Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "no",
		}},
		{protocol.TurnEnded, nil, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}},
	} {
		list = append(list, Event{
			Turn: "t", Time: time.Unix(1e9, 0), Type: e.typ, By: e.by, Data: protocol.MustEncode(e.data),
		})
	}
	return list
}

// TestAHistoryIsCheckedBeforeItIsRecorded checks that a state with an invalid history has no past.
func TestAHistoryIsCheckedBeforeItIsRecorded(t *testing.T) {
	index := func(x *State, typ protocol.Type) *Event {
		i := slices.IndexFunc(x.History, func(p Event) bool { return p.Type == typ })
		return &x.History[i]
	}
	without := func(typ protocol.Type) func(*State) {
		return func(x *State) {
			x.History = slices.DeleteFunc(x.History, func(p Event) bool { return p.Type == typ })
		}
	}
	with := func(typ protocol.Type, data any) func(*State) {
		return func(x *State) { index(x, typ).Data = protocol.MustEncode(data) }
	}
	for name, change := range map[string]func(*State){
		"no message":        without(protocol.MessageUser),
		"no start":          without(protocol.TurnStarted),
		"no end":            without(protocol.TurnEnded),
		"part not started":  without(protocol.TextStart),
		"part not ended":    without(protocol.TextEnd),
		"never requested":   without(protocol.ApprovalRequested),
		"never resolved":    without(protocol.ApprovalResolved),
		"no data":           with(protocol.MessageUser, protocol.Empty{}),
		"data of no object": with(protocol.TextDelta, []string{"x"}),
		"another message":   with(protocol.TurnStarted, protocol.TurnStartedData{MessageID: "other"}),
		"no reason":         with(protocol.TurnEnded, protocol.TurnEndedData{}),
		"no outcome":        with(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "q"}),
		"started twice": func(x *State) {
			i := slices.IndexFunc(x.History, func(p Event) bool { return p.Type == protocol.TurnStarted })
			x.History = slices.Insert(x.History, i, x.History[i])
		},
		"twice":        func(x *State) { x.History = append(x.History, x.History...) },
		"a rule":       func(x *State) { index(x, protocol.TextDelta).Type = protocol.SessionUpdated },
		"unknown type": func(x *State) { index(x, protocol.TextDelta).Type = "text.sung" },
		"no time":      func(x *State) { index(x, protocol.TextDelta).Time = time.Time{} },
		"another turn": func(x *State) { index(x, protocol.TextDelta).Turn = "other" },
		"a long turn": func(x *State) {
			for i := range x.History {
				x.History[i].Turn = strings.Repeat("t", output.MaxID+1)
			}
		},
		"a long name": func(x *State) {
			index(x, protocol.MessageUser).By = &protocol.Actor{Name: strings.Repeat("n", record.MaxActor+1)}
		},
		"a large message": func(x *State) {
			p := index(x, protocol.MessageUser)
			var d protocol.MessageUserData
			_ = json.Unmarshal(p.Data, &d)
			for range protocol.MaxEvent / 1000 {
				d.Parts = append(d.Parts, protocol.Part{Type: "text", Text: strings.Repeat("x", 1000)})
			}
			p.Data = protocol.MustEncode(d)
		},
		"a message in the queue": func(x *State) {
			var d protocol.MessageUserData
			_ = json.Unmarshal(index(x, protocol.MessageUser).Data, &d)
			x.Queue = append(x.Queue, d.Message)
		},
		"fewer than none": func(x *State) { x.LeftOut = -1 },
	} {
		x := State{History: history()}
		change(&x)
		if _, err := x.Past(&anna, NewSessions{}); protocol.CodeOf(err) != protocol.CodeInvalidState {
			t.Errorf("%s: %v", name, err)
		}
	}
	if past, err := (&State{History: history()}).Past(&anna, NewSessions{}); err != nil || len(past.Turns) != len(history()) {
		t.Errorf("%+v, %v", past, err)
	}
}
