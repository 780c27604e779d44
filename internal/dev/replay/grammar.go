package replay

import (
	"encoding/json"
	"io"
	"strings"
)

// A Message is a frame, or a part of one that has a separate type.
type Message struct {
	Type  string // such as "response_item/message"
	Value any    // decoded, with numbers as json.Number
}

// A Grammar recognizes the messages of a dialect's frames.
type Grammar struct {
	// Split returns a function that splits the JSON values of one connection's frames into
	// messages, in order. The messages share the value.
	Split func() func(d Direction, v any) []Message

	// OpenKeys reports whether the keys of the object at a path are data. Nil: none.
	OpenKeys func(path string) bool

	// NoServer means that the system has no server. The frames to the client that the recorded
	// clients accepted are then the reference.
	NoServer bool

	// TypeFields are the names of the fields that define a message's type.
	TypeFields []string

	// IDs are the names of the fields that hold ids: strings, or lists of strings.
	IDs []string

	// LocalIDs reports whether an id belongs to its connection, as a request's id does. Nil:
	// none.
	LocalIDs func(id string) bool
}

// oneMessage returns the Split of a dialect whose values are one message each.
func oneMessage(typeOf func(d Direction, v any) string) func() func(Direction, any) []Message {
	return func() func(Direction, any) []Message {
		return func(d Direction, v any) []Message { return []Message{{typeOf(d, v), v}} }
	}
}

// A splitter splits the frames of one connection.
type splitter func(d Direction, frame []any) []Message

func (g *Grammar) splitter() splitter {
	split := g.Split()
	return func(d Direction, frame []any) (list []Message) {
		for _, v := range frame {
			list = append(list, split(d, v)...)
		}
		return list
	}
}

// Each calls f with every message of a conversation, the number of its step, and the values of its
// frame.
func (g *Grammar) Each(c *Conversation, f func(step int, frame []any, m Message)) {
	split := map[int]splitter{}
	for i, s := range c.Steps {
		if s.Frame == nil {
			continue
		}
		if split[s.Conn] == nil {
			split[s.Conn] = g.splitter()
		}
		frame := decode(*s.Frame)
		for _, m := range split[s.Conn](s.Direction, frame) {
			f(i, frame, m)
		}
	}
}

// Learn returns the shapes of the messages of conversations. Frames to the client count only if the
// real server sent them. The answers to HTTP requests have the direction ToCaller.
func (g *Grammar) Learn(list []*Conversation) *Shapes {
	s := NewShapes(g.OpenKeys)
	for _, c := range list {
		for _, step := range c.Steps {
			if h := step.HTTP; h != nil && !h.Upgrade && c.ServerIsReal() {
				for _, body := range decode(h.Body) {
					s.Learn(ToCaller, Message{h.messageType(), body})
				}
			}
		}
		g.Each(c, func(i int, _ []any, m Message) {
			if d := c.Steps[i].Direction; d == ToServer || c.ServerIsReal() || g.NoServer {
				s.Learn(d, m)
			}
		})
	}
	return s
}

// decode decodes the JSON values of a frame. It returns nil for a frame that is not JSON.
func decode(frame string) (values []any) {
	d := json.NewDecoder(strings.NewReader(frame))
	d.UseNumber()
	for {
		var v any
		switch err := d.Decode(&v); {
		case err == io.EOF:
			return values
		case err != nil:
			return nil
		}
		values = append(values, v)
	}
}
