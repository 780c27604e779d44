package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

// Steering is an extension of version 1: the client sends a message with steerMethod to agents that
// announce it. Qwen Code asks for messages with drainMethod instead, between the calls of its tools.
const (
	steerMethod = "_session/steering"
	drainMethod = "craft/drainMidTurnQueue"
)

// A prompt that the agent has not begun takes no message yet.
const (
	steerRetry   = 300 * time.Millisecond
	steerRetries = 10
)

// startedTurn is the outcome of an agent that starts a turn for the message, although idleBehavior asks
// for none.
const startedTurn = "startedNewTurn"

// maxDrained is the number of messages that Qwen Code 0.24.4 takes in one answer. It drops more.
const maxDrained = 10

type steerParams struct {
	Session string  `json:"sessionId"`
	Prompt  []block `json:"prompt"`
	Meta    struct {
		Steering struct {
			Idle string `json:"idleBehavior"` // promptRequired: an idle agent starts no turn
		} `json:"steering"`
	} `json:"_meta"`
}

type steerResult struct {
	Outcome string `json:"outcome"`
}

// drainResult holds messages in the form of Qwen Code 0.24.4, and as texts for earlier releases. It does
// not report prompts in the queue of the host, so no guard of the agent relies on it.
type drainResult struct {
	Items    []drainItem `json:"items"`
	Messages []string    `json:"messages"`
}

type drainItem struct {
	ID      string  `json:"messageId"`
	Text    string  `json:"displayText"`
	Content []block `json:"content"`
}

var _ agent.Steerer = (*Agent)(nil)

// Steers implements agent.Steerer. Only a running agent reports whether it takes messages.
func (a *Agent) Steers() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.client == nil || a.client.steers()
}

// steers reports whether the agent takes messages into a turn.
func (c *client) steers() bool { return c.takesSteering() || c.known().Drains }

// takesSteering reports whether the agent takes messages with steerMethod.
func (c *client) takesSteering() bool { return c.agentInfo.Meta.Steering.Supported }

// A steering hands the messages that join a turn to the agent.
type steering struct {
	client *client
	turn   *turn
	in     agent.Steering

	stop chan struct{} // closed when the prompt has its response: nothing more is sent
	sent chan struct{} // closed when every message that was sent has an outcome, or never gets one

	mu   sync.Mutex
	left []protocol.Message // taken, and not asked for by the agent yet
}

// steer begins to hand messages to the agent during a turn. A nil in has none.
func (c *client) steer(ctx context.Context, t *turn, in agent.Steering) *steering {
	s := &steering{client: c, turn: t, in: in, stop: make(chan struct{}), sent: make(chan struct{})}
	switch {
	case in == nil:
		close(s.sent)
	case c.takesSteering():
		go s.sendAll(ctx)
	default:
		t.setSteering(s)
		close(s.sent)
	}
	return s
}

// end stops sending, and waits for the outcome of what was sent.
func (s *steering) end(most time.Duration) {
	close(s.stop)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-s.sent:
	case <-timer.C:
	}
}

// sendAll sends messages one after the other.
func (s *steering) sendAll(ctx context.Context) {
	defer close(s.sent)
	for {
		select {
		case <-s.in.Waiting():
		case <-s.stop:
			return
		}
		messages, err := s.in.Take()
		if err != nil {
			return // the turn is over
		}
		for i := range messages {
			d, ok := s.send(ctx, &messages[i])
			if ok && s.in.Resolve(d, nil) != nil {
				return
			}
		}
	}
}

