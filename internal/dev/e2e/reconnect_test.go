package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/dialect"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A cutProxy is a proxy whose connections the test cuts.
type cutProxy struct {
	dial  func(context.Context) (net.Conn, error)
	pumps sync.WaitGroup
	mu    sync.Mutex
	open  []net.Conn
	down  bool // dialing fails
}

// newCutProxy returns a proxy before the test server. Create its clients after it.
func newCutProxy(w *testServer) *cutProxy {
	c := &cutProxy{dial: w.dial}
	w.t.Cleanup(func() { c.cut(); c.pumps.Wait() })
	return c
}

func (c *cutProxy) Dial(ctx context.Context) (net.Conn, error) {
	c.mu.Lock()
	down := c.down
	c.mu.Unlock()
	if down {
		return nil, net.ErrClosed
	}
	server, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	client, proxyEnd := net.Pipe()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, server, proxyEnd)
	for _, way := range [][2]net.Conn{{server, proxyEnd}, {proxyEnd, server}} {
		c.pumps.Go(func() {
			defer way[0].Close()
			defer way[1].Close()
			_, _ = io.Copy(way[0], way[1])
		})
	}
	return client, nil
}

// cut closes all connections and refuses new ones until restore.
func (c *cutProxy) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}

func (c *cutProxy) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = false
}

// longTurnScript is an agent with a long turn of text, a tool and an approval. It resumes turns
// after a restart.
var longTurnScript = []string{
	`{"resumes":true}`,
	`{"on":"warm up"}`, `{"say":"warm"}`,
	`{"on":"*"}`,
	`{"burst":40,"delay":"250ms"}`,
	`{"tool":"shell","id":"call{n}","kind":"execute","title":"List","input":{"command":["ls"]},"output":"a b c d e f g h","delay":"500ms"}`,
	`{"burst":20,"delay":"250ms"}`,
	`{"ask":"command","request":"r{n}","command":"rm -rf build","title":"Remove","then":[{"say":"Removed it. "}],"else":[{"say":"Kept it. "}]}`,
	`{"burst":40,"delay":"250ms"}`,
	`{"say":"The end."}`,
}

// longTurnText returns the text of the long turn whose request is allowed, as summarizeTurn has it.
func longTurnText() string {
	var b strings.Builder
	burst := func(n int) {
		for i := range n {
			fmt.Fprintf(&b, "%d ", i)
		}
	}
	burst(40)
	burst(20)
	b.WriteString("Removed it. ")
	burst(40)
	b.WriteString("The end.")
	return b.String()
}

// summarizeTurn returns what a user must see of a turn in any protocol: text, tools, approvals and
// the reason of its end. It omits details that some dialects cannot carry: approval wording, the
// tool that stands for an approval, and the end of an aborted call.
func summarizeTurn(turn *protocol.Turn) string {
	var text strings.Builder
	var rest []string
	for _, it := range turn.Items {
		switch {
		case it.Kind == protocol.ItemText:
			text.Write(it.Text)
		case it.Kind == protocol.ItemTool && it.Tool.Name == "shell" && it.Tool.End != nil:
			rest = append(rest, fmt.Sprintf("shell completed %t", it.Tool.End.Status == protocol.ToolCompleted))
		case it.Kind == protocol.ItemApproval && it.Resolved != nil &&
			strings.Contains(it.Approval.Command+it.Approval.Title, "rm -rf build"):
			rest = append(rest, "remove "+string(it.Resolved.Outcome))
		}
	}
	reason := protocol.Reason("open")
	if turn.End != nil {
		reason = turn.End.Reason
	}
	return strings.Join(strings.Fields(text.String()), " ") + " | " + strings.Join(rest, ", ") + " | " + string(reason)
}

// resumeModes lists how each protocol resumes after a lost connection.
var resumeModes = map[string]string{
	native:           protocol.ModeResume,
	"agentloop":      protocol.ModeReset + " " + protocol.ResetResubscribed,
	"effectiveagent": protocol.ModeResume + " " + protocol.ResumeReplayed,
	"multiagent":     protocol.ModeReset + " " + protocol.ResetResubscribed,
	"myagent":        protocol.ModeResume + " " + protocol.ResumeReplayed,
	"sandcastle":     protocol.ModeReset + " " + protocol.ResetFresh,
}

// In every dialect, repeated disconnects during a turn and server restarts change nothing visible:
// the turn is the same as natively, and the resume mode is reported.
func TestALostConnectionIsCaughtUpInEveryDialect(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{native}, dialect.Names()...) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s restarts %t", name, restarts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testReconnects(t, name, restarts) })
			})
		}
	}
}

