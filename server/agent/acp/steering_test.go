package acp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/fakeacp"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// inbox is the steering of a turn of tests.
type inbox struct {
	waiting chan struct{}

	mu       sync.Mutex
	messages []protocol.Message
	sent     []string
	resolved []string // text, outcome and reason
}

func newInbox(texts ...string) *inbox {
	b := &inbox{waiting: make(chan struct{}, 1)}
	for _, text := range texts {
		b.messages = append(b.messages, protocol.Message{MessageID: "m_" + text, Text: text})
	}
	b.waiting <- struct{}{}
	return b
}

func (b *inbox) Waiting() <-chan struct{} { return b.waiting }

func (b *inbox) Take() ([]protocol.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.messages
	b.messages = nil
	for _, m := range taken {
		b.sent = append(b.sent, m.Text)
	}
	return taken, nil
}

func (b *inbox) Resolve(d protocol.MessageResolvedData, _ []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", strings.TrimPrefix(d.MessageID, "m_"), d.Outcome, d.Reason))
	b.resolved = append(b.resolved, text)
	return nil
}

func (b *inbox) want(t *testing.T, sent string, resolved ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got, want := strings.Join(b.resolved, "; "), strings.Join(resolved, "; "); got != want {
		t.Errorf("outcomes %q, want %q", got, want)
	}
	if got := strings.Join(b.sent, " "); got != sent {
		t.Errorf("sent %q, want %q", got, sent)
	}
}

// steered runs a turn with an inbox.
func (r *testAgent) steered(b *inbox, steps ...string) (agent.End, error) {
	return r.Run(r.t.Context(), agent.Turn{
		ID: "turn", Message: protocol.Message{Text: strings.Join(steps, "\n")}, Steering: b,
	}, r.recorder)
}

func quickCancel(c *Config, _ *agent.Spec) { c.CancelTimeout = 50 * time.Millisecond }

func TestEveryOutcomeOfSteeringIsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		steps    []string
		resolved []string
		text     string
	}{
		"injected": {
			[]string{"steer injected"}, []string{"x taken_in"}, "got x (promptRequired) ",
		},
		"a new turn": {
			[]string{"steer startedNewTurn"}, []string{"x taken_in it started a turn for it"}, "got x (promptRequired) ",
		},
		"tried again": {
			[]string{"steer promptRequired", "steer injected"},
			[]string{"x taken_in"},
			"got x (promptRequired) got x (promptRequired) ",
		},
		"the turn ends": {
			[]string{"steer promptRequired"}, []string{"x refused its turn was over"}, "got x (promptRequired) ",
		},
		"failed":   {[]string{"steer failed"}, []string{"x refused it failed"}, "got x (promptRequired) "},
		"an error": {[]string{"steer error"}, []string{"x refused no steering today"}, ""},
		"another": {
			[]string{"steer maybe"}, []string{`x unknown the outcome is "maybe"`}, "got x (promptRequired) ",
		},
		"no answer":        {[]string{"steer silent"}, nil, ""},
		"exit after write": {[]string{"steer silent", "exit 3"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestAgent(t, "steering", connected, quickCancel, func(c *Config, _ *agent.Spec) {
				if name == "exit after write" {
					c.Dial = nil
				}
			})
			b := newInbox("x")
			_, err := r.steered(b, c.steps...)
			if (err != nil) != (name == "exit after write") {
				t.Fatal(err)
			}
			b.want(t, "x", c.resolved...)
			if got := r.text(); got != c.text {
				t.Errorf("text %q, want %q", got, c.text)
			}
			record, err := os.ReadFile(filepath.Join(r.spec.Env[fakeacp.DirEnvVar], "steered"))
			if want := len(c.steps); strings.HasPrefix(name, "exit") && strings.Count(string(record), "x\n") != want-1 ||
				!strings.HasPrefix(name, "exit") && strings.Count(string(record), "x\n") != want || err != nil {
				t.Errorf("the agent got %q, %v", record, err)
			}
		})
	}
}

func TestMessagesAreSentInTheirOrder(t *testing.T) {
	r := newTestAgent(t, "steering", connected)
	b := newInbox("one", "two")
	if _, err := r.steered(b, "steer injected", "steer injected"); err != nil {
		t.Fatal(err)
	}
	b.want(t, "one two", "one taken_in", "two taken_in")
	r.wantText("got one (promptRequired) got two (promptRequired) ")
}

func TestAnInterruptDuringSteeringLeavesTheOutcomeOpen(t *testing.T) {
	r := newTestAgent(t, "steering", connected)
	b := newInbox("x")
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		defer interrupt()
		r.waitFor(t, "text", func() bool { return textOf(r.events) != "" })
	}()
	end, err := r.Run(ctx, agent.Turn{
		ID: "turn", Message: protocol.Message{Text: "steer silent\nsay now\nhang"}, Steering: b,
	}, r.recorder)
	if err != nil || end.Reason != protocol.ReasonInterrupted {
		t.Fatalf("%+v, %v", end, err)
	}
	b.want(t, "x")
}

