package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// handleMessage carries out a message of the client.
func (c *Conn) handleMessage(m *wire.Message) {
	if c.Requests.Pending() >= maxWaiting {
		c.fail(m.ID, tooManyMessages, nil)
		return
	}
	switch m.Type {
	case wire.UserInputType:
		c.handleUserInput(m)
	case wire.ApprovalResponseType:
		var r wire.ApprovalResponse
		if m.Payload == nil || json.Unmarshal(m.Payload, &r) != nil || wire.DecisionOf(r.Review) == "" {
			c.fail("", wire.InvalidFormat, invalidField("review"))
			return
		}
		c.session.view.handleReview(m.ID, &r)
	case wire.GetContextType:
		c.handleContext()
	case wire.CompactType:
		c.handleCompact()
	default:
		c.fail("", wire.UnknownType+codec.Excerpt(m.Type), nil)
	}
}

func invalidField(field string) errorDetails {
	return errorDetails{Error: "validation", Fields: []string{field}}
}

func (c *Conn) handleCompact() {
	c.session.whenKnown(func(*protocol.Error) {
		if c.session.phase != present {
			c.fail("", wire.NotInitialized, json.RawMessage("null"))
			return
		}
		c.Request(protocol.DoCompact, c.session.Session, "", nil, func(a protocol.Answer) {
			if a.Error != nil {
				c.failWith("", wire.CompactingFailed, a.Error)
			} // else the event follows
		})
	})
}

// handleUserInput sends the user's message. The first one creates the session.
func (c *Conn) handleUserInput(m *wire.Message) {
	var in wire.UserInput
	var d protocol.SendData
	ok := m.Payload != nil && json.Unmarshal(m.Payload, &in) == nil && in.Input != nil
	if ok {
		d, ok = decodeInput(in.Input)
	}
	if !ok {
		c.fail(m.ID, wire.InputFailed, invalidField("input"))
		return
	}
	if len(m.ID) <= 128 {
		d.ClientMessageID = protocol.ValidText(m.ID)
	}
	send := func(err *protocol.Error) {
		if err == nil && c.session.phase != present {
			err = protocol.Errorf(protocol.CodeNoSession, "there is no session")
		}
		if err != nil {
			c.failWith(m.ID, wire.InputFailed, err)
			return
		}
		c.sendMessage(m.ID, d)
	}
	c.session.whenKnown(func(err *protocol.Error) {
		if err == nil && c.session.phase == absent {
			c.session.create(send)
			return
		}
		send(err)
	})
}

// sendMessage sends the user's message, which came with an id.
func (c *Conn) sendMessage(id string, d protocol.SendData) {
	c.Request(protocol.DoSend, c.session.Session, "", d, func(a protocol.Answer) {
		if a.Error != nil {
			c.failWith(id, wire.InputFailed, a.Error)
			return
		}
		if r, _ := codec.DecodeResult[protocol.SendResult](a); r.Status == protocol.SendQueued {
			c.reportQueued(id, &r)
		}
	})
}

// reportQueued reports to the client that its message, which came with an id, waits. It releases holds
// after a decision, a restart or a usage limit, which the protocol cannot release, unless the server
// will.
func (c *Conn) reportQueued(id string, r *protocol.SendResult) {
	if c.session.State == nil {
		return
	}
	text := "Queued: it starts when what runs now has ended."
	if r.Index != nil && *r.Index > 0 {
		text = fmt.Sprintf("Queued behind %d.", *r.Index)
	}
	for _, h := range c.session.State.Holds {
		switch h.Reason {
		case protocol.HoldLimit:
			if h.Until != nil {
				text = "Queued: the queue is held until a usage limit ends."
				break
			}
			fallthrough
		case protocol.HoldDenyStop, protocol.HoldRestart:
			c.Request(protocol.DoQueueRelease, c.session.Session, "", protocol.QueueReleaseData{Hold: h.ID}, nil)
		case protocol.HoldUser, protocol.HoldInterrupt:
			text = "Queued: the queue is held."
		}
	}
	c.reply(id, message{wire.ResponseItemType, wire.NewMessageItem(c.Options.ID("sys"), wire.System, text)})
}

// decodeInput decodes a user's message. Texts are joined; everything else becomes a part.
func decodeInput(input []json.RawMessage) (d protocol.SendData, ok bool) {
	var texts []string
	for _, raw := range input {
		var it struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(raw, &it) != nil {
			return d, false
		}
		var text string
		var parts []json.RawMessage
		switch {
		case it.Type != wire.MessageItem && it.Type != "" || it.Role != wire.User && it.Role != "":
			d.Parts = append(d.Parts, foreignPart(it.Type, raw))
		case json.Unmarshal(it.Content, &text) == nil:
			texts = append(texts, text)
		case json.Unmarshal(it.Content, &parts) == nil:
			for _, p := range parts {
				var c wire.Part
				switch {
				case json.Unmarshal(p, &c) != nil:
					return d, false
				case c.Type == wire.InputText || c.Type == wire.OutputText || c.Type == "text":
					texts = append(texts, c.Text)
				default:
					d.Parts = append(d.Parts, foreignPart(c.Type, p))
				}
			}
		default:
			return d, false
		}
	}
	d.Text = wire.StripControls(strings.Join(texts, "\n"))
	return d, strings.TrimSpace(d.Text) != "" || len(d.Parts) > 0
}

// foreignPart returns the part for content that is not text.
func foreignPart(typ string, raw json.RawMessage) protocol.Part {
	whole, _ := protocol.Compact(raw)
	p := protocol.Part{Type: protocol.ValidText(typ), Data: whole}
	var known struct {
		ImageURL string `json:"image_url"`
		Filename string `json:"filename"`
	}
	_ = json.Unmarshal(raw, &known)
	p.URL, p.Name = known.ImageURL, known.Filename
	switch p.Type {
	case "input_image":
		p.Type = "image"
	case "input_file":
		p.Type = "file"
	case "":
		p.Type = "other"
	}
	return p
}