// send sends a message and returns its outcome. ok is false if the agent did not answer.
func (s *steering) send(ctx context.Context, m *protocol.Message) (d protocol.MessageResolvedData, ok bool) {
	c := s.client
	d.MessageID, d.Outcome = m.MessageID, protocol.SteerRefused
	p := steerParams{Session: c.session, Prompt: c.promptBlocks(*m, s.turn)}
	p.Meta.Steering.Idle = "promptRequired"
	for try := 0; ; try++ {
		select {
		case <-s.stop:
			d.Reason = "the turn has ended"
			return d, true
		default:
		}
		outcome, err := s.call(ctx, p)
		var refused *rpc.Error
		switch {
		case errors.As(err, &refused):
			d.Reason = errorText(refused)
		case err != nil:
			return d, false
		case outcome == "injected":
			d.Outcome = protocol.SteerTakenIn
		case outcome == startedTurn:
			d.Outcome, d.Reason = protocol.SteerTakenIn, "it started a turn for it"
		case outcome == "promptRequired" && try < steerRetries && s.waitRetry():
			continue
		case outcome == "promptRequired":
			d.Reason = "its turn was over"
		case outcome == "failed":
			d.Reason = "it failed"
		default:
			d.Outcome, d.Reason = protocol.SteerUnknown, fmt.Sprintf("the outcome is %.40q", outcome)
		}
		return d, true
	}
}

// call sends a message and returns its outcome. What an agent sends after it has started a turn is work, for
// which a turn begins after the current one.
func (s *steering) call(ctx context.Context, p steerParams) (string, error) {
	var r steerResult
	_, err := s.client.conn.CallThen(ctx, steerMethod, p, func(result json.RawMessage) {
		if r = (steerResult{}); decode(result, &r) == nil && r.Outcome == startedTurn {
			s.client.lane.leave(s.turn)
		}
	})
	return r.Outcome, err
}

// waitRetry waits before the next try. It reports false when the turn has ended.
func (s *steering) waitRetry() bool {
	timer := time.NewTimer(steerRetry)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}

// drain answers a request for messages.
func (c *client) drain(req *rpc.Request) {
	var p struct {
		Session string `json:"sessionId"`
	}
	turn := (*turn)(nil)
	if decode(req.Params, &p) == nil {
		turn = c.turnFor(p.Session)
	}
	if turn == nil || !turn.drain(req) {
		c.reply(req, drainResult{[]drainItem{}, []string{}})
	}
}

func (t *turn) setSteering(s *steering) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steering = s
}

// drain answers a request for messages, off the reading goroutine: it waits for a commit. It returns false
// without an answer when the turn is over, or has no messages.
func (t *turn) drain(req *rpc.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.steering == nil {
		return false
	}
	s := t.steering
	t.approvals.Go(func() { s.answer(req) })
	return true
}

// answer answers a request with the messages that wait. An answer that was written is taken in: the agent
// confirms none.
func (s *steering) answer(req *rpc.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.in.Waiting():
		messages, err := s.in.Take()
		if err == nil {
			s.left = append(s.left, messages...)
		}
	default:
	}
	n := min(len(s.left), maxDrained)
	now := s.left[:n]
	s.left = s.left[n:]
	result := drainResult{make([]drainItem, 0, n), make([]string, 0, n)}
	for i := range now {
		result.Items = append(result.Items, drainItem{
			now[i].MessageID, now[i].Text, s.client.promptBlocks(now[i], s.turn),
		})
		result.Messages = append(result.Messages, now[i].Text)
	}
	if req.Reply(context.WithoutCancel(s.turn.ctx), result) != nil {
		return // the agent has exited: what it got is unknown
	}
	for i := range now {
		s.resolve(&now[i], protocol.SteerTakenIn, "")
	}
}

// resolve reports the outcome of a message.
func (s *steering) resolve(m *protocol.Message, outcome protocol.SteerOutcome, reason string) {
	d := protocol.MessageResolvedData{MessageID: m.MessageID, Outcome: outcome, Reason: reason}
	_ = s.in.Resolve(d, nil) // fails when the turn is over
}

// close cancels what is left, and refuses the messages that the agent has not asked for. It is called when the
// turn has ended.
func (s *steering) close(cancel context.CancelFunc) {
	cancel()
	<-s.sent
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.left {
		s.resolve(&s.left[i], protocol.SteerRefused, "the turn has ended")
	}
	s.left = nil
}
