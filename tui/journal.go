package tui

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/tui/protolog"
	"agentctl/tui/remote"

	"agentctl/protocol"
)

var (
	ada = protocol.Actor{Name: "ada"}
	bob = protocol.Actor{Name: "bob"}
)

// dawn is when recorded sessions begin.
var dawn = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

// recording is a session that tells what it is given and keeps what it is asked.
type recording struct {
	updates chan remote.Update

	mu      sync.Mutex
	asked   []asking
	retried int
	reply   func(asking) (any, error) // nil: everything succeeds

	withdraws func(id string) bool // nil: nothing is
}

func (r *recording) Withdraw(id string) bool { return r.withdraws != nil && r.withdraws(id) }

type asking struct {
	verb protocol.Verb
	data any
}

func newRecording() *recording { return &recording{updates: make(chan remote.Update, 64)} }

func (r *recording) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		for {
			select {
			case u, ok := <-r.updates:
				if !ok || !yield(u) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (r *recording) Retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retried++
}

func (r *recording) Do(ctx context.Context, verb protocol.Verb, data, result any) error {
	a := asking{verb, data}
	r.mu.Lock()
	r.asked = append(r.asked, a)
	reply := r.reply
	r.mu.Unlock()
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

// commands are the verbs and data asked so far, history aside.
func (r *recording) commands() []asking {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []asking
	for _, a := range r.asked {
		if a.verb != protocol.DoHistory {
			out = append(out, a)
		}
	}
	return out
}

// journal writes a session's log: each call is the next event.
type journal struct {
	out  remote.Updates
	seq  uint64
	at   time.Time
	turn string
	by   *protocol.Actor
}

func newJournal() *journal {
	j := &journal{at: dawn}
	j.link(remote.Conn{State: remote.Connected, Connection: "c1", By: ada})
	j.out = append(j.out, remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "k3f9ab"},
		Snapshot: &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{}},
		Clients:  []protocol.Client{{Client: "c1", By: ada}, {Client: "c2", By: bob}},
	}})
	j.add(protocol.SessionCreated, protocol.SessionCreatedData{Name: "fix-tests", Agent: "gemini"})
	return j
}

// back ends an outage: what is written before the next caughtUp was missed.
func (j *journal) back(mode string, missed uint64) {
	j.link(remote.Conn{State: remote.Connected, Connection: "c9", By: ada})
	at := protocol.Position{Epoch: "k3f9ab", Seq: j.seq}
	j.out = append(j.out, remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: mode, After: at, Position: protocol.Position{Epoch: at.Epoch, Seq: at.Seq + missed},
		Clients: []protocol.Client{{Client: "c9", By: ada}},
	}})
}

func (j *journal) link(l remote.Conn) { j.out = append(j.out, remote.Update{Conn: &l}) }

func (j *journal) add(t protocol.Type, data any) {
	j.seq++
	j.at = j.at.Add(time.Second)
	j.out = append(j.out, remote.Update{Event: &protocol.Event{
		Session: "s1", Seq: j.seq, Turn: j.turn, Time: j.at, Type: t, By: j.by, Data: protocol.MustEncode(data),
	}})
}

func (j *journal) as(by protocol.Actor, t protocol.Type, data any) {
	j.by = &by
	j.add(t, data)
	j.by = nil
}

func (j *journal) ephemeral(t protocol.Type, data any) {
	j.out = append(j.out, remote.Update{Event: &protocol.Event{Session: "s1", Time: j.at, Type: t, Data: protocol.MustEncode(data)}})
}

func (j *journal) caughtUp() { j.ephemeral(protocol.CaughtUp, protocol.CaughtUpData{}) }

// take gives what was written since the last call.
func (j *journal) take() remote.Updates {
	b := j.out
	j.out = nil
	return b
}

func (j *journal) user(by protocol.Actor, id, text string) {
	j.turn = "turn-" + id
	j.as(by, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: id, ClientMessageID: "client-" + id, Text: text, By: &by}})
	j.add(protocol.TurnStarted, protocol.TurnStartedData{MessageID: id})
}

func (j *journal) say(part string, pieces ...string) {
	j.add(protocol.TextStart, protocol.PartStartData{Part: part})
	for _, p := range pieces {
		j.add(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: p})
	}
}

func (j *journal) end(reason protocol.Reason) {
	j.add(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason, DurationMS: 12_300, Usage: &protocol.Usage{Input: 12_345, Output: 678}})
	j.turn = ""
}

func (j *journal) queued(by protocol.Actor, id, text string) {
	at := j.at
	j.as(by, protocol.QueueAdded, protocol.QueueAddedData{Message: protocol.Message{MessageID: id, ClientMessageID: "client-" + id, Text: text, By: &by, QueuedAt: &at}})
}

// asks offers what a server offers for an agent that can explain.
func (j *journal) asks(a protocol.Approval) {
	a.Asked = j.at
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
	j.add(protocol.ApprovalRequested, a)
}

