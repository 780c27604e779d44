package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Shapes are the shapes of messages by direction and type, learned from examples.
type Shapes struct {
	byType map[messageKey]*shape
	// open reports whether the keys of the object at a path are data: it is then checked as a list
	// of its values.
	open func(path string) bool
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
func NewShapes(open func(path string) bool) *Shapes {
	if open == nil {
		open = func(string) bool { return false }
	}
	return &Shapes{byType: map[messageKey]*shape{}, open: open}
}

// Learn adds an example.
func (s *Shapes) Learn(d Direction, m Message) {
	key := messageKey{d, m.Type}
	if s.byType[key] == nil {
		s.byType[key] = &shape{}
	}
	s.learn(s.byType[key], "", m.Value)
}

func (s *Shapes) learn(into *shape, path string, v any) {
	into.count++
	if into.kinds == nil {
		into.kinds, into.fields = map[string]int{}, map[string]*shape{}
	}
	into.kinds[kindOf(v)]++
	elements, isList := v.([]any)
	if m, ok := v.(map[string]any); ok && s.open(path) {
		elements, isList = slices.Collect(maps.Values(m)), true
	} else if ok {
		for name, field := range m {
			if into.fields[name] == nil {
				into.fields[name] = &shape{}
			}
			s.learn(into.fields[name], path+"."+name, field)
		}
	}
	if isList && into.elements == nil {
		into.elements = &shape{}
	}
	for _, e := range elements {
		s.learn(into.elements, path+"[]", e)
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
	var found []string
	s.check(of, "", m.Value, func(path, difference string) { found = append(found, m.Type+path+": "+difference) })
	return found
}

// check calls found with each difference of a value.
func (s *Shapes) check(of *shape, path string, v any, found func(path, difference string)) {
	kind := kindOf(v)
	if of.count == 0 {
		return // only empty lists were seen
	}
	if of.kinds[kind] == 0 {
		found(path, fmt.Sprintf("%s, not %s", kind, slices.Sorted(maps.Keys(of.kinds))))
		return
	}
	elements, _ := v.([]any)
	if m, ok := v.(map[string]any); ok && s.open(path) {
		elements = slices.Collect(maps.Values(m))
	} else if ok {
		for _, name := range slices.Sorted(maps.Keys(of.fields)) {
			if field, ok := m[name]; ok {
				s.check(of.fields[name], path+"."+name, field, found)
			} else if of.fields[name].count == of.kinds["object"] {
				found(path+"."+name, "missing")
			}
		}
	}
	for _, e := range elements {
		s.check(of.elements, path+"[]", e, found)
	}
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
