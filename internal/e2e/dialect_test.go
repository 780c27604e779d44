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

// native stands for no dialect.
const native = "native"

// lines of an agent that says something, uses a tool, asks, and says what was decided; and of a slow one.
var working = []string{
	`{"on":"work"}`,
	`{"say":"It is late. ","words":1}`,
	`{"tool":"shell","id":"call{n}","kind":"execute","title":"List","input":{"command":["ls"]},"output":"build src"}`,
	`{"ask":"command","request":"r{n}","command":"rm -rf build","title":"Remove","then":[{"say":"Removed it."}],"else":[{"say":"Kept it."}]}`,
	`{"on":"slow"}`,
	`{"say":"one two three four five six seven eight nine ten","words":1,"delay":"10s"}`,
}

// A seat is a client that follows a session, in whatever language.
type seat struct {
	t       *testing.T
	tongue  string
	client  *wsclient.Client
	session string
	in      chan wsclient.Item
	errs    chan error
	*witness
}

// speaking connects to the mount of a dialect, or natively.
func (w *world) speaking(tongue, session string, tweak ...func(*wsclient.Options)) *wsclient.Client {
	w.t.Helper()
	url := "ws://server"
	o := wsclient.Options{Name: tongue + " user", UserAgent: "e2e", Dial: w.dial}
	if tongue != native {
		o.Dialect = tongue
		url += "/dialect/" + tongue
	}
	if tongue == "agentloop" {
		url += "/" + session
	}
	for _, f := range tweak {
		f(&o)
	}
	c := wsclient.New(url, o)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// sit follows a session; it is attached when this returns.
func sit(t *testing.T, tongue string, c *wsclient.Client, session string) *seat {
	t.Helper()
	s := &seat{t: t, tongue: tongue, client: c, session: session, in: make(chan wsclient.Item, 1<<14), errs: make(chan error, 1)}
	s.witness = &witness{session: session, resets: tongue != native, transcript: &protocol.Transcript{}}
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
	s.until(protocol.CaughtUp)
	return s
}

// until takes in what comes, through the first event of a type.
func (s *seat) until(typ protocol.Type) *protocol.Event {
	s.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case it := <-s.in:
			switch {
			case it.Attached != nil:
				err := s.attach(s.t.Context(), s.client, it.Attached)
				if protocol.CodeOf(err) == protocol.CodeUnsupported { // a dialect without a history
					err = nil
				}
				s.failIf(err)
			case it.Event.Durable():
				s.failIf(s.take(it.Event, it.Raw))
			}
			if it.Event != nil && it.Event.Type == typ {
				return it.Event
			}
		case err := <-s.errs:
			s.t.Fatalf("%s: %v", s.tongue, err)
		case <-late:
			s.t.Fatalf("%s: no %s; came\n%s", s.tongue, typ, strings.Join(s.raw, "\n"))
		}
	}
}

func (s *seat) failIf(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v; came\n%s", s.tongue, err, strings.Join(s.raw, "\n"))
	}
}

// last is the newest turn as this client saw it.
func (s *seat) last() *protocol.Turn { return s.transcript.Turns[len(s.transcript.Turns)-1] }

