package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// Types of the real system's older messages, which its server still accepts.
const (
	typeChatSend  = "chat.send"
	typeChatDelta = "chat.delta"
	typeChatDone  = "chat.done"
	typeList      = "conversation.list"
	typeListed    = "conversation.listed"
	typeMessages  = "conversation.messages"
)

// A chat is the state of a conversation that chat.send started.
type chat struct{ domain, message string }

// A listedConversation is a session in conversation.listed.
type listedConversation struct {
	ID       string         `json:"id"`
	Domain   string         `json:"domain_id"`
	Role     string         `json:"created_by_role"`
	Subject  string         `json:"created_by_sub"`
	Title    *string        `json:"title"`
	Created  time.Time      `json:"created_at"`
	Updated  time.Time      `json:"updated_at"`
	Metadata map[string]any `json:"metadata"`
	Messages []any          `json:"messages"`
}

// A savedMessage is a message in conversation.messages.
type savedMessage struct {
	ID           string         `json:"id"`
	Conversation string         `json:"conversation_id"`
	Role         string         `json:"role"`
	Content      string         `json:"content"`
	Created      time.Time      `json:"created_at"`
	Metadata     map[string]any `json:"metadata"`
}

// A chatMessage is a message in chat.done.
type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// handleLegacy executes a message in one of the older forms. It returns false for any other type.
func (s *Conn) handleLegacy(kind string, m wire.Message) bool {
	switch kind {
	case typeChatSend:
		s.handleChatSend(m)
	case typeList:
		s.handleList()
	case typeMessages:
		s.handleHistory(m)
	default:
		return s.handleToolRun(kind, m)
	}
	return true
}

// handleChatSend sends a message in a new conversation, or in the one that it names.
func (s *Conn) handleChatSend(m wire.Message) {
	use := chat{m.Name("domain_id"), m.Text("message")}
	id := m.Name("conversation_id")
	switch {
	case use.message == "" || use.domain == "" && id == "":
		s.sendError("", wire.CodeBadRequest, "domain_id and message are required")
		return
	case !s.checkRole(protocol.DoSend, id):
		return
	case id != "":
		s.sendChat(id, use)
		return
	case !s.checkRole(protocol.DoCreate, "") || !s.checkDomain(use.domain):
		return
	}
	create := protocol.CreateData{Agent: s.Options.Agent(use.domain)}
	s.sendCommand(protocol.DoCreate, "", create, func(a protocol.Answer) {
		created, err := codec.DecodeResult[protocol.CreateResult](a)
		if err != nil {
			s.sendError("", foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		s.sendChat(created.Session, use)
	})
}

func (s *Conn) sendChat(id string, use chat) {
	s.withConversation(id, func(c *conversation) {
		c.chat = &use
		s.sendCommand(protocol.DoSend, c.session, protocol.SendData{Text: use.message}, func(a protocol.Answer) {
			if a.Error != nil {
				s.sendError(c.id, foreignCode(a.Error.Code, wire.CodeStreamError), a.Error.Message)
			}
		})
	})
}

func (s *Conn) sendChatDelta(text string) {
	s.sendLegacy(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{typeChatDelta, text})
}

func (s *Conn) sendChatDone(c *conversation, done wire.MessageComplete) {
	type reply struct {
		Domain       string        `json:"domain_id"`
		Agent        string        `json:"agent_id"`
		Conversation string        `json:"conversation_id"`
		Reply        string        `json:"reply"`
		Messages     []chatMessage `json:"messages"`
	}
	s.sendLegacy(struct {
		Type    string `json:"type"`
		Message reply  `json:"message"`
	}{typeChatDone, reply{
		c.chat.domain, done.Agent, c.id, done.Content,
		[]chatMessage{{"user", c.chat.message}, {"assistant", done.Content}},
	}})
}

func (s *Conn) sendLegacy(v any) { s.Send(codec.Frame{Data: protocol.MustEncode(v)}) }

// handleList lists the sessions. Their creators are not known.
func (s *Conn) handleList() {
	s.sendCommand(protocol.DoList, "", nil, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.ListResult](a)
		if err != nil {
			s.sendError("", foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		listed := []listedConversation{}
		for i := range r.Sessions {
			sum := &r.Sessions[i]
			c := listedConversation{
				ID: sum.Session, Domain: sum.Agent, Created: sum.Created.UTC(), Updated: sum.Updated.UTC(),
				Metadata: map[string]any{}, Messages: []any{},
			}
			if sum.Title != "" {
				c.Title = &sum.Title
			}
			listed = append(listed, c)
		}
		s.sendLegacy(struct {
			Type          string               `json:"type"`
			Conversations []listedConversation `json:"conversations"`
			Next          *string              `json:"next_cursor"`
		}{typeListed, listed, nil})
	})
}

// handleHistory sends the messages of the newest finished turns.
func (s *Conn) handleHistory(m wire.Message) {
	id := m.Name("conversation_id")
	if id == "" {
		s.sendError("", wire.CodeBadRequest, "conversation_id is required")
		return
	}
	s.sendCommand(protocol.DoHistory, id, protocol.HistoryData{}, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.HistoryResult](a)
		if err != nil {
			s.sendError(id, foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		s.sendLegacy(struct {
			Type         string         `json:"type"`
			Conversation string         `json:"conversation_id"`
			Messages     []savedMessage `json:"messages"`
		}{typeMessages, id, savedMessages(id, &r)})
	})
}

// savedMessages returns the messages of a page of turns: the user's, and all text of the answer.
func savedMessages(id string, r *protocol.HistoryResult) []savedMessage {
	var turns protocol.Transcript
	for _, line := range r.Events {
		if e, _, err := protocol.DecodeIncoming(line); err == nil && e != nil {
			_, _ = turns.Apply(e) // what it refuses is left out
		}
	}
	messages := []savedMessage{}
	for _, t := range turns.Turns {
		messages = append(messages, savedMessage{
			t.Message.MessageID, id, "user", t.Message.Text, t.Started.UTC(), map[string]any{},
		})
		text := ""
		for _, it := range t.Items {
			if part := it.Text.String(); it.Kind == protocol.ItemText && part != "" {
				if text != "" {
					text += "\n\n"
				}
				text += part
			}
		}
		if text != "" && t.Ended != nil {
			messages = append(messages, savedMessage{t.Turn, id, "assistant", text, t.Ended.UTC(), map[string]any{}})
		}
	}
	return messages
}
