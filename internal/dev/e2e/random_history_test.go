package e2e

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// A randomHistory is the log of a session as a server could have recorded it. The time of each
// event is different.
type randomHistory struct {
	id     string
	events []protocol.Event
}

// historyEvents is the length of a random history, at least.
const historyEvents = 300

// aRandomHistory draws a history with a finished turn. It ends with a turn or the session, or in a
// turn that waits for an approval.
var aRandomHistory = rapid.Custom(func(t *rapid.T) *randomHistory {
	h := new(randomHistory)
	state := &protocol.State{}
	g := &historygen.Generator{T: t, State: state, Now: time.Now().UTC().Truncate(time.Second).Add(-time.Minute)}
	add := func(en codec.Entry) {
		h.events = append(h.events, protocol.Event{
			Turn: en.Turn, Task: en.Task, Parent: en.Parent, Time: g.Now, By: en.By, Type: en.Type,
			Data: protocol.MustEncode(en.Data),
		})
		e := &h.events[len(h.events)-1]
		e.Seq = uint64(len(h.events))
		if err := state.Apply(e); err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		g.Now = g.Now.Add(time.Millisecond)
	}
	add(codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{
		Title: "first", Agent: "claude", CWD: "/home/ada/app", Parent: "s_parent",
		Sandbox:    protocol.Sandbox{Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff},
		MCPServers: []string{"files"}, DiscardUnused: true,
	}})
	end := rapid.SampledFrom([]protocol.Type{"", protocol.TurnEnded, protocol.SessionClosed}).Draw(t, "end")
	done := func(last protocol.Type) bool {
		if len(h.events) < historyEvents || state.Turns == 0 {
			return false
		}
		return last == end || end == "" && len(state.Approvals) > 0
	}
	for last := protocol.SessionCreated; !done(last); {
		en := g.Next()
		if turn := state.Turn; turn != nil && state.Seq > turn.First+30 && rapid.Bool().Draw(t, "ends") {
			en = g.TurnEnd()
		}
		if en.Type == protocol.ApprovalExplained && rapid.Bool().Draw(t, "always") { // else it is seldom allowed
			en.Type, en.Data = protocol.ApprovalResolved, g.Resolution(state.Approvals[0].Request, protocol.AllowAlways)
		}
		last = en.Type
		switch {
		case last == protocol.SessionClosed && (end != last || len(h.events) < historyEvents):
			continue
		case last == protocol.TurnEnded: // a session leaves nothing open
			for _, part := range slices.Clone(state.Turn.Parts) {
				typ := protocol.TextEnd
				if part.Kind == protocol.KindReasoning {
					typ = protocol.ReasoningEnd
				}
				add(codec.Entry{
					Turn: en.Turn, Type: typ, Task: part.Task, Data: protocol.PartEndData{Part: part.Part},
				})
			}
			for _, tool := range slices.Clone(state.Turn.Tools) {
				add(codec.Entry{
					Turn: en.Turn, Type: protocol.ToolEnded, Task: tool.Task, Parent: tool.Parent,
					Data: protocol.ToolEndedData{Tool: tool.Tool, Status: protocol.ToolUnknown},
				})
			}
		}
		add(en)
	}
	return h
})

// renumbered returns the history of another session with those events that keep returns true for.
func (h *randomHistory) renumbered(id string, keep func(i int) bool) *randomHistory {
	n := &randomHistory{id: id}
	for i := range h.events {
		if keep(i) {
			n.events = append(n.events, h.events[i])
			e := &n.events[len(n.events)-1]
			e.Session, e.Seq = id, uint64(len(n.events))
		}
	}
	return n
}

// lastTurn returns the number of events through the end of the last finished turn.
func (h *randomHistory) lastTurn() int {
	for i, e := range slices.Backward(h.events) {
		if e.Type == protocol.TurnEnded {
			return i + 1
		}
	}
	return 0
}

// state returns the state after that many events.
func (h *randomHistory) state(t testing.TB, n int) *protocol.State {
	t.Helper()
	state := &protocol.State{}
	for i := range h.events[:n] {
		if err := state.Apply(&h.events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// batch returns what a server has stored of the history.
func (h *randomHistory) batch(t testing.TB) *eventlog.Batch {
	t.Helper()
	state := h.state(t, len(h.events))
	b := &eventlog.Batch{
		Session: h.id, First: 1, Last: uint64(len(h.events)),
		Create: &eventlog.Record{
			ID: h.id, Epoch: session.NewEpoch(), Created: state.Created,
			Spec: protocol.MustEncode(agent.Spec{Agent: state.Agent, CWD: state.CWD, Sandbox: state.Sandbox}),
		},
		Summary: protocol.MustEncode(protocol.Summary{
			Session: h.id, Agent: state.Agent, Status: state.Status(), Attributes: state.Attributes,
		}),
	}
	var row eventlog.TurnRow
	for i := range h.events {
		e := &h.events[i]
		b.Events = append(b.Events, append(e.AppendJSON(nil), '\n'))
		switch e.Type {
		case protocol.MessageUser:
			var d protocol.MessageUserData
			if err := e.Decode(&d); err != nil {
				t.Fatal(err)
			}
			row = eventlog.TurnRow{Turn: e.Turn, MessageID: d.MessageID, First: e.Seq}
		case protocol.TurnEnded:
			row.Last, row.Ended = e.Seq, e.Time
			b.Turns = append(b.Turns, row)
		}
	}
	return b
}

// storeHistories writes histories into the store of a directory.
func storeHistories(t testing.TB, dir string, histories []*randomHistory) {
	t.Helper()
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var batches []*eventlog.Batch
	for _, h := range histories {
		batches = append(batches, h.batch(t))
	}
	if err := cmp.Or(store.Commit(batches), store.Close()); err != nil {
		t.Fatal(err)
	}
}