func testReconnects(t *testing.T, name string, restarts bool) {
	w := newTestServer(t, longTurnScript...)
	ann := w.client("ann")
	id := w.create(ann)
	proxy := newCutProxy(w)
	c := w.dialectClient(
		name, id, func(o *wsclient.Options) { o.Dial, o.Rand = proxy.Dial, func() float64 { return 0 } },
	)
	s := follow(t, name, c, id)
	w.send(c, id, "warm up")
	s.waitFor(protocol.TurnEnded)

	w.send(c, id, "work")
	reference := follow(t, native, w.client("bob"), id)
	disconnect := func(while time.Duration) {
		t.Helper()
		proxy.cut()
		if restarts {
			w.stop()
			w.start()
		}
		time.Sleep(while)
		proxy.restore()
		s.waitFor(protocol.CaughtUp)
	}
	disconnect(2 * time.Second) // within the first burst
	disconnect(4 * time.Second) // up to the tool
	time.Sleep(time.Second)
	disconnect(time.Second)
	s.waitFor(protocol.ApprovalRequested)
	disconnect(time.Second)          // while the approval is pending
	if len(s.state.Approvals) == 0 { // the request arrives after the catch-up
		s.waitFor(protocol.ApprovalRequested)
	}
	do[protocol.ApproveResult](
		t, c, protocol.DoApprove, id,
		protocol.ApproveData{Request: s.state.Approvals[0].Request, Decision: protocol.AllowOnce},
	)
	time.Sleep(time.Second)
	disconnect(time.Second) // after the decision
	s.waitFor(protocol.TurnEnded)
	reference.waitFor(protocol.TurnEnded)
	if got, want := summarizeTurn(s.lastTurn()), summarizeTurn(reference.lastTurn()); got != want ||
		!strings.HasSuffix(want, "remove allowed | completed") {
		t.Errorf("%s\n  %s\nnatively\n  %s", name, got, want)
	}
	if want := longTurnText(); !strings.HasPrefix(summarizeTurn(reference.lastTurn()), want+" | ") {
		t.Errorf("natively\n  %s\nwant the text\n  %s", summarizeTurn(reference.lastTurn()), want)
	}
	way := resumeModes[name]
	if name == "myagent" && restarts { // the replay buffer is lost with the server
		way = protocol.ModeReset + " " + protocol.ResetFresh
	}
	for _, at := range s.attached[1:] {
		if got := strings.TrimSpace(at.Mode + " " + at.Reason); got != way {
			t.Errorf("resumed by %q, want %q", got, way)
		}
	}
	if len(s.attached) != 6 {
		t.Errorf("attached %d times", len(s.attached))
	}
	// The earlier turn is still there, once.
	if first := s.transcript.Turns[0]; summarizeTurn(first) != "warm |  | completed" {
		t.Errorf("%d turns, the first %s", len(s.transcript.Turns), summarizeTurn(first))
	}
}

// The same at random: connections are cut, stalled and split in every dialect while an agent works.
// Afterwards each client has the whole turn once.
func TestAFaultyNetworkLeavesTheSameTurnInEveryDialect(t *testing.T) {
	t.Parallel()
	for seed := range uint64(thorough.Rounds(1, 4)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(
					t,
					`{"on":"*"}`,
					`{"burst":1500,"size":20,"delay":"20ms"}`,
					`{"tool":"shell","id":"call{n}","kind":"execute","title":"List","input":{"command":["ls"]},"output":"a b c d e f g h","delay":"200ms"}`,
					`{"say":" almost","words":1}`,
					`{"wait":"calm"}`,
					`{"say":" the end"}`,
				)
				ann := w.client("ann")
				id := w.create(ann)
				reference := follow(t, native, ann, id)
				var proxies []*faultyProxy
				var followers []*follower
				for i, name := range dialect.Names() {
					s := newFaultyProxy(w, 100*seed+uint64(i))
					s.healthy = true
					proxies = append(proxies, s)
					c := w.dialectClient(
						name, id, func(o *wsclient.Options) { o.Dial, o.Rand = s.Dial, func() float64 { return 0.5 } },
					)
					followers = append(followers, follow(t, name, c, id))
				}
				synctest.Wait()
				setHealthy := func(healthy bool) (cuts int) {
					for _, s := range proxies {
						s.mu.Lock()
						s.healthy = healthy
						cuts += s.cuts
						s.mu.Unlock()
					}
					return cuts
				}
				w.send(ann, id, "go")
				for _, s := range followers { // a client without events has no position to resume from
					s.waitFor(protocol.TextDelta)
				}
				setHealthy(false)
				for reference.waitFor(protocol.TextDelta); !strings.Contains(reference.agentText(), "almost"); {
					reference.waitFor(protocol.TextDelta)
				}
				cuts := setHealthy(true)
				time.Sleep(2 * time.Minute) // stalls end and clients reconnect
				w.script.OpenGate("calm")
				reference.waitFor(protocol.TurnEnded)
				want := summarizeTurn(reference.lastTurn())
				for _, s := range followers {
					// Skip earlier turns whose end was missed.
					for s.waitFor(protocol.TurnEnded); !strings.Contains(s.agentText(), "the end"); {
						s.waitFor(protocol.TurnEnded)
					}
					if got := summarizeTurn(s.lastTurn()); got != want {
						at := 0
						for at < min(len(got), len(want)) && got[at] == want[at] {
							at++
						}
						t.Errorf(
							"%s, attached %d times, from byte %d of %d on\n  …%.300s\nnatively\n  …%.300s",
							s.dialect, len(s.attached), at, len(want), got[max(0, at-50):],
							want[max(0, at-50):],
						)
					}
				}
				if cuts == 0 {
					t.Error("nothing was cut")
				}
			})
		})
	}
}
