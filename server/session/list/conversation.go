package list

// conversations are the conversations that agents store themselves. An open session has at most
// one, and no two have the same. Guarded by List.mu.
type conversations struct {
	holder map[string]string // conversation of an agent → id of the open session that has it
	held   map[string]string // id of a session → its conversation
}

func newConversations() conversations {
	return conversations{holder: map[string]string{}, held: map[string]string{}}
}

// reserve assigns a conversation to a session, unless another has it, and returns the session that
// has it. No session holds "".
func (c *conversations) reserve(conversation, id string) (holder string) {
	if conversation == "" {
		return id
	}
	if holder, taken := c.holder[conversation]; taken {
		return holder
	}
	c.holder[conversation], c.held[id] = id, conversation
	return id
}

// free frees the conversation of a session.
func (c *conversations) free(id string) {
	if conversation, ok := c.held[id]; ok {
		delete(c.holder, conversation)
		delete(c.held, id)
	}
}

// HoldConversation assigns a conversation to a session, unless another has it, and frees the
// session's old one.
func (x *List[S]) HoldConversation(conversation, id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conversations.holder[conversation] != id {
		x.conversations.free(id)
		x.conversations.reserve(conversation, id)
	}
}
