package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// A shape holds the keys of a file with their places. A key has the names of the objects around it,
// with dots: agents.coder.model.
type shape struct {
	text    []byte
	decoder *json.Decoder
	lines   map[string]int // of keys
}

// schemaKey names the JSON Schema of a file for editors. It has no meaning here.
const schemaKey = "$schema"

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// readShape reads the keys of a JSON text that holds a value of a type. The first unknown or
// repeated key is an error, and so is a text that the type does not take. Values of another kind
// than the type's are left to the decoder.
func readShape(b []byte, t reflect.Type) (*shape, error) {
	s := &shape{text: b, decoder: json.NewDecoder(bytes.NewReader(b)), lines: map[string]int{}}
	s.decoder.UseNumber()
	if err := s.value(t, ""); err != nil {
		return s, err
	}
	switch _, err := s.decoder.Token(); {
	case err == nil:
		return s, &lineError{s.line(s.decoder.InputOffset()), errors.New("more than one JSON value")}
	case err != io.EOF:
		return s, s.syntax(err)
	}
	return s, nil
}

// line returns the number of the line of a place.
func (s *shape) line(offset int64) int {
	return 1 + bytes.Count(s.text[:min(offset, int64(len(s.text)))], []byte("\n"))
}

// syntax adds the line to an error of the decoder.
func (s *shape) syntax(err error) error {
	offset := s.decoder.InputOffset()
	var e *json.SyntaxError
	if errors.As(err, &e) {
		offset = e.Offset
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		offset, err = int64(len(s.text)), fmt.Errorf("unexpected end of the file: %w", io.ErrUnexpectedEOF)
	}
	return &lineError{s.line(offset), err}
}

// value reads one value. t is nil if nothing is known of it.
func (s *shape) value(t reflect.Type, key string) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := s.decoder.Token()
	if err != nil {
		return s.syntax(err)
	}
	line := s.line(s.decoder.InputOffset())
	if text, ok := token.(string); ok && t != nil && reflect.PointerTo(t).Implements(textUnmarshaler) {
		if u, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
			if err := u.UnmarshalText([]byte(text)); err != nil {
				return &lineError{line, fmt.Errorf("%s: %w", key, err)}
			}
		}
		return nil
	}
	if t != nil && reflect.PointerTo(t).Implements(jsonUnmarshaler) {
		t = nil
	}
	switch token {
	case json.Delim('{'):
		return s.object(t, key)
	case json.Delim('['):
		return s.array(t, key)
	}
	return nil
}

func (s *shape) array(t reflect.Type, key string) error {
	if t != nil && t.Kind() == reflect.Slice {
		t = t.Elem()
	} else {
		t = nil
	}
	for i := 0; s.decoder.More(); i++ {
		if err := s.value(t, fmt.Sprintf("%s[%d]", key, i)); err != nil {
			return err
		}
	}
	return s.end()
}

func (s *shape) object(t reflect.Type, key string) error {
	var fields map[string]reflect.Type
	if t != nil && t.Kind() == reflect.Struct {
		fields = JSONFields(t)
	}
	seen := map[string]bool{}
	for s.decoder.More() {
		token, err := s.decoder.Token()
		if err != nil {
			return s.syntax(err)
		}
		name, _ := token.(string) // the decoder wants one
		line := s.line(s.decoder.InputOffset())
		full := strings.TrimPrefix(key+"."+name, ".")
		if seen[name] {
			return &lineError{line, fmt.Errorf("%s: the key is there twice", full)}
		}
		seen[name] = true
		s.lines[full] = line
		var of reflect.Type
		switch {
		case fields != nil:
			var known bool
			if of, known = fields[name]; !known && (key != "" || name != schemaKey) {
				return &lineError{line, unknownKey(key, name, fields)}
			}
		case t != nil && t.Kind() == reflect.Map:
			of = t.Elem()
		}
		if err := s.value(of, full); err != nil {
			return err
		}
	}
	return s.end()
}

// end reads the end of an object or array.
func (s *shape) end() error {
	if _, err := s.decoder.Token(); err != nil {
		return s.syntax(err)
	}
	return nil
}

// JSONFields returns the types of a struct's fields by their names in JSON.
func JSONFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// unknownKey returns the error of a key that no field has, with the most similar one.
func unknownKey(of, name string, fields map[string]reflect.Type) error {
	text := fmt.Sprintf("unknown field %q", name)
	if of != "" {
		text = of + ": " + text
	}
	best, distance := "", max(2, len(name)/3)+1
	for field := range fields {
		d := editDistance(strings.ToLower(name), field)
		if d < distance || d == distance && best != "" && field < best {
			best, distance = field, d
		}
	}
	if best != "" {
		return fmt.Errorf("%s: did you mean %q?", text, best)
	}
	return fmt.Errorf("%s: want one of %s", text, strings.Join(sortedKeys(fields), ", "))
}

func sortedKeys(fields map[string]reflect.Type) (names []string) {
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// editDistance returns the number of characters to insert, remove or replace between two names.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// A lineError is an error at a line of a file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// at adds the line to an error that begins with a key, or that the decoder has of a value.
func (s *shape) at(err error) error {
	var e *json.UnmarshalTypeError
	if errors.As(err, &e) {
		key := e.Field
		if key == "" {
			key = "the file"
		}
		return &lineError{s.line(e.Offset), fmt.Errorf("%s: want %s, not a JSON %s", key, kindName(e.Type), e.Value)}
	}
	text := err.Error()
	best := ""
	for key := range s.lines {
		if rest, ok := strings.CutPrefix(text, key); ok && len(key) > len(best) && strings.IndexAny(rest, ":. ") == 0 {
			best = key
		}
	}
	if best == "" {
		return err
	}
	if name, _, ok := strings.Cut(strings.TrimPrefix(text, best+": "), ":"); ok && s.lines[best+"."+name] > 0 {
		best += "." + name
	}
	return &lineError{s.lines[best], err}
}

// kindName names what JSON must have for a type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}
