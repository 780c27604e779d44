package tuitest

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// Users of the recorded sessions.
var (
	Ada = protocol.Actor{Name: "ada"}
	Bob = protocol.Actor{Name: "bob"}
)

// Start is the time at which recorded sessions begin.
var Start = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

// Journal writes the updates of a recorded session. Every durable event takes the next sequence
// number and one second.
type Journal struct {
	Pending remote.Updates // written since the last call of Take
	Seq     uint64         // of the last durable event
	At      time.Time      // of the last durable event
	Turn    string         // of the events to come
	by      *protocol.Actor
}

// NewJournal returns the journal of a new session with two clients, ada and bob.
func NewJournal() *Journal {
	j := &Journal{At: Start}
	j.Conn(remote.Conn{State: remote.Connected, Connection: "c1", By: Ada})
	j.Pending = append(j.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "k3f9ab"},
		Snapshot: &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{}},
		Clients:  []protocol.Client{{Client: "c1", By: Ada}, {Client: "c2", By: Bob}},
	}})
	j.Add(protocol.SessionCreated, protocol.SessionCreatedData{Name: "fix-tests", Agent: "gemini"})
	return j
}

// Reconnect ends an outage. The events up to the next CaughtUp were missed, and missed is their
// announced number.
func (j *Journal) Reconnect(mode string, missed uint64) {
	j.Conn(remote.Conn{State: remote.Connected, Connection: "c9", By: Ada})
	at := protocol.Position{Epoch: "k3f9ab", Seq: j.Seq}
	j.Pending = append(j.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: mode, After: at, Position: protocol.Position{Epoch: at.Epoch, Seq: at.Seq + missed},
		Clients: []protocol.Client{{Client: "c9", By: Ada}},
	}})
}

// Conn adds a state of the connection.
func (j *Journal) Conn(l remote.Conn) { j.Pending = append(j.Pending, remote.Update{Conn: &l}) }

// Add adds a durable event.
func (j *Journal) Add(t protocol.Type, data any) {
	j.Seq++
	j.At = j.At.Add(time.Second)
	j.Pending = append(j.Pending, remote.Update{Event: &protocol.Event{
		Session: "s1", Seq: j.Seq, Turn: j.Turn, Time: j.At, Type: t, By: j.by, Data: protocol.MustEncode(data),
	}})
}

// AddBy adds a durable event with an actor.
func (j *Journal) AddBy(by protocol.Actor, t protocol.Type, data any) {
	j.by = &by
	j.Add(t, data)
	j.by = nil
}

// Ephemeral adds an ephemeral event.
func (j *Journal) Ephemeral(t protocol.Type, data any) {
	j.Pending = append(j.Pending, remote.Update{
		Event: &protocol.Event{Session: "s1", Time: j.At, Type: t, Data: protocol.MustEncode(data)},
	})
}

// CaughtUp adds the end of a catch-up.
func (j *Journal) CaughtUp() { j.Ephemeral(protocol.CaughtUp, protocol.CaughtUpData{}) }

// Take returns and forgets the pending updates.
func (j *Journal) Take() remote.Updates {
	b := j.Pending
	j.Pending = nil
	return b
}

// UserMessage adds a message of a user and starts its turn.
func (j *Journal) UserMessage(by protocol.Actor, id, text string) {
	j.Turn = "turn-" + id
	j.AddBy(by, protocol.MessageUser, protocol.MessageUserData{
		Message: protocol.Message{MessageID: id, ClientMessageID: "client-" + id, Text: text, By: &by},
	})
	j.Add(protocol.TurnStarted, protocol.TurnStartedData{MessageID: id})
}

// Text starts a text part and adds a delta for each piece.
func (j *Journal) Text(part string, pieces ...string) {
	j.Add(protocol.TextStart, protocol.PartStartData{Part: part})
	for _, p := range pieces {
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: p})
	}
}

// EndTurn ends the turn.
func (j *Journal) EndTurn(reason protocol.Reason) {
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: reason, DurationMS: 12_300, Usage: &protocol.Usage{Input: 12_345, Output: 678},
	})
	j.Turn = ""
}

// QueueMessage adds a message to the queue.
func (j *Journal) QueueMessage(by protocol.Actor, id, text string) {
	at := j.At
	j.AddBy(by, protocol.QueueAdded, protocol.QueueAddedData{
		Message: protocol.Message{
			MessageID:       id,
			ClientMessageID: "client-" + id,
			Text:            text,
			By:              &by,
			QueuedAt:        &at,
		},
	})
}

