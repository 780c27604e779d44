package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/diff"
)

// Content is a piece of structured output as lines of text.
func Content(c *protocol.Content) string {
	switch {
	case c.Type == "diff":
		old := ""
		if c.Old != nil {
			old = *c.Old
		}
		return c.Path + "\n" + diffLines(old, c.New)
	case c.Text != "":
		return c.Text + "\n"
	case c.Blob != "":
		return fmt.Sprintf("[%s %s, %d bytes]\n", c.Type, c.MediaType, c.Bytes)
	case len(c.Data) > 0:
		return JSON(c.Data) + "\n"
	}
	return "[" + c.Type + " " + c.Path + "]\n"
}

// diffLines returns the changed lines between two texts, each with its mark.
func diffLines(old, text string) string {
	f := diff.Compare("", &old, text)
	var out strings.Builder
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			if l.Op != diff.Note {
				out.WriteString(string(l.Op) + " " + l.Text + "\n")
			}
		}
	}
	return out.String()
}

// JSON writes JSON for people: a string as its text, an object as one line
// per field, anything else as it is.
func JSON(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	out, ok := Fields(raw, func(key, value string) string {
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		return key + ": " + value
	})
	if !ok {
		return string(raw)
	}
	return strings.Join(out, "\n")
}

// Fields gives each field of a JSON object, in order: a string as its text, other
// values as JSON.
func Fields[T any](raw json.RawMessage, each func(key, value string) T) (out []T, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		text := string(value)
		var s string
		if json.Unmarshal(value, &s) == nil {
			text = s
		}
		out = append(out, each(fmt.Sprint(key), text))
	}
	return out, true
}

// maxIndented is how much JSON is indented at most.
const maxIndented = 1 << 20

// IndentJSON is JSON indented, where a text is nothing but an object or a list.
func IndentJSON(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || len(text) > maxIndented {
		return "", false
	}
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil || out.Len() > 4*maxIndented {
		return "", false
	}
	return out.String(), true
}