func TestOnlyAgentsThatTakeMessagesGetThem(t *testing.T) {
	for traits, want := range map[string]bool{"plain": false, "steering": true, "qwen": true} {
		r := newTestAgent(t, traits, connected)
		if !r.Steers() {
			t.Errorf("%s: not known before the start", traits)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.Steers() != want {
			t.Errorf("%s: takes messages: %v", traits, !want)
		}
	}
	r := newTestAgent(t, "plain", connected)
	b := newInbox("x")
	if _, err := r.steered(b, "say hi"); err != nil {
		t.Fatal(err)
	}
	b.want(t, "")
}

// Qwen Code asks for messages between the calls of its tools, and takes ten in one answer.
func TestAnAgentThatAsksForMessagesGetsThem(t *testing.T) {
	texts := strings.Fields("a b c d e f g h i j k l")
	for name, c := range map[string]struct {
		drains int
		text   string
		rest   string // outcome of the last two
	}{
		"all":       {3, "drained a,b,c,d,e,f,g,h,i,j drained k,l drained  ", "taken_in"},
		"too late":  {1, "drained a,b,c,d,e,f,g,h,i,j ", "refused the turn has ended"},
		"never":     {0, "", ""},
		"of no use": {-1, "drained  ", ""},
	} {
		r, b := newTestAgent(t, "qwen", connected), newInbox(texts...)
		steps := []string{"think about it"}
		for range max(c.drains, -c.drains) {
			steps = append(steps, "drain")
		}
		if c.drains < 0 { // no messages wait
			<-b.waiting
		}
		if _, err := r.steered(b, steps...); err != nil {
			t.Fatal(err)
		}
		if got := r.text(); strings.TrimSpace(got) != strings.TrimSpace(c.text) {
			t.Errorf("%s: %q, want %q", name, got, c.text)
		}
		var want []string
		sent := ""
		if c.drains > 0 {
			sent = strings.Join(texts, " ")
			for i, text := range texts {
				if i < maxDrained {
					want = append(want, text+" taken_in")
				} else {
					want = append(want, text+" "+c.rest)
				}
			}
		}
		b.want(t, sent, want...)
	}
	// Without a turn that takes messages the answer is empty, and no error: the agent asks again.
	r := newTestAgent(t, "qwen", connected)
	r.run("drain")
	r.wantText("drained  ")
}

// What an agent says after it has started a turn for a message is a turn of the agent, whether the current one has
// its result before or after.
func TestATurnThatAnAgentStartsForAMessageIsATurn(t *testing.T) {
	const (
		outcome = `{"jsonrpc":"2.0","id":4,"result":{"outcome":"startedNewTurn"}}`
		result  = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
	)
	for name, answers := range map[string][]string{
		"result first":  {result, outcome, chunkOf("new "), chunkOf("turn")},
		"outcome first": {outcome, result, chunkOf("new "), chunkOf("turn")},
		"result last":   {outcome, chunkOf("new "), result, chunkOf("turn")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := []recordedLine{
					{0, "c2a", `{"id":1,"method":"initialize"}`},
					{0, "a2c", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":` +
						`{"_meta":{"steering":{"supported":true}}},"_meta":{"steering":{"supported":true}}}}`},
					{0, "c2a", `{"id":2,"method":"session/new"}`},
					{0, "a2c", `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`},
					{0, "c2a", `{"id":3,"method":"session/prompt"}`},
					{0, "a2c", chunkOf("old ")},
					{0, "c2a", `{"id":4,"method":"_session/steering"}`},
				}
				for _, line := range answers {
					lines = append(lines, recordedLine{0, "a2c", line})
				}
				a, s := playLines(t, lines)
				b := newInbox("x")
				<-b.waiting
				go func() {
					time.Sleep(time.Second)
					b.waiting <- struct{}{}
				}()
				s.busy <- struct{}{}
				s.run(t.Context(), func(ctx context.Context, out agent.Output) (agent.End, error) {
					return a.Run(ctx, agent.Turn{ID: "turn", Message: protocol.Message{Text: "go"}, Steering: b}, out)
				})
				<-s.busy
				time.Sleep(2 * workQuiet)
				synctest.Wait()
				b.want(t, "x", "x taken_in it started a turn for it")
				s.wantLog(t, `parent "old " ends completed <nil>`, `parent begins ""`, `parent "new turn" ends completed <nil>`)
			})
		})
	}
}
