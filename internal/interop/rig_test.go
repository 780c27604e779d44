//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/internal/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/process"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// patience bounds every wait for a real agent.
const patience = 60 * time.Second

// rig is a session on a real agent: model, agent, store and hub.
type rig struct {
	t       *testing.T
	agent   *realAgent
	model   *fakemodel.Handler
	config  acp.Config
	data    string // directory of the store
	cwd     string
	session string

	store *sqlite.Store
	hub   *session.Hub
	seen  []protocol.Event
}

// open makes a session on the agent, whose model answers as script says.
func open(t *testing.T, agent *realAgent, script fakemodel.Script) *rig {
	t.Helper()
	r := &rig{t: t, agent: agent, model: fakemodel.New(script), data: t.TempDir(), cwd: t.TempDir()}
	endpoint := httptest.NewServer(r.model)
	t.Cleanup(endpoint.Close)
	r.config = agent.config(t, t.TempDir(), endpoint.URL)
	r.start()
	t.Cleanup(func() { r.stop() })
	var made protocol.CreateResult
	r.do(protocol.DoCreate, protocol.CreateData{Agent: agent.name, CWD: r.cwd}, &made)
	r.session = made.Session
	return r
}

// Open implements session.Agents.
func (r *rig) Open(spec session.Spec, host session.Host) (session.Agent, error) {
	return acp.New(r.config, spec, host)
}

// Names implements session.Agents.
func (r *rig) Names() []string { return []string{r.agent.name} }

func (r *rig) start() {
	r.t.Helper()
	var err error
	if r.store, err = sqlite.Open(r.data, sqlite.Options{}); err != nil {
		r.t.Fatal(err)
	}
	r.hub, err = session.NewHub(r.t.Context(), session.Config{Store: r.store, Agents: r, EndGroup: func(g session.Group) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return process.EndGroup(ctx, process.Group{PID: g.PID, Start: g.Start}, time.Second)
	}})
	if err != nil {
		r.t.Fatal(err)
	}
}

// stop ends the hub and checks that no process of the agent is left.
func (r *rig) stop() {
	r.t.Helper()
	groups, err := r.store.Groups(context.Background())
	if err != nil {
		r.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.hub.Close(ctx); err != nil {
		r.t.Error(err)
	}
	for _, g := range groups {
		if syscall.Kill(-g.PID, 0) == nil {
			r.t.Errorf("process group %d is left over", g.PID)
		}
	}
	if left, err := r.store.Groups(ctx); err != nil || len(left) > 0 {
		r.t.Errorf("process groups recorded as left: %+v, %v", left, err)
	}
	if err := r.store.Close(); err != nil {
		r.t.Error(err)
	}
}

// do carries out a command and decodes its result.
func (r *rig) do(verb protocol.Verb, data, result any) {
	r.t.Helper()
	type answer struct {
		raw json.RawMessage
		err error
	}
	answered := make(chan answer, 1)
	c := &protocol.Command{Command: verb, Session: r.session, Data: protocol.MustEncode(data)}
	who := session.Caller{By: protocol.Actor{Name: "tester"}}
	r.hub.Do(r.t.Context(), c, who, func(raw json.RawMessage, err error) { answered <- answer{raw, err} })
	select {
	case a := <-answered:
		if a.err != nil {
			r.t.Fatalf("%s: %v", verb, a.err)
		}
		if err := json.Unmarshal(a.raw, result); err != nil {
			r.t.Fatal(err)
		}
	case <-time.After(patience):
		r.t.Fatalf("%s was not answered; the log is\n%s", verb, r.story())
	}
}

func (r *rig) send(text string) {
	r.t.Helper()
	r.do(protocol.DoSend, protocol.SendData{Text: text}, &protocol.SendResult{})
}

// await returns the first event of the type after those awaited before.
func (r *rig) await(kind protocol.Type) protocol.Event {
	r.t.Helper()
	return r.awaitWhere(string(kind), func(e *protocol.Event) bool { return e.Type == kind })
}

func (r *rig) awaitWhere(what string, ok func(*protocol.Event) bool) protocol.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for {
		for _, e := range r.read(ctx) {
			r.seen = append(r.seen, e)
			if ok(&e) {
				return e
			}
		}
		select {
		case <-ctx.Done():
			r.t.Fatalf("waited for %s in vain; the log is\n%s", what, r.story())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// read returns the events that were not awaited yet.
func (r *rig) read(ctx context.Context) []protocol.Event {
	r.t.Helper()
	var after uint64
	if n := len(r.seen); n > 0 {
		after = r.seen[n-1].Seq
	}
	lines, _, err := r.store.Read(ctx, r.session, after, 1<<62, false, 1<<30, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	var events []protocol.Event
	for line := range strings.Lines(string(lines)) {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			r.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// turnEnded waits for the turn's end and checks its reason.
func (r *rig) turnEnded(want protocol.Reason) {
	r.t.Helper()
	e := r.await(protocol.TurnEnded)
	var d protocol.TurnEndedData
	r.decode(e, &d)
	if d.Reason != want {
		r.t.Fatalf("the turn ended as %+v, want %s; the log is\n%s", d, want, r.story())
	}
}

func (r *rig) decode(e protocol.Event, v any) {
	r.t.Helper()
	if err := e.Decode(v); err != nil {
		r.t.Fatal(err)
	}
}

// said joins the text that was awaited, from the last user message on.
func (r *rig) said() string {
	r.t.Helper()
	var b strings.Builder
	for _, e := range r.seen {
		switch e.Type {
		case protocol.MessageUser:
			b.Reset()
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			r.decode(e, &d)
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// count counts the awaited events of a type, from the last user message on.
func (r *rig) count(kind protocol.Type) int {
	n := 0
	for _, e := range r.seen {
		switch e.Type {
		case protocol.MessageUser:
			n = 0
		case kind:
			n++
		}
	}
	return n
}

// story is the log for people.
func (r *rig) story() string {
	var b strings.Builder
	for _, e := range append(r.seen, r.read(context.Background())...) {
		line := string(e.AppendJSON(nil))
		b.WriteString(line[:min(len(line), 400)] + "\n")
	}
	return b.String()
}
