package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// native is the name of the native protocol in these tests.
const native = "native"

// workScript is an agent that on "work" writes text, runs a tool and requests an approval, and on
// "slow" writes slowly.
var workScript = []string{
	`{"on":"work"}`,
	`{"say":"It is late. ","words":1}`,
	`{"tool":"shell","id":"call{n}","kind":"execute","title":"List","input":{"command":["ls"]},"output":"build src"}`,
	`{"ask":"command","request":"r{n}","command":"rm -rf build","title":"Remove","then":[{"say":"Removed it."}],"else":[{"say":"Kept it."}]}`,
	`{"on":"slow"}`,
	`{"say":"one two three four five six seven eight nine ten","words":1,"delay":"10s"}`,
}

// A follower is a client that follows a session, natively or in a dialect.
type follower struct {
	t       *testing.T
	dialect string
	client  *wsclient.Client
	session string
	in      chan wsclient.Item
	errs    chan error
	*observer
}

// dialectClient connects to the server's endpoint of a dialect, or natively.
func (w *testServer) dialectClient(protocolName, session string, tweak ...func(*wsclient.Options)) *wsclient.Client {
	w.t.Helper()
	url := "ws://server"
	o := wsclient.Options{Name: protocolName + " user", UserAgent: "e2e", Dial: w.dial}
	if protocolName != native {
		o.Dialect = protocolName
		url += "/dialect/" + protocolName
	}
	if protocolName == "agentloop" {
		url += "/" + session
	}
	for _, f := range tweak {
		f(&o)
	}
	c := wsclient.New(url, o)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// follow follows a session and returns once attached.
func follow(t *testing.T, protocolName string, c *wsclient.Client, session string) *follower {
	t.Helper()
	s := &follower{
		t:       t,
		dialect: protocolName,
		client:  c,
		session: session,
		in:      make(chan wsclient.Item, 1<<14),
		errs:    make(chan error, 1),
	}
	s.observer = &observer{session: session, resets: protocolName != native, transcript: &protocol.Transcript{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for it, err := range c.Subscribe(session, wsclient.SubscribeOptions{}).Events(ctx) {
			if err != nil {
				s.errs <- err
				return
			}
			s.in <- it
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	s.waitFor(protocol.CaughtUp)
	return s
}

// waitFor applies items up to the first event of a type.
func (s *follower) waitFor(typ protocol.Type) *protocol.Event {
	s.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case it := <-s.in:
			switch {
			case it.Attached != nil:
				err := s.attach(s.t.Context(), s.client, it.Attached)
				if protocol.CodeOf(err) == protocol.CodeUnsupported { // the dialect has no history
					err = nil
				}
				s.failIf(err)
			case it.Event.Durable():
				s.failIf(s.apply(it.Event, it.Raw))
			}
			if it.Event != nil && it.Event.Type == typ {
				return it.Event
			}
		case err := <-s.errs:
			s.t.Fatalf("%s: %v", s.dialect, err)
		case <-late:
			s.t.Fatalf("%s: no %s; got\n%s", s.dialect, typ, strings.Join(s.raw, "\n"))
		}
	}
}

func (s *follower) failIf(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v; got\n%s", s.dialect, err, strings.Join(s.raw, "\n"))
	}
}

// lastTurn returns the newest turn seen by this client.
func (s *follower) lastTurn() *protocol.Turn { return s.transcript.Turns[len(s.transcript.Turns)-1] }

// agentText returns the words of the agent in the newest turn. Not every dialect preserves part
// boundaries.
func (s *follower) agentText() string {
	var b strings.Builder
	for _, it := range s.lastTurn().Items {
		if it.Kind == protocol.ItemText {
			b.Write(it.Text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// toolSummary lists the tools of the newest turn and their status. It omits the extra tool by which
// some dialects represent an approval.
func (s *follower) toolSummary() string {
	var list []string
	for _, it := range s.lastTurn().Items {
		if it.Kind == protocol.ItemTool && it.Tool.Name != "command" {
			status := protocol.ToolStatus("open")
			if it.Tool.End != nil {
				status = it.Tool.End.Status
			}
			list = append(list, fmt.Sprintf("%s %s", it.Tool.Name, status))
		}
	}
	return strings.Join(list, ", ")
}

// checkWorkTurn runs the "work" turn through one client and checks that it appears as natively.
func checkWorkTurn(t *testing.T, w *testServer, s *follower) {
	t.Helper()
	t.Logf("%s", s.dialect)
	w.send(s.client, s.session, "work")
	s.waitFor(protocol.ApprovalRequested)
	pending := s.state.Approvals
	if len(pending) != 1 || !strings.Contains(pending[0].Command+pending[0].Title, "rm -rf build") {
		t.Errorf("%s: approvals %+v", s.dialect, pending)
	}
	r := do[protocol.ApproveResult](
		t, s.client, protocol.DoApprove, s.session,
		protocol.ApproveData{Request: pending[0].Request, Decision: protocol.AllowOnce},
	)
	if r.Outcome != protocol.Allowed {
		t.Errorf("%s: decision %+v", s.dialect, r)
	}
	s.waitFor(protocol.TurnEnded)
	if got := s.agentText(); got != "It is late. Removed it." {
		t.Errorf("%s: agent text %q", s.dialect, got)
	}
	if got := s.toolSummary(); got != "shell completed" {
		t.Errorf("%s: the tools: %s", s.dialect, got)
	}
	if s.state.Last.Reason != protocol.ReasonCompleted || len(s.state.Approvals) > 0 {
		t.Errorf("%s: ended %+v, pending %+v", s.dialect, s.state.Last, s.state.Approvals)
	}
}

func TestOneSessionIsTheSameInEveryDialect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, workScript...)
		id := w.create(w.client("ann"))
		var followers []*follower
		for _, name := range append([]string{native}, dialect.Names()...) {
			followers = append(followers, follow(t, name, w.dialectClient(name, id), id))
		}
		// Not every dialect confirms a subscription.
		synctest.Wait()
		for _, decider := range followers { // each one sends and decides once
			w.send(decider.client, id, "work")
			for _, s := range followers {
				s.waitFor(protocol.ApprovalRequested)
				if pending := s.state.Approvals; len(pending) != 1 ||
					!strings.Contains(pending[0].Command+pending[0].Title, "rm -rf build") {
					t.Errorf("%s: approvals %+v", s.dialect, pending)
				}
			}
			do[protocol.ApproveResult](t, decider.client, protocol.DoApprove, id,
				protocol.ApproveData{Request: decider.state.Approvals[0].Request, Decision: protocol.AllowOnce})
			for _, s := range followers {
				s.waitFor(protocol.ApprovalResolved)
				if len(s.state.Approvals) > 0 {
					t.Errorf("%s decided; %s still has %+v", decider.dialect, s.dialect, s.state.Approvals)
				}
			}
			for _, s := range followers {
				s.waitFor(protocol.TurnEnded)
				if got := s.agentText(); got != "It is late. Removed it." {
					t.Errorf("%s decided; %s has text %q", decider.dialect, s.dialect, got)
				}
				if got := s.toolSummary(); got != "shell completed" {
					t.Errorf("%s decided; %s: tools: %s", decider.dialect, s.dialect, got)
				}
				hasMessage := s.lastTurn().Message.Text == "work" ||
					s.dialect == "multiagent" // multiagent shows only own messages
				if s.state.Last.Reason != protocol.ReasonCompleted || !hasMessage {
					t.Errorf(
						"%s decided; %s: %+v ended %+v", decider.dialect, s.dialect, s.lastTurn().Message, s.state.Last,
					)
				}
			}
		}
	})
}

func TestTheClientWorksThroughEveryDialect(t *testing.T) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, workScript...)
				id := w.create(w.client("ann"))
				s := follow(t, name, w.dialectClient(name, id), id)
				checkWorkTurn(t, w, s)

				w.send(s.client, id, "slow")
				s.waitFor(protocol.TextDelta)
				_, err := wsclient.Call[protocol.InterruptResult](
					t.Context(), s.client, protocol.DoInterrupt, id, protocol.InterruptData{},
				)
				want := protocol.ReasonInterrupted
				if name == "agentloop" { // cannot interrupt
					if protocol.CodeOf(err) != protocol.CodeUnsupported {
						t.Errorf("interrupt: %v", err)
					}
					_, err = wsclient.Call[protocol.InterruptResult](
						t.Context(), w.client("bob"), protocol.DoInterrupt, id, protocol.InterruptData{},
					)
					want = protocol.ReasonCompleted
				}
				if err != nil {
					t.Errorf("interrupt: %v", err)
				}
				if s.waitFor(protocol.TurnEnded); s.state.Last.Reason != want {
					t.Errorf("an interrupted turn ended %+v", s.state.Last)
				}
				if got := s.agentText(); !strings.HasPrefix(got, "one") || strings.HasSuffix(got, "ten") {
					t.Errorf("interrupted agent text %q", got)
				}
			})
		})
	}
}
