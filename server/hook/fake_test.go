package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/list"
)

// fakeSessions are sessions in memory, and their store.
type fakeSessions struct {
	mu       sync.Mutex
	watchers map[list.Watcher]bool
	sums     map[string]*protocol.Summary
	events   map[string][]protocol.Event
	turns    map[string][]eventlog.TurnRow
	pending  map[string][]protocol.Approval
	decided  []decided
	failRead error
	reads    int
	slow     func(session string) // called before a decision; may be nil
}

type decided struct {
	session, request string
	decision         protocol.Decision
	by               protocol.Actor
	answers          string // as JSON
	secrets          string
}

func newFakeSessions() *fakeSessions {
	return &fakeSessions{
		watchers: map[list.Watcher]bool{}, sums: map[string]*protocol.Summary{},
		events: map[string][]protocol.Event{}, turns: map[string][]eventlog.TurnRow{},
		pending: map[string][]protocol.Approval{},
	}
}

func (f *fakeSessions) create(id string, change func(*protocol.Summary)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sums[id] = &protocol.Summary{Session: id, Epoch: "e1", Agent: "a", Status: protocol.Idle}
	if change != nil {
		change(f.sums[id])
	}
}

// emit appends an event and notifies watchers.
func (f *fakeSessions) emit(id, turn string, typ protocol.Type, data any) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sums[id]
	s.Seq++
	e := protocol.Event{
		Session: id, Seq: s.Seq, Turn: turn, Time: time.Now().UTC(), Type: typ, Data: protocol.MustEncode(data),
	}
	f.events[id] = append(f.events[id], e)
	switch typ {
	case protocol.TurnStarted:
		f.turns[id] = append(f.turns[id], eventlog.TurnRow{Turn: turn, First: s.Seq})
	case protocol.TurnEnded:
		s.Turns++
		s.Reason = data.(protocol.TurnEndedData).Reason
	case protocol.ApprovalRequested:
		f.pending[id] = append(f.pending[id], data.(protocol.Approval))
		s.Approvals++
	}
	for w := range f.watchers {
		w.Notify("summary "+id, nil)
	}
	return s.Seq
}

// endTurn emits a turn that says a text.
func (f *fakeSessions) endTurn(id, turn, text string, reason protocol.Reason) {
	f.emit(id, turn, protocol.TurnStarted, protocol.TurnStartedData{})
	f.emit(id, turn, protocol.TextDelta, protocol.PartDeltaData{Part: "p1", Text: "before"})
	f.emit(id, turn, protocol.TextDelta, protocol.PartDeltaData{Part: "p2", Text: text})
	f.emit(id, turn, protocol.TurnEnded, protocol.TurnEndedData{
		Reason: reason, Usage: &protocol.Usage{Cost: 0.5, Currency: "USD"},
	})
}

func newRequest(request string) protocol.Approval {
	return protocol.Approval{
		Request: request, Kind: protocol.ApproveCommand, Title: "Remove", Command: "rm -rf build", CWD: "/w",
		Asked: time.Now().UTC().Truncate(time.Millisecond),
		Options: []protocol.Option{
			{ID: "y", Kind: protocol.AllowOnce, Label: "Yes"}, {ID: "n", Kind: protocol.Deny, Label: "No"},
		},
	}
}

func (f *fakeSessions) ask(id string, a protocol.Approval) {
	f.emit(id, "t1", protocol.ApprovalRequested, a)
}

// Watch implements Sessions.
func (f *fakeSessions) Watch(w list.Watcher) (list []protocol.Summary) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers[w] = true
	for _, s := range f.sums {
		list = append(list, *s)
	}
	return list
}

// Unwatch implements Sessions.
func (f *fakeSessions) Unwatch(w list.Watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers, w)
}

// Summary implements Sessions.
func (f *fakeSessions) Summary(id string) (sum protocol.Summary, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sums[id]; s != nil {
		return *s, true
	}
	return sum, false
}

// Pending implements Requests.
func (f *fakeSessions) Pending(_ context.Context, id string) ([]protocol.Approval, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]protocol.Approval(nil), f.pending[id]...), nil
}

