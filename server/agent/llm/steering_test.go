package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// A steering hands out the messages of a test.
type steering struct {
	to *recorder

	mu       sync.Mutex
	waiting  chan struct{}
	messages []protocol.Message
	resolved []string // id and outcome
	fails    error    // of Resolve: the server was killed
	kept     []byte   // the stored state at that time
}

func newSteering(to *recorder) *steering { return &steering{to: to, waiting: make(chan struct{}, 1)} }

func (s *steering) add(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		s.messages = append(s.messages, protocol.Message{MessageID: "m_" + text, Text: text})
	}
	s.waiting <- struct{}{}
}

func (s *steering) Waiting() <-chan struct{} { return s.waiting }

func (s *steering) Take() ([]protocol.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.messages
	s.messages = nil
	return taken, nil
}

func (s *steering) Resolve(d protocol.MessageResolvedData, save []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		s.kept = s.to.state
		return s.fails
	}
	s.resolved = append(s.resolved, d.MessageID+" "+string(d.Outcome))
	if save == nil {
		return nil
	}
	return s.to.Save(save)
}

// sendWith runs a turn that messages join.
func (r *rig) sendWith(s *steering, text string) (agent.End, error) {
	r.turns++
	return r.agent.Run(r.t.Context(), agent.Turn{
		ID: fmt.Sprint("t", r.turns), Message: protocol.Message{Text: text}, Steering: s,
	}, r.recorder)
}

func TestAMessageJoinsTheTurnBeforeTheNextRequest(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		var s *steering
		tool := echo("shell")
		run := tool.run
		tool.run = func(ctx context.Context, c *ToolCall, out func(string)) (ToolResult, error) {
			s.add("use postgres", "and an index")
			return run(ctx, c, out)
		}
		r := newRig(t, api, name, fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Call("shell", x("ls")) },
			fakemodel.Say("done"),
		), tool)
		s = newSteering(r.recorder)
		if end, err := r.sendWith(s, "go"); err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if got := fmt.Sprint(s.resolved); got != "[m_use postgres taken_in m_and an index taken_in]" {
			t.Errorf("outcomes %s", got)
		}
		requests := r.fake.Requests()
		if len(requests) != 2 {
			t.Fatalf("%d requests", len(requests))
		}
		body := string(requests[1].Body)
		result, first, second := strings.Index(body, "result of"), strings.Index(body, "use postgres"),
			strings.Index(body, "and an index")
		if result < 0 || first < result || second < first {
			t.Errorf("the second request: %s", body)
		}
	})
}

func TestAMessageAtTheEndOfTheAnswerContinuesTheTurn(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		var s *steering
		r := newRig(t, api, name, fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Text("first answer")
				s.add("shorter")
			},
			fakemodel.Say("second answer"),
		))
		s = newSteering(r.recorder)
		if end, err := r.sendWith(s, "go"); err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v", end, err)
		}
		if got := fmt.Sprint(r.texts(), s.resolved); got != "[first answer second answer] [m_shorter taken_in]" {
			t.Errorf("texts and outcomes %s", got)
		}
		// The conversation ends with the turn: undo takes all of it back.
		if done, err := r.agent.Undo(t.Context(), false); err != nil || done.Turn != "t1" {
			t.Fatalf("%+v, %v", done, err)
		}
		if _, err := r.send(t.Context(), "again"); err != nil {
			t.Fatal(err)
		}
		requests := r.fake.Requests()
		if body := string(requests[len(requests)-1].Body); strings.Contains(body, "shorter") {
			t.Errorf("after the undo: %s", body)
		}
	})
}

// A kill after the session recorded the message as sent: the resumed turn takes it again. A kill after the
// outcome: the stored state has it.
func TestAKillNeitherLosesNorDoublesAMessageThatJoins(t *testing.T) {
	for name, killed := range map[string]error{"before the outcome": errors.New("killed"), "after the outcome": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s *steering
				ctx, kill := context.WithCancel(t.Context())
				r := newRig(t, "openai", "gpt-5.5", fakemodel.Turns(
					func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
						out.Text("first answer")
						s.add("shorter")
					},
					func(ctx context.Context, _ fakemodel.Request, _ *fakemodel.Reply) { kill(); <-ctx.Done() },
					fakemodel.Say("second answer"),
				))
				if killed != nil { // the second request is not reached
					r.fake = fakemodel.New(fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
						out.Text("first answer")
						s.add("shorter")
					}, fakemodel.Say("second answer")))
				}
				s = newSteering(r.recorder)
				s.fails = killed
				turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "go"}, Steering: s}
				_, err := r.agent.Run(ctx, turn, r.recorder)
				if (err != nil) != (killed != nil) {
					t.Fatal(err)
				}
				state := r.state
				if killed != nil {
					state = s.kept
				}
				r.open(state)
				turn.Resumed, turn.Shown = true, shown(r.events)
				if s.fails = nil; killed != nil { // as the session does
					s.add("shorter")
				}
				if end, err := r.agent.Run(t.Context(), turn, r.recorder); err != nil || end.Reason != protocol.ReasonCompleted {
					t.Fatalf("%+v, %v", end, err)
				}
				if got := fmt.Sprint(s.resolved); got != "[m_shorter taken_in]" {
					t.Errorf("outcomes %s", got)
				}
				requests := r.fake.Requests()
				if n := strings.Count(string(requests[len(requests)-1].Body), "shorter"); n != 1 {
					t.Errorf("the last request has the message %d times: %s", n, requests[len(requests)-1].Body)
				}
			})
		})
	}
}
