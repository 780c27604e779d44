package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Builder builds a response while it emits the deltas of its parts. Its Stop is empty until the response may end.
type Builder struct {
	Response

	emit  func(Delta) error
	parts []*building
	ids   map[string]bool // of calls
	ended bool
}

// A building is a part being streamed.
type building struct {
	part Part
	text strings.Builder // of the part, or the arguments of its call

	renamed bool // a call whose id is not as its provider sent it
}

// NewBuilder returns a Builder of a response of an origin, which emits deltas with emit.
func NewBuilder(origin string, emit func(Delta) error) *Builder {
	b := &Builder{emit: emit, ids: map[string]bool{}}
	b.Message = Message{Role: Assistant, Origin: origin}
	return b
}

// End says that the response is complete: nothing follows.
func (b *Builder) End() { b.ended = true }

// Ended reports whether End was called.
func (b *Builder) Ended() bool { return b.ended }

// Start begins a part and returns its index. A call has its name and id. Without an id, or with the id of another
// call, it gets a new one: some servers repeat them.
func (b *Builder) Start(p Part) (int, error) {
	i := len(b.parts)
	x := &building{part: p}
	b.parts = append(b.parts, x)
	if p.Type == ToolCall {
		for n := i; p.Call.ID == "" || b.ids[p.Call.ID]; n++ {
			p.Call.ID, x.renamed = fmt.Sprintf("call-%d", n), true
		}
		b.ids[p.Call.ID] = true
		return i, b.emit(Delta{Part: i, Type: ToolCall, Call: p.Call.ID, Name: p.Call.Name})
	}
	return i, nil
}

// Append appends text to a part, or to the arguments of a call.
func (b *Builder) Append(i int, text string) error {
	if text == "" {
		return nil
	}
	p := b.parts[i]
	p.text.WriteString(text)
	return b.emit(Delta{Part: i, Type: p.part.Type, Text: text})
}

// Continue appends text to the last part if it has that type and no Raw, else to a new one. It
// returns the index of the part.
func (b *Builder) Continue(t PartType, text string) (i int, err error) {
	i = len(b.parts) - 1
	if i < 0 || b.parts[i].part.Type != t || b.parts[i].part.Raw != nil {
		if i, err = b.Start(Part{Type: t}); err != nil {
			return i, err
		}
	}
	return i, b.Append(i, text)
}

// SetRaw sets the part as its provider sent it, but for a call with another id.
func (b *Builder) SetRaw(i int, raw json.RawMessage) {
	if !b.parts[i].renamed {
		b.parts[i].part.Raw = bytes.Clone(raw)
	}
}

// Text returns the text of a part so far, or the arguments of a call.
func (b *Builder) Text(i int) string { return b.parts[i].text.String() }

// Result returns the response so far. Texts without content are left out unless they have Raw.
func (b *Builder) Result() *Response {
	b.Message.Parts = nil
	for _, x := range b.parts {
		p := x.part
		switch p.Type {
		case ToolCall:
			c := *p.Call
			c.Input, c.Invalid = object(x.text.String())
			p.Call = &c
			if c.Invalid {
				p.Raw = nil
			}
		case Text, Reasoning:
			p.Text = x.text.String()
			if p.Text == "" && p.Raw == nil {
				continue
			}
		}
		b.Message.Parts = append(b.Message.Parts, p)
	}
	return &b.Response
}

// object returns arguments as a JSON object. No arguments are an empty one.
func object(text string) (input json.RawMessage, invalid bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return json.RawMessage("{}"), false
	}
	if text[0] == '{' && json.Valid([]byte(text)) {
		return json.RawMessage(text), false
	}
	b, err := json.Marshal(map[string]string{"invalid_json": text})
	if err != nil {
		panic("model: encode a string: " + err.Error())
	}
	return b, true
}
