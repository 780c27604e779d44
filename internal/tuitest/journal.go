package tuitest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/tui/protolog"
	"agentctl/tui/remote"
)

var (
	Ada = protocol.Actor{Name: "ada"}
	Bob = protocol.Actor{Name: "bob"}
)

// Start is when recorded sessions begin.
var Start = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

// FakeSession is a session that tells what it is given and keeps what it is asked.
type FakeSession struct {
	Feed chan remote.Update // given to the view

	Mu      sync.Mutex
	Sent    []Command
	Retries int
	Reply   func(Command) (any, error) // nil: everything succeeds

	OnWithdraw func(id string) bool // nil: nothing is
}

func (r *FakeSession) Withdraw(id string) bool { return r.OnWithdraw != nil && r.OnWithdraw(id) }

type Command struct {
	Verb protocol.Verb
	Data any
}

func NewFakeSession() *FakeSession { return &FakeSession{Feed: make(chan remote.Update, 64)} }

func (r *FakeSession) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		for {
			select {
			case u, ok := <-r.Feed:
				if !ok || !yield(u) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (r *FakeSession) Retry() {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Retries++
}

func (r *FakeSession) Do(ctx context.Context, verb protocol.Verb, data, result any) error {
	a := Command{verb, data}
	r.Mu.Lock()
	r.Sent = append(r.Sent, a)
	reply := r.Reply
	r.Mu.Unlock()
	if reply == nil {
		return ctx.Err()
	}
	answer, err := reply(a)
	if err != nil || result == nil || answer == nil {
		return err
	}
	raw, err := protocol.Encode(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// Commands are the verbs and data asked so far, history aside.
func (r *FakeSession) Commands() []Command {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	var out []Command
	for _, a := range r.Sent {
		if a.Verb != protocol.DoHistory {
			out = append(out, a)
		}
	}
	return out
}

// Journal writes a session's log: each call is the next event.
type Journal struct {
	Pending remote.Updates
	Seq     uint64
	At      time.Time
	Turn    string
	by      *protocol.Actor
}

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

// Reconnect ends an outage: what is written before the next caughtUp was missed.
func (j *Journal) Reconnect(mode string, missed uint64) {
	j.Conn(remote.Conn{State: remote.Connected, Connection: "c9", By: Ada})
	at := protocol.Position{Epoch: "k3f9ab", Seq: j.Seq}
	j.Pending = append(j.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: mode, After: at, Position: protocol.Position{Epoch: at.Epoch, Seq: at.Seq + missed},
		Clients: []protocol.Client{{Client: "c9", By: Ada}},
	}})
}

func (j *Journal) Conn(l remote.Conn) { j.Pending = append(j.Pending, remote.Update{Conn: &l}) }

func (j *Journal) Add(t protocol.Type, data any) {
	j.Seq++
	j.At = j.At.Add(time.Second)
	j.Pending = append(j.Pending, remote.Update{Event: &protocol.Event{
		Session: "s1", Seq: j.Seq, Turn: j.Turn, Time: j.At, Type: t, By: j.by, Data: protocol.MustEncode(data),
	}})
}

func (j *Journal) AddBy(by protocol.Actor, t protocol.Type, data any) {
	j.by = &by
	j.Add(t, data)
	j.by = nil
}

func (j *Journal) Ephemeral(t protocol.Type, data any) {
	j.Pending = append(j.Pending, remote.Update{
		Event: &protocol.Event{Session: "s1", Time: j.At, Type: t, Data: protocol.MustEncode(data)},
	})
}

func (j *Journal) CaughtUp() { j.Ephemeral(protocol.CaughtUp, protocol.CaughtUpData{}) }

// Take gives what was written since the last call.
func (j *Journal) Take() remote.Updates {
	b := j.Pending
	j.Pending = nil
	return b
}

func (j *Journal) UserMessage(by protocol.Actor, id, text string) {
	j.Turn = "turn-" + id
	j.AddBy(by, protocol.MessageUser, protocol.MessageUserData{
		Message: protocol.Message{MessageID: id, ClientMessageID: "client-" + id, Text: text, By: &by},
	})
	j.Add(protocol.TurnStarted, protocol.TurnStartedData{MessageID: id})
}

func (j *Journal) Text(part string, pieces ...string) {
	j.Add(protocol.TextStart, protocol.PartStartData{Part: part})
	for _, p := range pieces {
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: p})
	}
}

func (j *Journal) EndTurn(reason protocol.Reason) {
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: reason, DurationMS: 12_300, Usage: &protocol.Usage{Input: 12_345, Output: 678},
	})
	j.Turn = ""
}

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

// RequestApproval offers what a server offers for an agent that can explain.
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

// Conversation is a session in the middle of its second turn.
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
		Text: "=== RUN   TestStore\n\x1b[31m--- FAIL\x1b[0m: TestStore (0.01s)\n    store_test.go:42: got 3, want 4\n    store_test.go:43: 漢字 and 👩‍🚀\n",
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

// Task is an event of a task.
func (j *Journal) Task(id string, t protocol.Type, d protocol.TaskData) {
	d.Task = id
	j.Add(t, d)
	j.Pending[len(j.Pending)-1].Event.Task = id
}

// Tool starts a call and says something in it.
func (j *Journal) Tool(id string, d protocol.ToolStartedData, text string) {
	d.Tool = id
	j.Add(protocol.ToolStarted, d)
	if text != "" {
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: text})
	}
}

// LoggedSession is a recording whose connection can be looked at.
type LoggedSession struct {
	*FakeSession
	Log *protolog.Log
}

func (w LoggedSession) ProtocolLog() *protolog.Log { return w.Log }

// SampleLog is a short conversation on the wire.
func SampleLog() *protolog.Log {
	l := protolog.NewLog("the-token")
	at := Start
	add := func(after time.Duration, sent bool, lines ...string) {
		at = at.Add(after)
		l.AddFrame(at, sent, false, []byte(strings.Join(lines, "\n")))
	}
	l.AddNote(at, "opened ws://box:7777/v1/ws")
	add(time.Millisecond, true, `{"id":"hello","command":"hello","data":{"version":"agentctl.v1","name":"ada"}}`)
	add(
		4*time.Millisecond,
		false,
		`{"id":"hello","result":{"version":"agentctl.v1","server":"agentctl","connection":"c1"}}`,
	)
	add(time.Second, true, `{"id":"1","command":"send","session":"s1","key":"K1","data":{"text":"修复测试 please"}}`)
	add(
		23*time.Millisecond,
		false,
		`{"id":"1","result":{"status":"started","message_id":"m1"}}`,
		`{"session":"s1","seq":4,"turn":"t1","time":"2026-03-04T09:41:01Z","type":"turn.started","data":{"message_id":"m1"}}`,
	)
	add(
		time.Second,
		false,
		`{"session":"s1","seq":9,"first_seq":5,"type":"fold","data":{"parts":[{"part":"p","kind":"text","text":"On it.\u001b[2J"}]}}`,
	)
	add(time.Millisecond, true, `{"command":"ack","session":"s1","data":{"seq":9}}`)
	add(
		time.Second,
		true,
		`{"id":"2","command":"approve","session":"s1","data":{"request":"r1","decision":"deny","token":"the-token"}}`,
	)
	add(3*time.Second, false, `{"id":"2","error":{"code":"conflict","message":"decided by bob"}}`)
	return l
}

// Errors that a recorded session replies with.
var (
	ErrCannotSearch = protocol.Errorf(protocol.CodeUnsupported, "it cannot search")
	ErrRefused      = protocol.Errorf(protocol.CodeForbidden, "observers may not do that")
)