// conversation is a session in the middle of its second turn.
func conversation() *journal {
	j := newJournal()
	j.user(ada, "m1", "The test in pkg/store fails now and then. Find out why and fix it, please.")
	j.add(protocol.ReasoningStart, protocol.PartStartData{Part: "r1"})
	j.add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r1", Text: "A flaky test.\nLikely a race.\nRun it many times first."})
	j.add(protocol.ReasoningEnd, protocol.PartEndData{Part: "r1"})
	j.say("t1", "I run the test ", "a hundred times ", "to see it fail.")
	j.add(protocol.TextEnd, protocol.PartEndData{Part: "t1"})
	exit := 1
	j.add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "shell", Title: "go test -race -count=100 ./pkg/store", Input: json.RawMessage(`{"command":"go test -race -count=100 ./pkg/store"}`)})
	j.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "=== RUN   TestStore\n\x1b[31m--- FAIL\x1b[0m: TestStore (0.01s)\n    store_test.go:42: got 3, want 4\n    store_test.go:43: 漢字 and 👩‍🚀\n"})
	j.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "WARNING: DATA RACE\nFAIL\nFAIL\tpkg/store\t0.812s\nFAIL\n"})
	j.add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolFailed, ExitCode: &exit, DurationMS: 8120})
	old := "a\nb\nc\n"
	j.add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c2", Name: "edit", Title: "pkg/store/store.go", Kind: protocol.ToolEdit})
	j.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c2", Content: []protocol.Content{{Type: "diff", Path: "pkg/store/store.go", Old: &old, New: "a\nB\nc\n"}}})
	j.add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c2", Status: protocol.ToolCompleted, DurationMS: 40})
	j.say("t2", "The counter was read without its lock. It is fixed; all hundred runs pass now.")
	j.add(protocol.TextEnd, protocol.PartEndData{Part: "t2"})
	j.add(protocol.ContextUpdated, protocol.ContextInfo{Tokens: 38_000, MaxTokens: 100_000, Percent: 38})
	j.end(protocol.ReasonCompleted)
	j.user(bob, "m2", "Thanks. Now tidy the module.")
	j.add(protocol.RetryScheduled, protocol.RetryData{Attempt: 1, Limit: 3, DelayMS: 2000, Cause: "the provider is overloaded"})
	j.say("t3", "I look at the imports")
	return j
}

func tidy() protocol.Approval {
	return protocol.Approval{
		Request: "r1", Kind: protocol.ApproveCommand, Title: "Tidy the module", Command: "go mod tidy", CWD: "/home/ada/store",
		Why: "The imports changed.", Options: []protocol.Option{
			{ID: "once", Kind: protocol.AllowOnce, Label: "Allow once"},
			{ID: "always", Kind: protocol.AllowAlways, Label: "Always allow", Scope: "go mod tidy in /home/ada/store"},
			{ID: "no", Kind: protocol.Deny, Label: "Deny"},
		},
	}
}

// task is an event of a task.
func (j *journal) task(id string, t protocol.Type, d protocol.TaskData) {
	d.Task = id
	j.add(t, d)
	j.out[len(j.out)-1].Event.Task = id
}

// tool starts a call and says something in it.
func (j *journal) tool(id string, d protocol.ToolStartedData, text string) {
	d.Tool = id
	j.add(protocol.ToolStarted, d)
	if text != "" {
		j.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: text})
	}
}

// wired is a recording whose connection can be looked at.
type wired struct {
	*recording
	log *protolog.Log
}

func (w wired) Wire() *protolog.Log { return w.log }

// traffic is a short conversation on the wire.
func traffic() *protolog.Log {
	l := protolog.NewLog("the-token")
	at := dawn
	add := func(after time.Duration, sent bool, lines ...string) {
		at = at.Add(after)
		l.AddFrame(at, sent, false, []byte(strings.Join(lines, "\n")))
	}
	l.AddNote(at, "opened ws://box:7777/v1/ws")
	add(time.Millisecond, true, `{"id":"hello","command":"hello","data":{"version":"agentctl.v1","name":"ada"}}`)
	add(4*time.Millisecond, false, `{"id":"hello","result":{"version":"agentctl.v1","server":"agentctl","connection":"c1"}}`)
	add(time.Second, true, `{"id":"1","command":"send","session":"s1","key":"K1","data":{"text":"修复测试 please"}}`)
	add(23*time.Millisecond, false, `{"id":"1","result":{"status":"started","message_id":"m1"}}`,
		`{"session":"s1","seq":4,"turn":"t1","time":"2026-03-04T09:41:01Z","type":"turn.started","data":{"message_id":"m1"}}`)
	add(time.Second, false, `{"session":"s1","seq":9,"first_seq":5,"type":"fold","data":{"parts":[{"part":"p","kind":"text","text":"On it.\u001b[2J"}]}}`)
	add(time.Millisecond, true, `{"command":"ack","session":"s1","data":{"seq":9}}`)
	add(time.Second, true, `{"id":"2","command":"approve","session":"s1","data":{"request":"r1","decision":"deny","token":"the-token"}}`)
	add(3*time.Second, false, `{"id":"2","error":{"code":"conflict","message":"decided by bob"}}`)
	return l
}

// Errors that a recorded session replies with.
var (
	errCannotSearch = protocol.Errorf(protocol.CodeUnsupported, "it cannot search")
	errRefused      = protocol.Errorf(protocol.CodeForbidden, "observers may not do that")
)
