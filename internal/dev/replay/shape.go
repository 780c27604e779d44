package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A Message is a frame, or a part of one that has a type of its own.
type Message struct {
	Type  string // such as "response_item/message"
	Value any    // decoded, with numbers as json.Number
}

// Shapes are the shapes of messages by direction and type, learned from examples.
type Shapes struct {
	byType map[messageKey]*shape
	// Open reports whether an object's keys are data: it is then checked as a list of its values.
	open func(messageType, path string) bool
}

type messageKey struct {
	direction Direction
	typ       string
}

// A shape is what examples of a value have in common.
type shape struct {
	count    int
	kinds    map[string]int
	fields   map[string]*shape // of an object
	elements *shape            // of a list, or of an object with open keys
}

// NewShapes returns shapes without examples. open may be nil: no object has open keys.
func NewShapes(open func(messageType, path string) bool) *Shapes {
	if open == nil {
		open = func(string, string) bool { return false }
	}
	return &Shapes{byType: map[messageKey]*shape{}, open: open}
}

// Learn adds an example.
func (s *Shapes) Learn(d Direction, m Message) {
	key := messageKey{d, m.Type}
	if s.byType[key] == nil {
		s.byType[key] = &shape{}
	}
	s.learn(s.byType[key], m.Type, "", m.Value)
}

func (s *Shapes) learn(into *shape, typ, path string, v any) {
	into.count++
	if into.kinds == nil {
		into.kinds = map[string]int{}
	}
	into.kinds[kindOf(v)]++
	switch v := v.(type) {
	case map[string]any:
		if s.open(typ, path) {
			s.learnElements(into, typ, path, slices.Collect(maps.Values(v)))
			return
		}
		for name, field := range v {
			if into.fields == nil {
				into.fields = map[string]*shape{}
			}
			if into.fields[name] == nil {
				into.fields[name] = &shape{}
			}
			s.learn(into.fields[name], typ, path+"."+name, field)
		}
	case []any:
		s.learnElements(into, typ, path, v)
	}
}

func (s *Shapes) learnElements(into *shape, typ, path string, list []any) {
	if into.elements == nil {
		into.elements = &shape{}
	}
	for _, e := range list {
		s.learn(into.elements, typ, path+"[]", e)
	}
}

// Knows reports whether there is an example of a type.
func (s *Shapes) Knows(d Direction, typ string) bool { return s.byType[messageKey{d, typ}] != nil }

// Types returns the types of a direction with examples, sorted.
func (s *Shapes) Types(d Direction) []string {
	var types []string
	for key := range s.byType {
		if key.direction == d {
			types = append(types, key.typ)
		}
	}
	slices.Sort(types)
	return types
}

// Check returns how a message differs from the examples of its type: fields that all examples have
// and it lacks, and values of a kind that no example has. Further fields are no difference.
func (s *Shapes) Check(d Direction, m Message) []string {
	of := s.byType[messageKey{d, m.Type}]
	if of == nil {
		return []string{m.Type + ": unknown type"}
	}
	return s.check(nil, of, m.Type, "", m.Value)
}

func (s *Shapes) check(found []string, of *shape, typ, path string, v any) []string {
	kind := kindOf(v)
	if of.count == 0 {
		return found // only empty lists were seen
	}
	if of.kinds[kind] == 0 {
		return append(found, fmt.Sprintf("%s%s: %s, not %s", typ, path, kind,
			slices.Sorted(maps.Keys(of.kinds))))
	}
	switch v := v.(type) {
	case map[string]any:
		if s.open(typ, path) {
			for _, e := range v {
				found = s.check(found, of.elements, typ, path+"[]", e)
			}
			return found
		}
		for _, name := range slices.Sorted(maps.Keys(of.fields)) {
			field, ok := v[name]
			switch {
			case ok:
				found = s.check(found, of.fields[name], typ, path+"."+name, field)
			case of.fields[name].count == of.kinds["object"]:
				found = append(found, fmt.Sprintf("%s%s.%s: missing", typ, path, name))
			}
		}
	case []any:
		for _, e := range v {
			found = s.check(found, of.elements, typ, path+"[]", e)
		}
	}
	return found
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	panic(fmt.Sprintf("replay: a value of type %T", v))
}
