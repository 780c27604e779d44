package wire

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// With returns a copy with one more field.
func (o Fields) With(name, value string) Fields {
	with := Fields{}
	for k, v := range o {
		with[k] = v
	}
	with[name] = protocol.MustEncode(value)
	return with
}

func parseFloat(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// Scalar returns the text of a JSON string, number or boolean, and "" for other JSON.
func Scalar(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
		return ""
	case '{', '[', 'n':
		return ""
	}
	return string(raw)
}

// Text returns the text of a content: a string as it is, the text, content, message or error
// field of an object, or else the JSON.
func Text(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	if raw[0] != '{' && raw[0] != '[' {
		return Scalar(raw)
	}
	o := ParseObject(raw)
	for _, key := range []string{"text", "content", "message", "error"} {
		if s := Scalar(o[key]); s != "" {
			return s
		}
	}
	if len(o) == 0 && raw[0] == '{' {
		return ""
	}
	return string(raw)
}

// Fields are the members of a JSON object.
type Fields map[string]json.RawMessage

// ParseObject decodes an object; nil if raw is not an object.
func ParseObject(raw json.RawMessage) Fields {
	var o Fields
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// Str returns the first non-empty field among names.
func (o Fields) Str(names ...string) string {
	for _, name := range names {
		if s := Scalar(o[name]); s != "" {
			return s
		}
	}
	return ""
}

// Has reports whether a field is present and not null.
func (o Fields) Has(name string) bool { return len(o[name]) > 0 && o[name][0] != 'n' }

// Num returns the first positive number among names.
func (o Fields) Num(names ...string) float64 {
	for _, name := range names {
		if v := parseFloat(Scalar(o[name])); v > 0 && v < 1<<53 {
			return v
		}
	}
	return 0
}

// Int is Num without the fraction.
func (o Fields) Int(names ...string) int64 { return int64(o.Num(names...)) }

// Millis returns a number of seconds in milliseconds.
func (o Fields) Millis(names ...string) int64 {
	if s := o.Num(names...); s < 1<<43 {
		return int64(math.Round(s * 1000))
	}
	return 0
}

// Decode decodes a field into v and reports whether it fits.
func (o Fields) Decode(name string, v any) bool {
	return o.Has(name) && json.Unmarshal(o[name], v) == nil
}
