package wire

import (
	"strconv"
	"strings"
	"unicode"

	"agentctl/protocol"
)

// StripControls removes control characters, which a user cannot type.
func StripControls(s string) string {
	s = strings.ReplaceAll(protocol.ValidText(s), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// MessageText returns a user's message as text.
func MessageText(m *protocol.Message) string {
	text := m.Text
	for _, p := range m.Parts {
		label := p.Type
		if p.Name != "" {
			label += " " + p.Name
		}
		if p.Text != "" {
			label += ": " + p.Text
		}
		if text != "" {
			text += "\n"
		}
		text += "[" + label + "]"
	}
	return text
}

// ContentText returns a structured piece of output as text.
func ContentText(c *protocol.Content) string {
	switch {
	case c.Type == "diff":
		return PatchOf(&protocol.Approval{Content: []protocol.Content{*c}}) + "\n"
	case c.Text != "":
		return c.Text
	case c.Blob != "":
		return "[" + c.Type + " " + c.MediaType + " of " + strconv.FormatInt(c.Bytes, 10) + " bytes]\n"
	case c.Data != nil:
		return string(c.Data) + "\n"
	}
	return "[" + c.Type + "]\n"
}
