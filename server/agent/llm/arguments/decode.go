package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// Decode decodes the arguments of a call into a value, which has the type of the schema. It returns the arguments
// with the names and types of the schema: decoding these gives the same. Arguments that are ambiguous, unknown or
// missing are errors.
func (s *Schema) Decode(input json.RawMessage, v any) (json.RawMessage, error) {
	plain, err := s.object("", input)
	if err != nil {
		return nil, fmt.Errorf("invalid arguments: %w", err)
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return nil, fmt.Errorf("invalid arguments: they do not fit %s", s.fields())
	}
	return plain, nil
}

// value returns a value as the schema has it. at is its place, such as steps[2].title.
func (s *Schema) value(at string, raw json.RawMessage) (json.RawMessage, error) {
	switch s.Type {
	case "object":
		return s.object(at, raw)
	case "array":
		return s.array(at, raw)
	case "integer":
		return integer(at, raw)
	case "boolean":
		return boolean(at, raw)
	default:
		return s.text(at, raw)
	}
}

// object returns an object with the names of the schema, sorted.
func (s *Schema) object(at string, raw json.RawMessage) (json.RawMessage, error) {
	if text, ok := stringOf(raw); ok {
		if name := s.onlyText(); name != "" && !strings.HasPrefix(strings.TrimSpace(text), "{") {
			return s.object(at, protocol.MustEncode(map[string]string{name: text}))
		}
		raw = json.RawMessage(text)
	}
	if kind(raw) != "an object" {
		return nil, fmt.Errorf("%s must be an object with %s, not %s", place(at), s.fields(), kind(raw))
	}
	var sent map[string]json.RawMessage
	if err := protocol.DecodeStrict(raw, &sent); err != nil {
		return nil, fmt.Errorf("%s: %s", place(at), problem(err))
	}
	out := make(map[string]json.RawMessage, len(sent))
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		known := s.find(name, sent)
		field := join(at, known)
		switch {
		case known == "":
			return nil, fmt.Errorf("%s has no field %.60q: it has %s", place(at), name, s.fields())
		case out[known] != nil:
			return nil, fmt.Errorf("%s is given twice, also as %.60q", field, name)
		case kind(sent[name]) == "null" && !slices.Contains(s.Required, known):
			continue
		}
		value, err := s.Properties[known].named(known, field, sent[name])
		if err != nil {
			return nil, err
		}
		out[known] = value
	}
	for _, name := range s.Required {
		if out[name] == nil {
			return nil, fmt.Errorf("%s is missing: %s has %s", join(at, name), place(at), s.fields())
		}
	}
	return protocol.Encode(out)
}

// named returns the value of a field. A command may be a list of words.
func (s *Schema) named(name, at string, raw json.RawMessage) (json.RawMessage, error) {
	if name != "command" || s.Type != "string" || kind(raw) != "a list" {
		return s.value(at, raw)
	}
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil || len(words) == 0 {
		return nil, fmt.Errorf("%s must be a text, or a list of texts", at)
	}
	line, err := quote(words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return protocol.Encode(line)
}

func (s *Schema) array(at string, raw json.RawMessage) (json.RawMessage, error) {
	if text, ok := stringOf(raw); ok && kind(json.RawMessage(text)) == "a list" {
		raw = json.RawMessage(text)
	}
	var sent []json.RawMessage
	if kind(raw) != "a list" || json.Unmarshal(raw, &sent) != nil {
		return nil, fmt.Errorf("%s must be a list, not %s", at, kind(raw))
	}
	out := make([]json.RawMessage, len(sent))
	for i, item := range sent {
		var err error
		if out[i], err = s.Items.value(fmt.Sprintf("%s[%d]", at, i+1), item); err != nil {
			return nil, err
		}
	}
	return protocol.Encode(out)
}

func (s *Schema) text(at string, raw json.RawMessage) (json.RawMessage, error) {
	text, ok := stringOf(raw)
	if !ok {
		return nil, fmt.Errorf("%s must be a text, not %s", at, kind(raw))
	}
	if s.Enum != nil && !slices.Contains(s.Enum, text) {
		known, ok := values[squash(text)]
		if !ok || !slices.Contains(s.Enum, known) {
			return nil, fmt.Errorf("%s cannot be %.60q: use %s", at, text, strings.Join(s.Enum, ", "))
		}
		text = known
	}
	return protocol.Encode(text)
}

// maxInteger is the greatest integer that every JSON decoder reads exactly.
const maxInteger = 1<<53 - 1

func integer(at string, raw json.RawMessage) (json.RawMessage, error) {
	text, ok := stringOf(raw)
	if !ok && kind(raw) == "a number" {
		text, ok = string(bytes.TrimSpace(raw)), true
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if !ok || err != nil || f != math.Trunc(f) || math.Abs(f) > maxInteger {
		return nil, fmt.Errorf("%s must be a whole number, not %.60s", at, shown(raw))
	}
	return strconv.AppendInt(nil, int64(f), 10), nil
}

func boolean(at string, raw json.RawMessage) (json.RawMessage, error) {
	text, ok := stringOf(raw)
	if !ok {
		text = string(bytes.TrimSpace(raw))
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return json.RawMessage("true"), nil
	case "false":
		return json.RawMessage("false"), nil
	}
	return nil, fmt.Errorf("%s must be true or false, not %.60s", at, shown(raw))
}

// onlyText returns the field of an object that a text alone stands for: the only one that is required.
func (s *Schema) onlyText() string {
	if len(s.Required) != 1 || s.Properties[s.Required[0]] == nil || s.Properties[s.Required[0]].Type != "string" {
		return ""
	}
	return s.Required[0]
}

// fields lists the fields for a model.
func (s *Schema) fields() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			name += " (optional)"
		}
		names = append(names, name)
	}
	return "the fields " + strings.Join(names, ", ")
}

func place(at string) string {
	if at == "" {
		return "the call"
	}
	return at
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// problem returns an error of the protocol in words for a model.
func problem(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Message
	}
	return "it is not valid JSON"
}

func stringOf(raw json.RawMessage) (text string, ok bool) {
	if kind(raw) != "a text" {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// kind names the kind of a JSON value.
func kind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// shown returns a value for an error.
func shown(raw json.RawMessage) string {
	switch k := kind(raw); k {
	case "an object", "a list":
		return k
	}
	return string(raw)
}
