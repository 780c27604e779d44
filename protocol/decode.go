package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of a command.
const (
	maxDepth = 64
	maxID    = 256 // bytes of an id or of a session's name
	maxKey   = 128 // bytes
)

// Lines yields the non-empty lines of a message. Each is one JSON object.
func Lines(message []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(message) > 0 {
			line, rest, _ := bytes.Cut(message, []byte("\n"))
			message = rest
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}

// DecodeCommand decodes a command strictly: valid UTF-8, no unknown, duplicate or wrongly cased
// field, bounded depth and sizes. Data that is null is absent. Errors have the codes invalid_json,
// invalid_message and unknown_command. The command returned with an error has its ID if that could
// be decoded.
func DecodeCommand(line []byte) (Command, error) {
	var c Command
	if !utf8.Valid(line) {
		return c, Errorf(CodeInvalidJSON, "not valid UTF-8")
	}
	if !json.Valid(line) {
		return c, Errorf(CodeInvalidJSON, "not a JSON object")
	}
	var id struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &id) == nil {
		if s, ok := id.ID.(string); ok && len(s) <= maxID {
			c.ID = s
		}
	}
	var full Command
	if err := DecodeStrict(line, &full); err != nil {
		return c, err
	}
	c = full
	if string(c.Data) == "null" {
		c.Data = nil
	}
	switch {
	case len(c.ID) > maxID:
		c.ID = ""
		return c, Errorf(CodeInvalidMessage, "id: at most %d bytes", maxID)
	case len(c.Session) > maxID:
		return c, Errorf(CodeInvalidMessage, "session: at most %d bytes", maxID)
	case len(c.Key) > maxKey:
		return c, Errorf(CodeInvalidMessage, "key: at most %d bytes", maxKey)
	case c.Command == "":
		return c, Errorf(CodeInvalidMessage, "command: missing")
	}
	t := CommandOf(c.Command)
	if t == nil {
		return c, Errorf(CodeUnknownCommand, "unknown command %.80q", string(c.Command))
	}
	if t.Session && c.Session == "" {
		return c, Errorf(CodeInvalidMessage, "%s: session: missing", c.Command)
	}
	return c, nil
}

// DecodeData decodes the command's data strictly into v, a pointer to the type that Commands lists
// for the verb. Absent data is an empty object.
func (c *Command) DecodeData(v any) error {
	if len(c.Data) == 0 {
		return nil
	}
	if err := DecodeStrict(c.Data, v); err != nil {
		e := AsError(err)
		return Errorf(e.Code, "%s: %s", c.Command, e.Message)
	}
	return nil
}

// DecodeStrict decodes one JSON object into v, a pointer to a struct, as strictly as DecodeCommand.
// Errors have the code invalid_json or invalid_message.
func DecodeStrict(data []byte, v any) error {
	if err := walk(data, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var typed *json.UnmarshalTypeError
	var coded *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &typed):
		field := typed.Field
		if field == "" {
			field = "message"
		}
		return Errorf(CodeInvalidMessage, "%.120s: %s is not %s", field, typed.Value, plain(typed.Type))
	}
	return Errorf(CodeInvalidMessage, "%.200s", strings.TrimPrefix(err.Error(), "json: "))
}

// plain returns the JSON name of a Go type.
func plain(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a number of the right kind"
	}
}

// walk checks depth, duplicate keys and, where the fields are known, the case of keys.
// encoding/json does not.
func walk(data []byte, t reflect.Type) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	tok, err := d.Token()
	if err != nil {
		return Errorf(CodeInvalidJSON, "not a JSON object")
	}
	if tok != json.Delim('{') {
		return Errorf(CodeInvalidMessage, "not a JSON object")
	}
	if err := walkObject(d, t, 1); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return Errorf(CodeInvalidJSON, "more than one JSON value on a line")
	}
	return nil
}

func walkObject(d *json.Decoder, t reflect.Type, depth int) error {
	if depth > maxDepth {
		return Errorf(CodeInvalidMessage, "nested more than %d deep", maxDepth)
	}
	known := fields(t)
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return Errorf(CodeInvalidJSON, "not a JSON object")
		}
		key, _ := tok.(string)
		if seen[key] {
			return Errorf(CodeInvalidMessage, "duplicate field %.80q", key)
		}
		seen[key] = true
		if known != nil && known[key] == nil {
			return Errorf(CodeInvalidMessage, "unknown field %.80q", key)
		}
		if err := walkValue(d, known[key], depth); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return jsonError(err)
}

func walkValue(d *json.Decoder, t reflect.Type, depth int) error {
	tok, err := d.Token()
	if err != nil {
		return jsonError(err)
	}
	switch tok {
	case json.Delim('{'):
		return walkObject(d, t, depth+1)
	case json.Delim('['):
		if depth >= maxDepth {
			return Errorf(CodeInvalidMessage, "nested more than %d deep", maxDepth)
		}
		for d.More() {
			if err := walkValue(d, elem(t), depth+1); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return jsonError(err)
	}
	return nil
}

func jsonError(err error) error {
	if err == nil {
		return nil
	}
	return Errorf(CodeInvalidJSON, "not a JSON object")
}

func elem(t reflect.Type) reflect.Type {
	if t = direct(t); t != nil && t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return nil
}

func direct(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

var fieldCache sync.Map // reflect.Type → map[string]reflect.Type

// fields returns the JSON fields of a struct type and their types, or nil if any key is allowed.
func fields(t reflect.Type) map[string]reflect.Type {
	t = direct(t)
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	if m, ok := fieldCache.Load(t); ok {
		return m.(map[string]reflect.Type)
	}
	m := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" && name != "" {
			m[name] = f.Type
		}
	}
	fieldCache.Store(t, m)
	return m
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// DecodeIncoming decodes a line of a server: an event or an answer; the other result is nil. It is
// tolerant: unknown fields and types are kept or ignored, so that an older client can follow a
// newer server.
func DecodeIncoming(line []byte) (*Event, *Answer, error) {
	var in struct {
		Event
		ID     string          `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, nil, fmt.Errorf("decode message: %w", err)
	}
	if in.Type != "" {
		return &in.Event, nil, nil
	}
	if in.ID == "" && in.Result == nil && in.Error == nil {
		return nil, nil, fmt.Errorf("decode message: neither an event nor an answer: %.80q", line)
	}
	return nil, &Answer{ID: in.ID, Result: in.Result, Error: in.Error}, nil
}
