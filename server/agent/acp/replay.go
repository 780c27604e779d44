package acp

import (
	"cmp"
	"strings"
	"sync"

	"agentctl/protocol"
)

// maxTextEnd bounds the text of a textEnd, in bytes.
const maxTextEnd = 16 << 10

// A textEnd is the end of a text.
type textEnd struct {
	text []byte // up to twice maxTextEnd
	cut  bool   // the text has more before it
}

// add appends to the text.
func (e *textEnd) add(text string) {
	if e.text = append(e.text, text...); len(e.text) > 2*maxTextEnd {
		e.text, e.cut = append(e.text[:0], e.text[len(e.text)-maxTextEnd:]...), true
	}
}

// last returns the end of the text, and whether there is more before it.
func (e *textEnd) last() (text string, cut bool) {
	over := max(0, len(e.text)-maxTextEnd)
	return protocol.ValidText(string(e.text[over:])), e.cut || over > 0
}

// A replay is the conversation that an agent repeats while it restores an ACP session, as text. Its
// methods may be called from any goroutine.
type replay struct {
	mu   sync.Mutex
	text textEnd
	kind string // of the last update
	id   string // of its message
}

// roles are the speakers of the updates that repeat messages.
var roles = map[string]string{"user_message_chunk": "User: ", "agent_message_chunk": "Assistant: "}

// add adds an update. Reasoning and the results of tools are left out.
func (r *replay) add(u *update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch role := roles[u.Kind]; {
	case u.Kind == "tool_call":
		r.write(true, "[tool call: "+cmp.Or(u.Title, u.Name)+"]")
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
	if begins && len(r.text.text) > 0 {
		r.text.add("\n\n")
	}
	r.text.add(text)
}

// String returns the end of the conversation, or "" if it was empty.
func (r *replay) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, cut := r.text.last()
	if text = strings.TrimSpace(text); cut {
		text = "[…] " + text
	}
	return text
}
