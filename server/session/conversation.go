package session

import (
	"cmp"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// conversation identifies the agent's own conversation of a session, or is "".
func (h *Hub) conversation(spec *agent.Spec) string {
	if c, ok := h.cfg.Agents.(Conversations); ok {
		return c.Conversation(spec)
	}
	return ""
}

// reserveConversation assigns a conversation to a session that is being created. The error has the
// code conflict if an open session has it: two processes of an agent would overwrite each other.
func (x *index) reserveConversation(conversation, id string) error {
	if conversation == "" {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	holder, taken := x.conversations[conversation]
	if !taken {
		x.conversations[conversation], x.holds[id] = id, conversation
		return nil
	}
	name := holder
	if r := x.rows[holder]; r != nil {
		name = cmp.Or(r.summary.Name, holder)
	}
	return protocol.Errorf(protocol.CodeConflict,
		"session %s has this conversation: attach to it, or close it first", name)
}

// holdConversation notes the conversation of a session, unless another has it, and frees its former
// one.
func (x *index) holdConversation(conversation, id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conversations[conversation] == id {
		return
	}
	x.freeConversation(id)
	if _, taken := x.conversations[conversation]; !taken && conversation != "" {
		x.conversations[conversation], x.holds[id] = id, conversation
	}
}

// freeConversation frees the conversation of a session. It requires mu.
func (x *index) freeConversation(id string) {
	if conversation, ok := x.holds[id]; ok {
		delete(x.conversations, conversation)
		delete(x.holds, id)
	}
}

// releaseCreation frees the name and the conversation of a session that was not created.
func (x *index) releaseCreation(name, id string) {
	x.releaseName(name)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.freeConversation(id)
}
