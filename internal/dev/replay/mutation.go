package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
)

// A mutation is a change of a message.
type mutation struct {
	what  string // is changed, for a failure
	field string // the name of the field; empty for an element of a list
	apply func() // changes the message's value in place
	undo  func()
}

// mutations returns the changes of a message that make it differ from its type's shape: each field
// that all examples have removed, and each value replaced by one of a kind that no example has.
func (s *Shapes) mutations(d Direction, m Message) (list []mutation) {
	if of := s.byType[messageKey{d, m.Type}]; of != nil {
		of.mutations(&list, m.Type, m.Value)
	}
	return list
}

// mutations adds the changes of the values in v.
func (of *shape) mutations(list *[]mutation, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			field := of.fields[name]
			if of.elements != nil {
				field = of.elements
			}
			if field == nil {
				continue
			}
			old, path := v[name], path+"."+name
			undo := func() { v[name] = old }
			if to, ok := field.foreignValue(); ok {
				*list = append(*list, mutation{path + " replaced", name, func() { v[name] = to }, undo})
			}
			if of.elements == nil && field.count == of.kinds["object"] {
				*list = append(*list, mutation{path + " removed", name, func() { delete(v, name) }, undo})
			}
			field.mutations(list, path, old)
		}
	case []any:
		for i, old := range v {
			path := fmt.Sprintf("%s[%d]", path, i)
			if to, ok := of.elements.foreignValue(); ok {
				*list = append(*list, mutation{path + " replaced", "", func() { v[i] = to }, func() { v[i] = old }})
			}
			of.elements.mutations(list, path, old)
		}
	}
}

// foreignValue returns a value of a kind that no example has.
func (of *shape) foreignValue() (v any, ok bool) {
	for _, v := range []any{nil, true, json.Number("7"), "text", []any{}, map[string]any{}} {
		if of.kinds[kindOf(v)] == 0 {
			return v, true
		}
	}
	return nil, false
}

// eachMutation calls f with every mutation of the messages to the client of a conversation, and a
// copy of the conversation that has it.
func eachMutation(d *Dialect, shapes *Shapes, c *Conversation, f func(Message, mutation, *Conversation)) {
	d.Each(c, func(i int, frame []any, m Message) {
		if c.Steps[i].Direction != ToClient {
			return
		}
		for _, change := range shapes.mutations(ToClient, m) {
			changed := *c
			changed.Steps = slices.Clone(c.Steps)
			change.apply()
			text := encode(frame, *c.Steps[i].Frame)
			changed.Steps[i].Frame = &text
			f(m, change, &changed)
			change.undo()
		}
	})
}

// encode encodes the values of a frame, with the line ends of the original one.
func encode(frame []any, original string) string {
	var b strings.Builder
	for _, v := range frame {
		b.Write(protocol.MustEncode(v))
		if strings.HasSuffix(original, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