// Decide implements Requests.
func (f *fakeSessions) Decide(
	_ context.Context, id, digest string, d *protocol.ApproveData, by protocol.Actor,
) error {
	f.mu.Lock()
	slow := f.slow
	f.mu.Unlock()
	if slow != nil {
		slow(id)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.pending[id] {
		a := &f.pending[id][i]
		if a.Request != d.Request {
			continue
		}
		if _, now := approval.Digest(a); now != digest {
			return protocol.Errorf(protocol.CodeConflict, "another request")
		}
		if _, err := a.CheckAnswers(d.Input); d.Decision == protocol.AllowOnce && err != nil {
			return err
		}
		f.pending[id] = append(f.pending[id][:i:i], f.pending[id][i+1:]...)
		f.sums[id].Approvals--
		decision := decided{session: id, request: d.Request, decision: d.Decision, by: by}
		if d.Input != nil {
			decision.answers = string(protocol.MustEncode(d.Input.Answers))
			if d.Input.Secrets != nil {
				decision.secrets = string(protocol.MustEncode(d.Input.Secrets))
			}
		}
		f.decided = append(f.decided, decision)
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, "already decided")
}

func (f *fakeSessions) setSlow(slow func(session string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = slow
}

func (f *fakeSessions) decisions() []decided {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]decided(nil), f.decided...)
}

// Read implements Store.
func (f *fakeSessions) Read(
	_ context.Context, id string, after, through uint64, _ bool, _ int, dst []byte,
) ([]byte, uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.failRead != nil {
		return nil, 0, f.failRead
	}
	last := uint64(0)
	for i := range f.events[id] {
		if e := &f.events[id][i]; e.Seq > after && e.Seq <= through && e.Seq <= after+3 {
			dst = append(e.AppendJSON(dst), '\n')
			last = e.Seq
		}
	}
	return dst, last, nil
}

// Turns implements Store.
func (f *fakeSessions) Turns(_ context.Context, id string, before uint64, _ int) ([]eventlog.TurnRow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows := f.turns[id]
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].First < before {
			return rows[i : i+1], nil
		}
	}
	return nil, nil
}

// fakeSender is a receiver with answers set by the test.
type fakeSender struct {
	mu     sync.Mutex
	answer func(n *Notification) error
	got    []Notification // taken
	tries  []time.Time
}

func (f *fakeSender) send(ctx context.Context, id string, body []byte) error {
	var n Notification
	if err := json.Unmarshal(body, &n); err != nil || n.ID != id {
		return errors.New("not a notification")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries = append(f.tries, time.Now())
	if f.answer != nil {
		if err := f.answer(&n); err != nil {
			return err
		}
	}
	f.got = append(f.got, n)
	return ctx.Err()
}

func (*fakeSender) close() {}

func (f *fakeSender) taken() []Notification {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Notification(nil), f.got...)
}

func (f *fakeSender) set(answer func(*Notification) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// A rig is one hook with a fake receiver. It is started and closed any number of times.
type rig struct {
	t        *testing.T
	dir      string
	hook     Hook
	sessions *fakeSessions
	receiver *fakeSender
	log      bytes.Buffer

	hooks *Hooks
}

func newRig(t *testing.T, hook Hook) *rig {
	hook.Name, hook.Command = "phone", []string{"true"}
	return &rig{t: t, dir: t.TempDir(), hook: hook, sessions: newFakeSessions(), receiver: &fakeSender{}}
}

func (r *rig) start(hooks ...Hook) {
	r.t.Helper()
	if len(hooks) == 0 {
		hooks = []Hook{r.hook}
	}
	h, err := Start(Config{
		Dir: r.dir, Hooks: hooks, Sessions: r.sessions, Requests: r.sessions, Store: r.sessions,
		Log:       slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		newSender: func(*Hook) sender { return r.receiver },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.hooks = h
}

func (r *rig) close() {
	r.t.Helper()
	if err := r.hooks.Close(context.Background()); err != nil {
		r.t.Error(err)
	}
}
