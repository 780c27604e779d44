package wirelog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"agentctl/internal/redact"
	"agentctl/wsclient"
)

// A line is a message, or a note about the connection or the log, in the file.
type line struct {
	Time      time.Time       `json:"time"`
	Direction string          `json:"direction,omitempty"` // sent or received; "": a note
	Message   json.RawMessage `json:"message,omitempty"`
	Text      string          `json:"text,omitempty"`    // of a message that is not JSON
	Binary    string          `json:"binary,omitempty"`  // base64 of a binary message
	Note      string          `json:"note,omitempty"`    // about the connection
	Dropped   int             `json:"dropped,omitempty"` // messages that are missing here
}

// linesOf returns the lines of a frame, which holds one or more messages, one per line.
func linesOf(f wsclient.Frame, r *redact.Messages) (lines []line) {
	if f.Note != "" {
		return []line{{Time: f.Time, Note: string(r.Redact([]byte(f.Note)))}}
	}
	l := line{Time: f.Time, Direction: "received"}
	if f.Sent {
		l.Direction = "sent"
	}
	data := r.Redact(f.Data)
	if f.Binary {
		l.Binary = base64.StdEncoding.EncodeToString(data)
		return []line{l}
	}
	if json.Valid(data) {
		l.Message = data
		return []line{l}
	}
	for message := range bytes.Lines(data) {
		m := l
		switch message = bytes.TrimSpace(message); {
		case len(message) == 0:
			continue
		case json.Valid(message):
			m.Message = message
		default:
			m.Text = string(message)
		}
		lines = append(lines, m)
	}
	return lines
}

// append adds the line to b as JSON and a newline. No control character remains that a terminal
// would interpret.
func (l *line) append(b []byte) []byte {
	var buffer bytes.Buffer
	out := json.NewEncoder(&buffer)
	out.SetEscapeHTML(false)
	if err := out.Encode(l); err != nil { // a time after the year 9999
		return b
	}
	for text := buffer.Bytes(); len(text) > 0; {
		c, size := utf8.DecodeRune(text)
		if c >= 0x7f && c < 0xa0 { // in a string of the JSON, where \u stands for the same
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, text[:size]...)
		}
		text = text[size:]
	}
	return b
}
