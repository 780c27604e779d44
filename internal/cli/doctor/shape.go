package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"agentctl/internal/config"
)

// maxElements bounds the elements of an array or a map that a shape lists.
const maxElements = 50

// A shape describes a JSON value without its texts: names of the fields of a type, and types and
// lengths of values. Keys that are no field of the type are texts too.
type shape struct {
	public func(path string, v any) (string, bool) // the text of a value that may be shown; nil: none may
	line   func(path, is string)                   // gets each value, and the path of its fields
}

// describe lists a JSON text that holds a value of a type; nil: nothing is known of it.
func (s *shape) describe(text []byte, t reflect.Type) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		s.line("", fmt.Sprintf("not JSON, %d bytes", len(text)))
		return
	}
	s.value("", t, v)
}

func (s *shape) value(path string, t reflect.Type, v any) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil
	}
	if s.public != nil {
		if text, ok := s.public(path, v); ok {
			s.line(path, text)
			return
		}
	}
	switch v := v.(type) {
	case map[string]any:
		s.object(path, t, v)
	case []any:
		s.line(path, fmt.Sprintf("array of %d", len(v)))
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for _, element := range v[:min(len(v), maxElements)] {
			s.value(path+"[]", of, element)
		}
	case string:
		s.line(path, fmt.Sprintf("string, %d bytes", len(v)))
	case json.Number:
		s.line(path, fmt.Sprintf("number, %d bytes", len(v)))
	case bool:
		s.line(path, "true or false")
	case nil:
		s.line(path, "null")
	}
}

// object lists the fields of an object. The keys of a map are numbered in their order.
func (s *shape) object(path string, t reflect.Type, v map[string]any) {
	var fields map[string]reflect.Type
	var of reflect.Type
	switch {
	case t != nil && t.Kind() == reflect.Struct:
		fields = config.JSONFields(t)
	case t != nil && t.Kind() == reflect.Map:
		of = t.Elem()
	}
	if path != "" {
		s.line(path, fmt.Sprintf("object of %d", len(v)))
	}
	for i, key := range slices.Sorted(maps.Keys(v)) {
		if i == maxElements {
			break
		}
		if field, known := fields[key]; known {
			s.value(joinPath(path, key), field, v[key])
			continue
		}
		s.value(joinPath(path, fmt.Sprintf("(key %d, %d bytes)", i+1, len(key))), of, v[key])
	}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
