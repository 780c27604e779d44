package protocol

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Arguments are the arguments of a tool, read exactly: names are case-sensitive, and numbers keep
// their digits. Arguments that decoders can read in different ways are opaque: they are shown as
// they were sent, and no rule matches them.
type Arguments struct {
	fields    map[string]json.RawMessage // canonical; nil if opaque
	canonical json.RawMessage
	sent      json.RawMessage
	opaque    string
}

// ReadArguments reads the arguments of a tool. They are an object; anything else is opaque.
func ReadArguments(raw json.RawMessage) Arguments {
	a := Arguments{sent: raw}
	if !json.Valid(raw) {
		a.opaque = "they are not JSON"
		return a
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	c := canonicalizer{decoder: d}
	value := c.value(nil, 1)
	switch {
	case c.opaque != "":
		a.opaque = c.opaque
	case value[0] != '{':
		a.opaque = "they are not an object"
	default:
		a.canonical, a.fields = value, map[string]json.RawMessage{}
		_ = json.Unmarshal(value, &a.fields) // canonical JSON has unique names
	}
	return a
}

// Opaque returns why decoders can read the arguments in different ways; empty: they cannot.
func (a *Arguments) Opaque() string { return a.opaque }

// String returns the arguments as canonical JSON: compact, names sorted, numbers as sent. Opaque
// arguments are returned as sent.
func (a *Arguments) String() string {
	if a.opaque != "" {
		return string(a.sent)
	}
	return string(a.canonical)
}

// Text returns the value of a field that is a text.
func (a *Arguments) Text(name string) (text string, ok bool) {
	v := a.fields[name]
	return text, len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &text) == nil
}

// Fields returns a copy of the fields; empty if the arguments are opaque.
func (a *Arguments) Fields() map[string]json.RawMessage {
	fields := make(map[string]json.RawMessage, len(a.fields))
	maps.Copy(fields, a.fields)
	return fields
}

// Description returns the words for people in the arguments, or "".
func (a *Arguments) Description() string {
	for _, name := range descriptionNames {
		if text, _ := a.Text(name); text != "" {
			return text
		}
	}
	return ""
}

// IsDescription reports whether a field of arguments is words for people: it changes nothing that runs.
func IsDescription(name string) bool { return slices.Contains(descriptionNames, name) }

// Dir returns the working directory in the arguments, or "" if they name none or several.
func (a *Arguments) Dir() (dir string) {
	for _, name := range directoryNames {
		if text, _ := a.Text(name); text != "" && dir != "" {
			return ""
		} else if text != "" {
			dir = text
		}
	}
	return dir
}

// unknown reports whether there is a field that known does not accept. A null does not count as a
// field.
func (a *Arguments) unknown(known func(name string, value json.RawMessage) bool) bool {
	for name, value := range a.fields {
		if string(value) != "null" && !known(name, value) {
			return true
		}
	}
	return false
}

// A canonicalizer reads one JSON value and writes it in canonical form. opaque is set if decoders
// can differ about the value.
type canonicalizer struct {
	decoder *json.Decoder
	opaque  string
}

func (c *canonicalizer) value(dst []byte, depth int) []byte {
	tok, err := c.decoder.Token()
	switch {
	case err != nil || c.opaque != "":
		c.refuse("they are not JSON")
		return dst
	case depth > maxDepth:
		c.refuse("they are nested too deep")
		return dst
	}
	switch v := tok.(type) {
	case string:
		return AppendString(dst, c.text(v))
	case json.Number:
		return append(dst, v...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case json.Delim:
		if v == '{' {
			return c.object(dst, depth)
		}
		dst = append(dst, '[')
		for i := 0; c.opaque == "" && c.decoder.More(); i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.value(dst, depth+1)
		}
		_, _ = c.decoder.Token()
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

func (c *canonicalizer) object(dst []byte, depth int) []byte {
	fields, folded := map[string][]byte{}, map[string]bool{}
	for c.opaque == "" && c.decoder.More() {
		tok, _ := c.decoder.Token()
		name, _ := tok.(string)
		fold := strings.Map(foldRune, c.text(name))
		switch {
		case fields[name] != nil:
			c.refuse("a name is in them twice")
		case folded[fold]:
			c.refuse("two names in them differ only in case")
		}
		folded[fold] = true
		fields[name] = c.value([]byte{}, depth+1)
	}
	_, _ = c.decoder.Token()
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, name), ':')
		dst = append(dst, fields[name]...)
	}
	return append(dst, '}')
}

// text returns a decoded text. One with U+FFFD is opaque: it may stand for bytes that are not
// UTF-8, or for half of a surrogate pair.
func (c *canonicalizer) text(s string) string {
	if !exactText(s) {
		c.refuse("a text in them is not valid Unicode")
	}
	return s
}

func (c *canonicalizer) refuse(why string) {
	if c.opaque == "" {
		c.opaque = why
	}
}

// exactText reports whether a text has no character that replaces an invalid one.
func exactText(s string) bool { return !strings.ContainsRune(s, unicode.ReplacementChar) }
