package client

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A pendingSend is a message that the server has not shown yet: its turn has not started, nor is it
// part of the current turn.
type pendingSend struct {
	cmd       *protocol.Command // waits for its answer; nil: answered
	id        string            // of the frame; empty: sent on an earlier connection
	due       time.Time
	message   protocol.Message
	key       *keyedSend
	queued    bool // in the log's queue
	uncertain bool // sent on an earlier connection, and not confirmed by the server
}

// A keyedSend is a message that was sent. result is nil until the server showed that it has it.
type keyedSend struct {
	key    string
	body   string
	result *protocol.SendResult
}

// maxKeys bounds the remembered keys of commands.
const maxKeys = 1024

// sends are the messages whose turns have not started, oldest first. keys outlive the connection:
// servers of the protocol do not know them.
type sends struct {
	x       *codec.ClientBase
	log     *sessionLog
	turns   *turns
	keys    *codec.Recent[*keyedSend]
	waiting []*pendingSend
}

// wouldAbort is the error of a message that was not sent. It fits on a line of the screen.
const wouldAbort = "it would abort the pending request: decide that first, or deny it with this as the reason"

// send sends a message. The start of its turn, its echo in the current turn, or the report of
// agentctl's server that it is queued confirms it. Until then it has no answer. A server without a
// queue aborts a pending request for a message, so that needs d.Front: the message goes ahead of the
// request. decided means that a decision of the request was sent.
func (p *sends) send(cmd *protocol.Command, decided bool) {
	var d protocol.SendData
	if !p.x.DecodeData(cmd, &d) {
		return
	}
	content := encodeContent(&d)
	pending := !p.turns.queues && len(p.log.State.Approvals) > 0
	switch {
	case d.Front && !pending:
		p.x.FailUnsupported(cmd, "send ahead of the queue")
		return
	case d.NotBefore != nil:
		p.x.FailUnsupported(cmd, string(codec.SendAt))
		return
	case d.Delivery == protocol.DeliverSteer:
		p.x.FailUnsupported(cmd, string(codec.SendSteer))
		return
	case len(content) == 0:
		p.x.Failf(cmd, protocol.CodeInvalidMessage, "send: text or parts: missing")
		return
	case slices.ContainsFunc(d.Parts, isFile):
		p.x.FailUnsupported(cmd, "files that are neither text nor images")
		return
	case len(p.waiting) >= maxPending:
		p.x.Fail(cmd, codec.TooMany(maxPending))
		return
	}
	s := &pendingSend{cmd: cmd, due: p.x.Now.Add(startTimeout), message: protocol.Message{
		MessageID: p.turns.newID("m"), ClientMessageID: d.ClientMessageID, Text: d.Text, Parts: d.Parts, By: p.x.User(),
	}}
	if known, ok := p.keys.Get(cmd.Key); ok {
		switch {
		case known.body != string(cmd.Data):
			p.x.Failf(cmd, protocol.CodeKeyReused, "the key was used for another command")
		case known.result != nil:
			p.x.Answer(cmd, known.result)
		default: // a second copy could run twice
			p.retry(s, known)
		}
		return
	}
	if pending && !d.Front && !decided {
		p.x.Fail(cmd, protocol.Errorf(protocol.CodeConflict, wouldAbort))
		return
	}
	s.key = p.remember(cmd)
	s.id = send(p.x, wire.UserInputType, wire.UserInput{Input: []json.RawMessage{protocol.MustEncode(struct {
		Type    string            `json:"type"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}{wire.MessageItem, wire.User, content})}})
	p.waiting = append(p.waiting, s)
}

// remember records a message that is being sent.
func (p *sends) remember(cmd *protocol.Command) *keyedSend {
	k := &keyedSend{key: cmd.Key, body: string(cmd.Data)}
	if cmd.Key != "" {
		p.keys.Put(cmd.Key, k)
	}
	return k
}

// retry handles a message that was sent before. The current turn may be its, or the server may show
// it later.
func (p *sends) retry(s *pendingSend, known *keyedSend) {
	s.key, s.uncertain = known, true
	if t := p.turns.current; t != nil && s.matches(t.text) {
		p.accept(s, p.turns.result())
		return
	}
	p.waiting = append(p.waiting, s)
}

// sentAs returns the unanswered message that was sent in the frame with an id, or nil. Answers of
// agentctl's server have the id of the frame that they answer.
func (p *sends) sentAs(id string) *pendingSend {
	for _, s := range p.waiting {
		if p.turns.queues && s.cmd != nil && id != "" && s.id == id {
			return s
		}
	}
	return nil
}

// enqueue records that agentctl's server has queued a message.
func (p *sends) enqueue(s *pendingSend) {
	at := p.x.Now.UTC().Truncate(time.Millisecond)
	s.queued, s.message.QueuedAt = true, &at
	index := len(p.log.State.Queue)
	p.log.recordQueue(protocol.QueueAdded, protocol.QueueAddedData{Message: s.message})
	p.accept(s, &protocol.SendResult{
		Status: protocol.SendQueued, MessageID: s.message.MessageID, Index: &index, Seq: p.log.State.Seq,
	})
}

// accept answers a message and stores the answer for its key.
func (p *sends) accept(s *pendingSend, r *protocol.SendResult) {
	if s.key.result == nil {
		s.key.result = r
	}
	if s.cmd != nil {
		p.x.Answer(s.cmd, r)
		s.cmd = nil
	}
}

// reject fails a message with an error of the server. Its key is available again.
func (p *sends) reject(s *pendingSend, err *protocol.Error) {
	p.x.Fail(s.cmd, err)
	p.keys.Delete(s.key.key)
	p.waiting = slices.DeleteFunc(p.waiting, func(other *pendingSend) bool { return other == s })
}

// oldest returns the oldest message of this connection without an answer, or nil.
func (p *sends) oldest() *pendingSend {
	for _, s := range p.waiting {
		if s.cmd != nil && !s.uncertain {
			return s
		}
	}
	return nil
}

// takeNext removes and returns the oldest message, whose turn starts without an echo; nil: the turn
// is another user's. agentctl's server repeats every message.
func (p *sends) takeNext() *pendingSend {
	if p.turns.queues {
		return nil
	}
	return p.take(func(s *pendingSend) bool { return !s.uncertain })
}

// takeByText removes and returns the oldest message with the echoed text, or nil.
func (p *sends) takeByText(text string) *pendingSend {
	return p.take(func(s *pendingSend) bool { return s.matches(text) })
}

// take removes and returns the oldest message that matches, or nil. The server starts messages in
// order, so it skipped the earlier ones. The fate of messages from an earlier connection is
// unknown.
func (p *sends) take(matches func(*pendingSend) bool) *pendingSend {
	i := slices.IndexFunc(p.waiting, matches)
	if i < 0 {
		return nil
	}
	s := p.waiting[i]
	var rest []*pendingSend
	for _, passed := range p.waiting[:i] {
		if passed.uncertain {
			rest = append(rest, passed)
			continue
		}
		if passed.queued {
			p.dequeue(passed, protocol.RemovedUser)
		}
		if passed.cmd != nil {
			p.x.Failf(passed.cmd, protocol.CodeAgentFailed, "the server skipped the message")
		}
	}
	p.waiting = append(rest, p.waiting[i+1:]...)
	return s
}

// dequeue records that a message leaves the queue.
func (p *sends) dequeue(s *pendingSend, reason string) {
	removed := protocol.QueueRemovedData{MessageID: s.message.MessageID, Reason: reason}
	p.log.recordQueue(protocol.QueueRemoved, removed)
}

// expire fails the messages that the server did not confirm in time.
func (p *sends) expire() {
	p.waiting = slices.DeleteFunc(p.waiting, func(s *pendingSend) bool {
		if s.cmd == nil || p.x.Now.Before(s.due) {
			return false
		}
		p.x.Failf(s.cmd, protocol.CodeTimeout,
			"the server did not confirm the message, as if another client had taken over: "+
				"look whether it arrived before you send it again")
		return true
	})
}

// wakeBy schedules a Wake for the next timeout.
func (p *sends) wakeBy() {
	for _, s := range p.waiting {
		if s.cmd != nil {
			p.x.Out.WakeBy(s.due)
		}
	}
}

// matches reports whether an echo is of this message.
func (s *pendingSend) matches(echo string) bool {
	echo, text := wire.StripControls(echo), wire.StripControls(s.message.Text)
	return echo == text || len(s.message.Parts) > 0 && strings.HasPrefix(echo, text)
}

// isFile reports whether a part is a file whose content the protocol cannot carry.
func isFile(p protocol.Part) bool {
	return p.URL != "" && p.Type != "text" && p.Type != "image" && p.Text == "" && p.Data == nil
}

// encodeContent returns a message as content parts.
func encodeContent(d *protocol.SendData) (list []json.RawMessage) {
	text := func(s string) { list = append(list, protocol.MustEncode(wire.Part{Type: wire.InputText, Text: s})) }
	if d.Text != "" {
		text(d.Text)
	}
	for _, p := range d.Parts {
		switch {
		case p.Type == "text":
			text(p.Text)
		case p.Type == "image" && p.URL != "":
			list = append(list, protocol.MustEncode(struct {
				Type string `json:"type"`
				URL  string `json:"image_url"`
			}{"input_image", p.URL}))
		case p.Data != nil && json.Valid(p.Data):
			list = append(list, p.Data)
		default:
			text(wire.MessageText(&protocol.Message{Parts: []protocol.Part{p}}))
		}
	}
	return list
}
