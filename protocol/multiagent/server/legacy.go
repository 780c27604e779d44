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
	case !s.checkRole(protocol.DoSend, id):
	case id != "":
		s.sendChat(id, use)
	default:
		s.create(use.domain, func(session string) { s.sendChat(session, use) })
	}
}

func (s *Conn) sendChat(id string, use chat) {
	s.conversations.with(id, func(c *conversation) {
		c.chat = &use
		data := protocol.SendData{Text: use.message}
		request(s.exchange, protocol.DoSend, c.session, data, c.id, func(protocol.SendResult) {})
	})
}

// chatDelta returns text of the answer to chat.send.
func chatDelta(text string) codec.Frame {
	return legacyFrame(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{typeChatDelta, text})
}

// done returns the whole answer to chat.send.
func (use *chat) done(conversation string, done wire.MessageComplete) codec.Frame {
	type reply struct {
		Domain       string        `json:"domain_id"`
		Agent        string        `json:"agent_id"`
		Conversation string        `json:"conversation_id"`
		Reply        string        `json:"reply"`
		Messages     []chatMessage `json:"messages"`
	}
	return legacyFrame(struct {
		Type    string `json:"type"`
		Message reply  `json:"message"`
	}{typeChatDone, reply{
		use.domain, done.Agent, conversation, done.Content,
		[]chatMessage{{"user", use.message}, {"assistant", done.Content}},
	}})
}

func legacyFrame(v any) codec.Frame { return codec.Frame{Data: protocol.MustEncode(v)} }

// handleList lists the sessions. Their creators are not known.
func (s *Conn) handleList() {
	request(s.exchange, protocol.DoList, "", nil, "", func(r protocol.ListResult) {
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
		s.Send(legacyFrame(struct {
			Type          string               `json:"type"`
			Conversations []listedConversation `json:"conversations"`
			Next          *string              `json:"next_cursor"`
		}{typeListed, listed, nil}))
	})
}

// handleHistory sends the messages of the newest finished turns.
func (s *Conn) handleHistory(m wire.Message) {
	id := m.Name("conversation_id")
	if id == "" {
		s.sendError("", wire.CodeBadRequest, "conversation_id is required")
		return
	}
	request(s.exchange, protocol.DoHistory, id, protocol.HistoryData{}, id, func(r protocol.HistoryResult) {
		s.Send(legacyFrame(struct {
			Type         string         `json:"type"`
			Conversation string         `json:"conversation_id"`
			Messages     []savedMessage `json:"messages"`
		}{typeMessages, id, savedMessages(id, &r)}))
	})
}

// savedMessages returns the messages of a page of turns: the user's, and all text of the answer.
func savedMessages(id string, r *protocol.HistoryResult) []savedMessage {
	var turns protocol.Transcript
	for _, line := range r.Events {
		if e, _, err := protocol.DecodeIncoming(line); err == nil && e != nil {
			_, _ = turns.Apply(e) // refused events are left out
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
