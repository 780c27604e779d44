package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// maxRecent bounds the messages of a session, and the sends without an answer, that are remembered.
const maxStartedSends = 256

// openSends are the keys of what was sent and not answered. On the next connection it is looked up before it is sent again.
type unansweredSends struct {
	keys []string // oldest first
}

func (o *unansweredSends) add(key string) {
	if key == "" || o.has(key) {
		return
	}
	if o.keys = append(o.keys, key); len(o.keys) > maxStartedSends {
		o.keys = o.keys[1:]
	}
}

func (o *unansweredSends) has(key string) bool { return slices.Contains(o.keys, key) }

func (o *unansweredSends) remove(key string) {
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// sendMessage sends a message. The server knows it by its clientMessageId alone, which is the command's key where there is none.
func (c *clientCodec) handleSend(cmd protocol.Command) {
	var d protocol.SendData
	if !c.decodeData(&cmd, &d) {
		return
	}
	if d.Front {
		c.failUnsupported(&cmd, "send with front: its queue has no order but that of adding")
		return
	}
	if s := c.sessions[cmd.Session]; (s == nil || s.log == nil) && len(c.sessions) < maxSubscriptions {
		c.requireSession(cmd) // else what becomes of a turn that ends at once is told to nobody
		return
	}
	p := payload{SessionID: cmd.Session, Content: &d.Text, ClientMessageID: d.ClientMessageID}
	if p.ClientMessageID == "" {
		p.ClientMessageID = cmd.Key
	}
	if p.ClientMessageID == "" {
		p.ClientMessageID = c.options.ID("m")
	}
	again := cmd.Key != "" && c.capabilities.unanswered.has(cmd.Key) // on an earlier connection, which did not tell
	s := c.knownSession(cmd.Session)
	if again && s == nil {
		if s = c.requireSession(cmd); s == nil {
			return // comes back when it is known what became of it
		}
	}
	if s != nil && (again || p.ClientMessageID == cmd.Key && cmd.Key != "") {
		if r := s.acceptedSend(p.ClientMessageID); r != nil {
			c.capabilities.unanswered.remove(cmd.Key)
			c.responder.Answer(c.out, &cmd, *r)
			return
		}
	}
	p.Parts = foreignParts(&protocol.Message{Text: d.Text, Parts: d.Parts})
	if p.Parts == nil {
		p.Parts = protocol.MustEncode([]part{{Type: "text", Text: d.Text}})
	}
	c.capabilities.unanswered.add(cmd.Key)
	c.sendRequest(&request{op: opSend, payload: p, done: func(v json.RawMessage, err *protocol.Error) {
		c.capabilities.unanswered.remove(cmd.Key)
		if err != nil {
			c.responder.Fail(c.out, &cmd, err)
			return
		}
		c.responder.Answer(c.out, &cmd, c.resultOfSend(&cmd, p.ClientMessageID, v))
	}})
}

// sent is the answer to a send that the server took.
func (c *clientCodec) resultOfSend(cmd *protocol.Command, clientMessageID string, v json.RawMessage) protocol.SendResult {
	var r sendResult
	_ = json.Unmarshal(v, &r)
	res := protocol.SendResult{Status: protocol.SendStarted, MessageID: r.MessageID}
	s := c.knownSession(cmd.Session)
	if r.Status == protocol.SendQueued {
		res.Status = protocol.SendQueued
		if r.QueuedMessage != nil {
			res.MessageID = r.QueuedMessage.ID
		}
		if s != nil { // else nobody says where
			index := len(s.log.State.Queue)
			if i := s.log.State.Queued(res.MessageID); i >= 0 {
				index = i
			}
			res.Index = &index
		}
	}
	if s != nil {
		if known := s.acceptedSend(clientMessageID); known != nil && known.Status == res.Status {
			return *known
		}
	}
	return res
}

// accepted tells what became of a message that the session knows, or nil.
func (s *session) acceptedSend(clientMessageID string) *protocol.SendResult {
	st := s.log.State
	if i := slices.IndexFunc(st.Queue, func(m protocol.Message) bool { return m.ClientMessageID == clientMessageID }); i >= 0 {
		return &protocol.SendResult{Status: protocol.SendQueued, MessageID: st.Queue[i].MessageID, Index: &i}
	}
	for _, r := range slices.Backward(s.startedSends) {
		if r.clientMessageID == clientMessageID {
			return &r.result
		}
	}
	return nil
}

// A recent message is one that began a turn.
type startedSend struct {
	clientMessageID string
	result          protocol.SendResult
}

// began notes that a message began the turn under way in the log.
func (s *session) recordStartedSend() {
	t := s.log.State.Turn
	if t == nil || t.Message.ClientMessageID == "" {
		return
	}
	r := protocol.SendResult{Status: protocol.SendStarted, MessageID: t.Message.MessageID, Turn: t.Turn, Seq: t.First}
	if s.startedSends = append(s.startedSends, startedSend{t.Message.ClientMessageID, r}); len(s.startedSends) > maxStartedSends {
		s.startedSends = s.startedSends[1:]
	}
}
