package list

import (
	"maps"
	"strings"
	"unicode"

	"agentctl/protocol"
)

const (
	idPrefix = "s_"
	maxName  = 128 // bytes of a session's name
)

// ReserveName assigns a name to a session. The error has the code invalid_message or name_taken.
func (x *List[S]) ReserveName(name, id string) error {
	if err := checkName(name); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if owner, taken := x.names[name]; taken && owner != id {
		return protocol.Errorf(protocol.CodeNameTaken, "another session has the name %.80q", name)
	}
	x.names[name] = id
	return nil
}

func checkName(name string) error {
	if len(name) > maxName || name != protocol.ValidText(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, idPrefix) {
		return protocol.Errorf(
			protocol.CodeInvalidMessage,
			"name: at most %d bytes of text, without control characters, outer spaces or a leading %q",
			maxName, idPrefix,
		)
	}
	return nil
}

// ReleaseName frees a name.
func (x *List[S]) ReleaseName(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.names, name)
}

// Reserve assigns a name and a conversation of an agent, each unless it is empty, to a session that
// is being created. The error is ReserveName's, or has the code conflict if an open session has the
// conversation: two processes of an agent would overwrite each other's files.
func (x *List[S]) Reserve(id, name, conversation string) error {
	if name != "" {
		if err := x.ReserveName(name, id); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	holder, taken := x.conversations[conversation]
	switch {
	case conversation == "":
		return nil
	case !taken:
		x.conversations[conversation] = id
		return nil
	}
	delete(x.names, name)
	if r := x.rows[holder]; r != nil && r.summary.Name != "" {
		holder = r.summary.Name
	}
	return protocol.Errorf(protocol.CodeConflict,
		"session %s has this conversation: attach to it, or close it first", holder)
}

// Release frees the name and the conversation of a session that was not created.
func (x *List[S]) Release(id, name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.names, name)
	free(x.conversations, id)
}

// HoldConversation assigns a conversation to a session, unless another has it, and frees the
// session's old one.
func (x *List[S]) HoldConversation(conversation, id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	holder, taken := x.conversations[conversation]
	if holder == id {
		return
	}
	free(x.conversations, id)
	if !taken && conversation != "" {
		x.conversations[conversation] = id
	}
}

// free removes what a session has.
func free(holders map[string]string, id string) {
	maps.DeleteFunc(holders, func(_, holder string) bool { return holder == id })
}