// said is what the agent said in the newest turn, word for word: where a part ends, not every dialect can say.
func (s *seat) said() string {
	var b strings.Builder
	for _, it := range s.last().Items {
		if it.Kind == protocol.ItemText {
			b.Write(it.Text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// tools is what the newest turn's tools did. Where a dialect asks about tools alone, what is asked about is one more.
func (s *seat) tools() string {
	var list []string
	for _, it := range s.last().Items {
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

// worksThrough has a session do all that it can, through one client, and reports what differs from how it is natively.
func worksThrough(t *testing.T, w *world, s *seat) {
	t.Helper()
	t.Logf("%s", s.tongue)
	w.send(s.client, s.session, "work")
	s.until(protocol.ApprovalRequested)
	pending := s.state.Approvals
	if len(pending) != 1 || !strings.Contains(pending[0].Command+pending[0].Title, "rm -rf build") {
		t.Errorf("%s: asked %+v", s.tongue, pending)
	}
	r := do[protocol.ApproveResult](t, s.client, protocol.DoApprove, s.session, protocol.ApproveData{Request: pending[0].Request, Decision: protocol.AllowOnce})
	if r.Outcome != protocol.Allowed {
		t.Errorf("%s: decided %+v", s.tongue, r)
	}
	s.until(protocol.TurnEnded)
	if got := s.said(); got != "It is late. Removed it." {
		t.Errorf("%s: the agent said %q", s.tongue, got)
	}
	if got := s.tools(); got != "shell completed" {
		t.Errorf("%s: the tools: %s", s.tongue, got)
	}
	if s.state.Last.Reason != protocol.ReasonCompleted || len(s.state.Approvals) > 0 {
		t.Errorf("%s: ended %+v, pending %+v", s.tongue, s.state.Last, s.state.Approvals)
	}
}

func TestOneSessionIsTheSameInEveryDialect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, working...)
		id := w.create(w.client("ann"))
		var seats []*seat
		for _, name := range append([]string{native}, dialect.Names()...) {
			seats = append(seats, sit(t, name, w.speaking(name, id), id))
		}
		// Not every dialect says when it follows.
		synctest.Wait()
		for _, decider := range seats { // each in turn sends and decides
			w.send(decider.client, id, "work")
			for _, s := range seats {
				s.until(protocol.ApprovalRequested)
				if pending := s.state.Approvals; len(pending) != 1 || !strings.Contains(pending[0].Command+pending[0].Title, "rm -rf build") {
					t.Errorf("%s: asked %+v", s.tongue, pending)
				}
			}
			do[protocol.ApproveResult](t, decider.client, protocol.DoApprove, id,
				protocol.ApproveData{Request: decider.state.Approvals[0].Request, Decision: protocol.AllowOnce})
			for _, s := range seats {
				s.until(protocol.ApprovalResolved)
				if len(s.state.Approvals) > 0 {
					t.Errorf("%s decided; at %s there waits %+v", decider.tongue, s.tongue, s.state.Approvals)
				}
			}
			for _, s := range seats {
				s.until(protocol.TurnEnded)
				if got := s.said(); got != "It is late. Removed it." {
					t.Errorf("%s decided; %s says %q", decider.tongue, s.tongue, got)
				}
				if got := s.tools(); got != "shell completed" {
					t.Errorf("%s decided; %s: tools: %s", decider.tongue, s.tongue, got)
				}
				heard := s.last().Message.Text == "work" || s.tongue == "multiagent" // which shows one's own messages alone
				if s.state.Last.Reason != protocol.ReasonCompleted || !heard {
					t.Errorf("%s decided; %s: %+v ended %+v", decider.tongue, s.tongue, s.last().Message, s.state.Last)
				}
			}
		}
	})
}

func TestOurClientWorksThroughEveryDialect(t *testing.T) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, working...)
				id := w.create(w.client("ann"))
				s := sit(t, name, w.speaking(name, id), id)
				worksThrough(t, w, s)

				w.send(s.client, id, "slow")
				s.until(protocol.TextDelta)
				_, err := wsclient.Call[protocol.InterruptResult](t.Context(), s.client, protocol.DoInterrupt, id, protocol.InterruptData{})
				want := protocol.ReasonInterrupted
				if name == "agentloop" { // has no word for it
					if protocol.CodeOf(err) != protocol.CodeUnsupported {
						t.Errorf("interrupt: %v", err)
					}
					_, err = wsclient.Call[protocol.InterruptResult](t.Context(), w.client("bob"), protocol.DoInterrupt, id, protocol.InterruptData{})
					want = protocol.ReasonCompleted
				}
				if err != nil {
					t.Errorf("interrupt: %v", err)
				}
				if s.until(protocol.TurnEnded); s.state.Last.Reason != want {
					t.Errorf("an interrupted turn ended %+v", s.state.Last)
				}
				if got := s.said(); !strings.HasPrefix(got, "one") || strings.HasSuffix(got, "ten") {
					t.Errorf("the interrupted agent said %q", got)
				}
			})
		})
	}
}
