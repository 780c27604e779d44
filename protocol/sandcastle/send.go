package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// maxRecent bounds the messages of a session, and the sends without an answer, that are remembered.
const maxRecent = 256

// openSends are the keys of what was sent and not answered. On the next connection it is looked up before it is sent again.
type openSends struct {
	keys []string // oldest first
}

func (o *openSends) add(key string) {
	if key == "" || o.has(key) {
		return
	}
	if o.keys = append(o.keys, key); len(o.keys) > maxRecent {
		o.keys = o.keys[1:]
	}
}

func (o *openSends) has(key string) bool { return slices.Contains(o.keys, key) }

func (o *openSends) remove(key string) {
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// sendMessage sends a message. The server knows it by its clientMessageId alone, which is the command's key where there is none.
func (c *Client) sendMessage(cmd protocol.Command) {
	var d protocol.SendData
	if !c.data(&cmd, &d) {
		return
	}
	if d.Front {
		c.cannot(&cmd, "send with front: its queue has no order but that of adding")
		return
	}
	if s := c.sessions[cmd.Session]; (s == nil || s.log == nil) && len(c.sessions) < maxViews {
		c.known(cmd) // else what becomes of a turn that ends at once is told to nobody
		return
	}
	p := payload{SessionID: cmd.Session, Content: &d.Text, ClientMessageID: d.ClientMessageID}
	if p.ClientMessageID == "" {
		p.ClientMessageID = cmd.Key
	}
	if p.ClientMessageID == "" {
		p.ClientMessageID = c.call.ID("m")
	}
	again := cmd.Key != "" && c.manners.open.has(cmd.Key) // on an earlier connection, which did not tell
	s := c.session(cmd.Session)
	if again && s == nil {
		if s = c.known(cmd); s == nil {
			return // comes back when it is known what became of it
		}
	}
	if s != nil && (again || p.ClientMessageID == cmd.Key && cmd.Key != "") {
		if r := s.accepted(p.ClientMessageID); r != nil {
			c.manners.open.remove(cmd.Key)
			c.desk.Answer(c.out, &cmd, *r)
			return
		}
	}
	p.Parts = partsOf(&protocol.Message{Text: d.Text, Parts: d.Parts})
	if p.Parts == nil {
		p.Parts = protocol.MustEncode([]part{{Type: "text", Text: d.Text}})
	}
	c.manners.open.add(cmd.Key)
	c.ask(&inquiry{op: opSend, payload: p, then: func(v json.RawMessage, err *protocol.Error) {
		c.manners.open.remove(cmd.Key)
		if err != nil {
			c.desk.Fail(c.out, &cmd, err)
			return
		}
		c.desk.Answer(c.out, &cmd, c.sent(&cmd, p.ClientMessageID, v))
	}})
}

// sent is the answer to a send that the server took.
func (c *Client) sent(cmd *protocol.Command, clientMessageID string, v json.RawMessage) protocol.SendResult {
	var r sendResult
	_ = json.Unmarshal(v, &r)
	res := protocol.SendResult{Status: protocol.SendStarted, MessageID: r.MessageID}
	s := c.session(cmd.Session)
	if r.Status == protocol.SendQueued {
		res.Status = protocol.SendQueued
		if r.QueuedMessage != nil {
			res.MessageID = r.QueuedMessage.ID
		}
		if s != nil { // else nobody says where
			index := len(s.log.State.Queue)
			if i := s.log.State.QueueIndex(res.MessageID); i >= 0 {
				index = i
			}
			res.Index = &index
		}
	}
	if s != nil {
		if known := s.accepted(clientMessageID); known != nil && known.Status == res.Status {
			return *known
		}
	}
	return res
}

// accepted tells what became of a message that the session knows, or nil.
func (s *session) accepted(clientMessageID string) *protocol.SendResult {
	st := s.log.State
	if i := slices.IndexFunc(st.Queue, func(m protocol.Message) bool { return m.ClientMessageID == clientMessageID }); i >= 0 {
		return &protocol.SendResult{Status: protocol.SendQueued, MessageID: st.Queue[i].MessageID, Index: &i}
	}
	for _, r := range slices.Backward(s.recent) {
		if r.clientMessageID == clientMessageID {
			return &r.result
		}
	}
	return nil
}

// A recent message is one that began a turn.
type recent struct {
	clientMessageID string
	result          protocol.SendResult
}

// began notes that a message began the turn under way in the log.
func (s *session) began() {
	t := s.log.State.Turn
	if t == nil || t.Message.ClientMessageID == "" {
		return
	}
	r := protocol.SendResult{Status: protocol.SendStarted, MessageID: t.Message.MessageID, Turn: t.Turn, Seq: t.First}
	if s.recent = append(s.recent, recent{t.Message.ClientMessageID, r}); len(s.recent) > maxRecent {
		s.recent = s.recent[1:]
	}
}
