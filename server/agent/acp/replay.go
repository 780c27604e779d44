package acp

import (
	"strings"
	"sync"

	"agentctl/protocol"
)

// maxReplay bounds the text of a replay, in bytes of its end.
const maxReplay = 16 << 10

// A replay is the conversation that an agent repeats while it restores an ACP session, as text. Its
// methods may be called from any goroutine.
type replay struct {
	mu   sync.Mutex
	text []byte
	kind string // of the last update
	id   string // of its message
	cut  bool
}

// roles are the speakers of the updates that repeat messages.
var roles = map[string]string{"user_message_chunk": "User: ", "agent_message_chunk": "Assistant: "}

// add adds an update. Reasoning and the results of tools are left out.
func (r *replay) add(u *update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch role := roles[u.Kind]; {
	case u.Kind == "tool_call":
		title := u.Title
		if title == "" {
			title = u.Name
		}
		r.write(true, "[tool call: "+title+"]")
	case role != "":
		var b block
		if decode(u.Content, &b) != nil {
			return
		}
		if text, ok := b.text(); ok {
			begins := u.Kind != r.kind || u.MessageID != r.id
			if begins {
				text = role + text
			}
			r.write(begins, text)
		}
	default:
		return
	}
	r.kind, r.id = u.Kind, u.MessageID
}

// write appends text, as a paragraph if it begins one.
func (r *replay) write(begins bool, text string) {
	if begins && len(r.text) > 0 {
		r.text = append(r.text, "\n\n"...)
	}
	r.text = append(r.text, text...)
	if over := len(r.text) - maxReplay; over > maxReplay {
		r.text, r.cut = append(r.text[:0], r.text[over:]...), true
	}
}

// String returns the end of the conversation, or "" if it was empty.
func (r *replay) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, cut := r.text, r.cut
	if over := len(text) - maxReplay; over > 0 {
		text, cut = text[over:], true
	}
	s := strings.TrimSpace(protocol.ValidText(string(text)))
	if cut {
		s = "[…] " + s
	}
	return s
}
