package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/diff"
)

// Content returns a piece of structured output as lines of text.
func Content(c *protocol.Content) string {
	file, isFile := ContentFile(c)
	switch {
	case c.Type == "diff":
		return c.Path + "\n" + diffLines(c.Old, c.New)
	case c.Text != "":
		return c.Text + "\n"
	case isFile:
		return file.Line() + "\n"
	case len(c.Data) > 0:
		return JSON(c.Data) + "\n"
	}
	return "[" + c.Type + " " + c.Path + "]\n"
}

// IsMarkdown reports whether a piece of structured output is Markdown.
func IsMarkdown(c *protocol.Content) bool {
	mediaType, _, _ := strings.Cut(c.MediaType, ";")
	return c.Type == "text" && c.Text != "" && strings.EqualFold(strings.TrimSpace(mediaType), "text/markdown")
}

// ContentText is a part of structured output as text.
type ContentText struct {
	Text     string
	Markdown bool
}

// ContentTexts returns structured output without diffs. Text that is not Markdown is joined.
func ContentTexts(content []protocol.Content) []ContentText {
	var out []ContentText
	for i := range content {
		c := &content[i]
		switch last := len(out) - 1; {
		case c.Type == "diff":
		case IsMarkdown(c):
			out = append(out, ContentText{c.Text, true})
		case last >= 0 && !out[last].Markdown:
			out[last].Text += Content(c)
		default:
			out = append(out, ContentText{Text: Content(c)})
		}
	}
	return out
}

// TextContent returns the structured content without diffs, as text.
func TextContent(content []protocol.Content) string {
	var out strings.Builder
	for i := range content {
		if content[i].Type != "diff" {
			out.WriteString(Content(&content[i]))
		}
	}
	return out.String()
}

// diffLines returns the changed lines between two texts with their context. Each begins with its
// mark. Without an old text all lines are new.
func diffLines(old *string, text string) string {
	f := diff.Compare("", old, text)
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

// JSON returns JSON as readable text: a string as its value, an object as one line per field, other
// values unchanged.
func JSON(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	out, ok := Fields(raw, Field)
	if !ok {
		return string(raw)
	}
	return strings.Join(out, "\n")
}

// Field returns a field of a JSON object as text.
func Field(key, value string) string {
	if strings.Contains(value, "\n") {
		value = "\n" + value
	}
	return key + ": " + value
}

// Fields calls each for every field of a JSON object, in order, and returns the results. value is
// the text of a string, or the JSON of another value. ok is false if raw is not an object.
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

// maxIndented is the maximum size of JSON to indent, in bytes.
const maxIndented = 1 << 20

// IndentJSON returns text indented. ok is false if text is not a JSON object or array, or too
// large.
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
