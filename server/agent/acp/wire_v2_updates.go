package acp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
)

// receivedV2 is what the agent has sent since it was idle, as far as later updates build on it.
type receivedV2 struct {
	message   messageV2                    // the last one
	calls     map[string][]json.RawMessage // content of calls, in the form of version 1
	terminals map[string]*terminalV2
}

// A messageV2 is a message or reasoning of the agent.
type messageV2 struct{ kind, id, text string }

// A terminalV2 is the output of a command. Before a call names it, the output is kept.
type terminalV2 struct {
	call string
	data []byte // to come: all of it without a call, else an incomplete character
	exit *int
}

func newReceivedV2() receivedV2 {
	return receivedV2{calls: map[string][]json.RawMessage{}, terminals: map[string]*terminalV2{}}
}

func (w *wireV2) updates(raw json.RawMessage) (list []*update, ok bool) {
	u := &update{}
	if !exactNames(raw) || decode(raw, u) != nil || u.Kind == "" {
		return nil, false
	}
	r := &w.received
	switch u.Kind {
	case "state_update":
		return nil, w.applyState(raw)
	case "user_message", "user_message_chunk":
		if w.prompting() {
			return nil, true
		}
		return r.applyMessage(u, "user_message_chunk"), true
	case "agent_message", messageChunk:
		return r.applyMessage(u, messageChunk), true
	case "agent_thought", thoughtChunk:
		return r.applyMessage(u, thoughtChunk), true
	case "tool_call_update":
		return r.applyCall(u), u.ID != ""
	case "tool_call_content_chunk":
		return r.appendContent(u), u.ID != ""
	case "terminal_update", "terminal_output_chunk":
		return r.applyTerminal(raw), true
	case "config_option_update":
		var c struct {
			Config []configOptionV2 `json:"configOptions"`
		}
		if decode(raw, &c) != nil {
			return nil, false
		}
		u.Config = configAsV1(c.Config)
	}
	return []*update{u}, true
}

// applyMessage returns what is new in a message or a chunk of it, as chunks.
func (r *receivedV2) applyMessage(u *update, kind string) (list []*update) {
	chunk := func(content json.RawMessage) {
		list = append(
			list, &update{Kind: kind, MessageID: u.MessageID, toolCall: toolCall{Content: content, Meta: u.Meta}},
		)
	}
	same := r.message.kind == kind && r.message.id == u.MessageID
	if u.Kind == kind { // a chunk
		if !same {
			r.message = messageV2{kind: kind, id: u.MessageID}
		}
		var b block
		_ = decode(u.Content, &b) // other content has no text
		r.message.text += b.Text
		chunk(u.Content)
		return list
	}
	var blocks []json.RawMessage
	_ = decode(u.Content, &blocks) // null has no blocks
	var text strings.Builder
	for _, raw := range blocks {
		var b block
		if decode(raw, &b) == nil && b.Type == "text" {
			text.WriteString(b.Text)
		} else if !same {
			chunk(raw)
		}
	}
	rest, grew := strings.CutPrefix(text.String(), r.message.text)
	if !same || !grew {
		rest = text.String()
	}
	r.message = messageV2{kind, u.MessageID, text.String()}
	if same && !grew {
		u.MessageID += " changed" // the turn begins another part
	}
	if rest != "" {
		chunk(protocol.MustEncode(block{Type: "text", Text: rest}))
	}
	return list
}

// applyCall returns an update of a call, with the output of the terminals that its content names.
func (r *receivedV2) applyCall(u *update) []*update {
	items, begun := r.calls[u.ID]
	u.Kind = "tool_call_update"
	if !begun {
		u.Kind = "tool_call"
	}
	var output []*update
	if present(u.Content) {
		output = r.bindTerminals(u)
		convertContentV2(&u.toolCall)
		items = nil
		_ = decode(u.Content, &items) // it is a list, or it is shown as it is
	} else {
		u.Content = nil
	}
	r.calls[u.ID] = items
	switch u.Status {
	case "completed", "failed", "cancelled":
		r.calls[u.ID] = nil
		return append(output, u)
	}
	return append([]*update{u}, output...)
}

// appendContent returns an update of a call with one more item of content.
func (r *receivedV2) appendContent(u *update) []*update {
	u.Content = bytes.Join([][]byte{[]byte("["), u.Content, []byte("]")}, nil)
	output := r.bindTerminals(u)
	convertContentV2(&u.toolCall)
	var more []json.RawMessage
	_ = decode(u.Content, &more) // made above
	r.calls[u.ID] = append(r.calls[u.ID], more...)
	u.Kind, u.Content = "tool_call_update", protocol.MustEncode(r.calls[u.ID])
	return append([]*update{u}, output...)
}

// bindTerminals notes which terminals the content of a call names, and returns their output so far.
func (r *receivedV2) bindTerminals(u *update) (list []*update) {
	var items []struct {
		Type     string `json:"type"`
		Terminal string `json:"terminalId"`
	}
	_ = decode(u.Content, &items)
	for _, item := range items {
		if item.Type != "terminal" {
			continue
		}
		t := r.terminal(item.Terminal)
		if t.call == "" {
			t.call = u.ID
			if data := t.data; len(data) > 0 || t.exit != nil {
				t.data = nil
				list = append(list, t.update(data, false))
			}
		}
	}
	return list
}

func (r *receivedV2) terminal(id string) *terminalV2 {
	t := r.terminals[id]
	if t == nil {
		t = &terminalV2{}
		r.terminals[id] = t
	}
	return t
}

// applyTerminal returns output of a command as an update of its call.
func (r *receivedV2) applyTerminal(raw json.RawMessage) []*update {
	var p struct {
		Terminal string  `json:"terminalId"`
		Data     *string `json:"data"` // of a chunk
		Output   *struct {
			Data string `json:"data"`
		} `json:"output"`
		Exit *struct {
			Code *int `json:"exitCode"`
		} `json:"exitStatus"`
	}
	if decode(raw, &p) != nil {
		return nil
	}
	t := r.terminal(p.Terminal)
	if p.Exit != nil {
		t.exit = p.Exit.Code
	}
	var data []byte
	whole := p.Output != nil
	switch {
	case whole:
		data, _ = base64.StdEncoding.DecodeString(p.Output.Data) // what is valid
	case p.Data != nil:
		more, _ := base64.StdEncoding.DecodeString(*p.Data)
		data = append(t.data, more...)
	}
	if t.call == "" {
		if whole || p.Data != nil {
			t.data = data
		}
		return nil
	}
	return []*update{t.update(data, whole)}
}

// update returns output as an update of the call. It keeps an incomplete character at the end of a
// part.
func (t *terminalV2) update(data []byte, whole bool) *update {
	end := len(data)
	if !whole {
		for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
			if utf8.RuneStart(data[len(data)-i]) {
				if !utf8.FullRune(data[len(data)-i:]) {
					end = len(data) - i
				}
				break
			}
		}
		t.data = bytes.Clone(data[end:])
	}
	o := &terminalOutput{text: protocol.ValidText(string(data[:end])), whole: whole, exit: t.exit}
	return &update{Kind: "tool_call_update", toolCall: toolCall{ID: t.call, terminal: o}}
}