// RequestApproval adds a request with the missing options of a server whose agent can explain.
func (j *Journal) RequestApproval(a protocol.Approval) {
	a.Asked = j.At
	for _, o := range []protocol.Option{
		{ID: "once", Kind: protocol.AllowOnce, Label: "Allow once"},
		{ID: "deny", Kind: protocol.Deny, Label: "Deny"},
		{ID: "stop", Kind: protocol.DenyStop, Label: "Deny and stop the turn"},
		{ID: "explain", Kind: protocol.Explain, Label: "Explain first"},
	} {
		if !slices.ContainsFunc(a.Options, func(have protocol.Option) bool { return have.Kind == o.Kind }) {
			a.Options = append(a.Options, o)
		}
	}
	j.Add(protocol.ApprovalRequested, a)
}

// Conversation returns a session in its second turn.
func Conversation() *Journal {
	j := NewJournal()
	j.UserMessage(Ada, "m1", "The test in pkg/store fails now and then. Find out why and fix it, please.")
	j.Add(protocol.ReasoningStart, protocol.PartStartData{Part: "r1"})
	j.Add(protocol.ReasoningDelta, protocol.PartDeltaData{
		Part: "r1", Text: "A flaky test.\nLikely a race.\nRun it many times first.",
	})
	j.Add(protocol.ReasoningEnd, protocol.PartEndData{Part: "r1"})
	j.Text("t1", "I run the test ", "a hundred times ", "to see it fail.")
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t1"})
	exit := 1
	j.Add(protocol.ToolStarted, protocol.ToolStartedData{
		Tool:  "c1",
		Name:  "shell",
		Title: "go test -race -count=100 ./pkg/store",
		Input: json.RawMessage(`{"command":"go test -race -count=100 ./pkg/store"}`),
	})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{
		Tool: "c1",
		Text: "=== RUN   TestStore\n\x1b[31m--- FAIL\x1b[0m: TestStore (0.01s)\n" +
			"    store_test.go:42: got 3, want 4\n    store_test.go:43: 漢字 and 👩‍🚀\n",
	})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{
		Tool: "c1", Text: "WARNING: DATA RACE\nFAIL\nFAIL\tpkg/store\t0.812s\nFAIL\n",
	})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{
		Tool: "c1", Status: protocol.ToolFailed, ExitCode: &exit, DurationMS: 8120,
	})
	old := "a\nb\nc\n"
	j.Add(protocol.ToolStarted, protocol.ToolStartedData{
		Tool: "c2", Name: "edit", Title: "pkg/store/store.go", Kind: protocol.ToolEdit,
	})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{
		Tool:    "c2",
		Content: []protocol.Content{{Type: "diff", Path: "pkg/store/store.go", Old: &old, New: "a\nB\nc\n"}},
	})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c2", Status: protocol.ToolCompleted, DurationMS: 40})
	j.Text("t2", "The counter was read without its lock. It is fixed; all hundred runs pass now.")
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t2"})
	j.Add(protocol.ContextUpdated, protocol.ContextInfo{Tokens: 38_000, MaxTokens: 100_000, Percent: 38})
	j.EndTurn(protocol.ReasonCompleted)
	j.UserMessage(Bob, "m2", "Thanks. Now tidy the module.")
	j.Add(protocol.RetryScheduled, protocol.RetryData{
		Attempt: 1, Limit: 3, DelayMS: 2000, Cause: "the provider is overloaded",
	})
	j.Text("t3", "I look at the imports")
	return j
}

// CommandApproval returns a request to run a command.
func CommandApproval() protocol.Approval {
	return protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveCommand,
		Title:   "Tidy the module",
		Command: "go mod tidy",
		CWD:     "/home/ada/store",
		Why:     "The imports changed.",
		Options: []protocol.Option{
			{ID: "once", Kind: protocol.AllowOnce, Label: "Allow once"},
			{ID: "always", Kind: protocol.AllowAlways, Label: "Always allow", Scope: "go mod tidy in /home/ada/store"},
			{ID: "no", Kind: protocol.Deny, Label: "Deny"},
		},
	}
}

// Task adds an event of a task.
func (j *Journal) Task(id string, t protocol.Type, d protocol.TaskData) {
	d.Task = id
	j.Add(t, d)
	j.Pending[len(j.Pending)-1].Event.Task = id
}

// Tool starts a tool call and adds its first output, unless text is empty.
func (j *Journal) Tool(id string, d protocol.ToolStartedData, text string) {
	d.Tool = id
	j.Add(protocol.ToolStarted, d)
	if text != "" {
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: text})
	}
}
