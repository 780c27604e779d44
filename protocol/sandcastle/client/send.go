package client

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// maxStartedSends bounds the started messages of a session and the unanswered sends.
const maxStartedSends = 256

// unansweredSends are the sends without an answer. The next connection looks such a message up
// before it sends it again.
type unansweredSends struct {
	sends []unansweredSend // oldest first
}

// An unansweredSend is a send without an answer.
type unansweredSend struct {
	key   string
	after string // the newest message of a turn before it; empty: none
}

func (o *unansweredSends) add(key, after string) {
	if key == "" || o.find(key) != nil {
		return
	}
	if o.sends = append(o.sends, unansweredSend{key, after}); len(o.sends) > maxStartedSends {
		o.sends = o.sends[1:]
	}
}

// find returns the send with a key, or nil.
func (o *unansweredSends) find(key string) *unansweredSend {
	i := slices.IndexFunc(o.sends, func(s unansweredSend) bool { return s.key == key })
	if i < 0 || key == "" {
		return nil
	}
	return &o.sends[i]
}

func (o *unansweredSends) remove(key string) {
	o.sends = slices.DeleteFunc(o.sends, func(s unansweredSend) bool { return s.key == key })
}

// handleSend sends a user message. The server knows it by clientMessageId only, which defaults to
// the command's key.
func (c *Conn) handleSend(cmd *protocol.Command) {
	var d protocol.SendData
	if !c.DecodeData(cmd, &d) {
		return
	}
	if d.NotBefore != nil {
		c.FailUnsupported(cmd, string(codec.SendAt))
		return
	}
	if d.Delivery == protocol.DeliverSteer {
		c.FailUnsupported(cmd, string(codec.SendSteer))
		return
	}
	if d.Front {
		c.FailUnsupported(cmd, "sending ahead of the queue")
		return
	}
	if s := c.sessions[cmd.Session]; (s == nil || s.log == nil) && len(c.sessions) < wire.MaxSubscriptions {
		c.openSession(cmd) // subscribe first, because the turn may end soon
		return
	}
	p := wire.Payload{SessionID: cmd.Session, Content: &d.Text, ClientMessageID: d.ClientMessageID}
	if p.ClientMessageID == "" {
		p.ClientMessageID = cmd.Key
	}
	if p.ClientMessageID == "" {
		p.ClientMessageID = c.Options.ID("m")
	}
	// sent on an earlier connection, without an answer
	again := c.capabilities.unanswered.find(cmd.Key)
	s := c.knownSession(cmd.Session)
	if again != nil && s == nil {
		if s = c.openSession(cmd); s == nil {
			return // runs again when the session is known
		}
	}
	if s != nil && (again != nil || p.ClientMessageID == cmd.Key && cmd.Key != "") {
		r := s.sends.accepted(s.log.State, p.ClientMessageID)
		if r == nil && again != nil && !c.Options.PeerIsAgentctl { // whose history has the id
			r = s.sends.takeStored(again, d.Text)
		}
		if r != nil {
			c.capabilities.unanswered.remove(cmd.Key)
			c.Answer(cmd, *r)
			return
		}
	}
	p.Parts = wire.ForeignParts(&protocol.Message{Text: d.Text, Parts: d.Parts})
	if p.Parts == nil {
		p.Parts = protocol.MustEncode([]wire.Part{{Type: "text", Text: d.Text}})
	}
	if c.Options.PeerIsAgentctl && cmd.Key != "" {
		p.Note = &wire.Note{Key: cmd.Key}
	}
	after := ""
	if s != nil {
		after = s.sends.lastUser
	}
	c.capabilities.unanswered.add(cmd.Key, after)
	c.request(&request{op: wire.OpSend, payload: p, done: func(v json.RawMessage, err *protocol.Error) {
		c.capabilities.unanswered.remove(cmd.Key)
		if err != nil {
			c.Fail(cmd, err)
			return
		}
		c.Answer(cmd, c.resultOfSend(cmd, p.ClientMessageID, v))
	}})
}

// resultOfSend returns the result of an accepted send.
func (c *Conn) resultOfSend(cmd *protocol.Command, clientMessageID string, v json.RawMessage) protocol.SendResult {
	var r wire.SendResult
	_ = json.Unmarshal(v, &r)
	res := protocol.SendResult{Status: protocol.SendStarted, MessageID: r.MessageID}
	s := c.knownSession(cmd.Session)
	if r.Status == protocol.SendQueued {
		res.Status = protocol.SendQueued
		if r.QueuedMessage != nil {
			res.MessageID = r.QueuedMessage.ID
		}
		if s != nil { // the position is unknown otherwise
			index := len(s.log.State.Queue)
			if i := s.log.State.QueueIndex(res.MessageID); i >= 0 {
				index = i
			}
			res.Index = &index
		}
	}
	if s != nil {
		if known := s.sends.accepted(s.log.State, clientMessageID); known != nil && known.Status == res.Status {
			return *known
		}
	}
	return res
}

// sends are the user messages of a session by which this client finds its own sends again.
type sends struct {
	lastUser string        // the newest message of a turn; empty: none
	started  []startedSend // oldest first
	stored   []storedMessage
}

// A startedSend is a message that started a turn.
type startedSend struct {
	clientMessageID string
	result          protocol.SendResult
}

// A storedMessage is a user's message in the server's history.
type storedMessage struct {
	id, text string
	taken    bool // it is the message of an unanswered send
}

// noteStarted remembers the message that started the current turn.
func (o *sends) noteStarted(st *protocol.State) {
	t := st.Turn
	if t == nil {
		return
	}
	if o.lastUser = t.Message.MessageID; t.Message.ClientMessageID == "" {
		return
	}
	r := protocol.SendResult{Status: protocol.SendStarted, MessageID: t.Message.MessageID, Turn: t.Turn, Seq: t.First}
	if o.started = append(o.started, startedSend{t.Message.ClientMessageID, r}); len(o.started) > maxStartedSends {
		o.started = o.started[1:]
	}
}

// accepted returns the result of a message that the session contains, or nil.
func (o *sends) accepted(st *protocol.State, clientMessageID string) *protocol.SendResult {
	for i, m := range st.Queue {
		if m.ClientMessageID == clientMessageID {
			return &protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &i}
		}
	}
	for _, r := range slices.Backward(o.started) {
		if r.clientMessageID == clientMessageID {
			return &r.result
		}
	}
	return nil
}

// takeStored returns the result of a send whose message the server has stored since, or nil. Stored
// messages of the real server have no clientMessageId, so the text decides. A message counts once.
func (o *sends) takeStored(sent *unansweredSend, text string) *protocol.SendResult {
	first := 1 + slices.IndexFunc(o.stored, func(m storedMessage) bool { return m.id == sent.after })
	for i := first; i < len(o.stored); i++ {
		if m := &o.stored[i]; m.text == text && !m.taken {
			m.taken = true
			return &protocol.SendResult{Status: protocol.SendStarted, MessageID: m.id}
		}
	}
	return nil
}
