package protolog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Message is one message of a frame, which holds one or more on lines of their
// own; or a note.
type Message struct {
	Frame uint64 // its number
	Part  int    // in the frame, from 0
	Time  time.Time
	Sent  bool
	Note  bool
	Size  int    // bytes
	Label string // its type or verb, and what it answers
	ID    string // that pairs it
	Seq   string // its place, or a range of places
	Text  []byte

	Answered bool          // sent, and the answer came
	Latency  time.Duration // between the two; of both
	IsError  bool          // it tells of an error
}

// fields are those of a message that say what it is, whatever the protocol calls them.
type fields struct {
	Command   text            `json:"command"`
	Type      text            `json:"type"`
	TagOf     text            `json:"_tag"`
	Tag       text            `json:"tag"`
	Event     text            `json:"event"`
	Method    text            `json:"method"`
	Action    text            `json:"action"`
	ID        text            `json:"id"`
	RequestID text            `json:"requestId"`
	Request   text            `json:"request_id"`
	Seq       text            `json:"seq"`
	FirstSeq  text            `json:"first_seq"`
	Sequence  text            `json:"sequence"`
	Error     json.RawMessage `json:"error"`
	Result    json.RawMessage `json:"result"`
	Data      json.RawMessage `json:"data"`
	Values    []struct {
		Type  text `json:"type"`
		TagOf text `json:"_tag"`
	} `json:"values"`
}

// text is a string or a number; anything else is none.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = text(s)
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		*t = text(b)
	}
	return nil
}

// messages are those of a frame.
func messages(f Frame) []Message {
	m := Message{Frame: f.Number, Time: f.Time, Sent: f.Sent}
	switch {
	case f.Note != "":
		m.Note, m.Label, m.Text = true, "connection", []byte(f.Note)
		return []Message{m}
	case f.Binary:
		m.Label, m.Size, m.Text = "binary", f.Size, f.Data
		return []Message{m}
	}
	var out []Message
	lines := [][]byte{f.Data}
	if first, _, more := bytes.Cut(f.Data, []byte("\n")); more && json.Valid(first) {
		lines = bytes.Split(f.Data, []byte("\n"))
	}
	for _, line := range lines {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		m.Size, m.Text = len(line), line
		m.read()
		out = append(out, m)
		m = Message{Frame: f.Number, Part: m.Part + 1, Time: f.Time, Sent: f.Sent}
	}
	if len(out) == 0 {
		m.Label = "empty"
		out = []Message{m}
	}
	return out
}

// read finds out what a message is.
func (m *Message) read() {
	var f fields
	var shape *json.UnmarshalTypeError // a field of another shape says nothing; the others do
	if err := json.Unmarshal(m.Text, &f); err != nil && !errors.As(err, &shape) {
		m.Label = "text"
		return
	}
	var words []string
	for _, w := range []text{f.Command, f.TagOf, f.Tag, f.Type, f.Event, f.Method, f.Action} {
		if w != "" && (len(words) == 0 || words[len(words)-1] != string(w)) {
			words = append(words, string(w))
		}
	}
	if len(f.Values) > 0 {
		v := f.Values[0]
		if w := string(v.TagOf + v.Type); w != "" {
			words = append(words, w)
		}
		if n := len(f.Values); n > 1 {
			words = append(words, fmt.Sprintf("+%d", n-1))
		}
	}
	m.Label = strings.Join(words, " ")
	m.ID = string(f.ID)
	for _, id := range []text{f.RequestID, f.Request} {
		if id != "" {
			m.ID = string(id)
		}
	}
	m.Seq = string(f.Seq)
	if f.Sequence != "" {
		m.Seq = string(f.Sequence)
	}
	if f.FirstSeq != "" && f.FirstSeq != f.Seq {
		m.Seq = string(f.FirstSeq + "–" + f.Seq)
	}
	if m.Seq == "" && f.Command != "" && len(f.Data) > 0 { // an ack's, and where a subscription starts
		var at struct{ Seq, Position text }
		if json.Unmarshal(f.Data, &at) == nil {
			m.Seq = string(at.Seq + at.Position)
		}
	}
	if len(f.Error) > 0 && string(f.Error) != "null" {
		m.IsError = true
		var told struct{ Code text }
		if json.Unmarshal(f.Error, &told) == nil && told.Code != "" {
			m.Label = strings.TrimSpace(m.Label + " error " + string(told.Code))
		}
	}
	if m.Label == "" && (len(f.Result) > 0 || m.ID != "") {
		m.Label = "answer"
	}
	if m.Label == "" {
		m.Label = "text"
	}
}

// Type is the first word of the kind, by which messages are sorted.
func (m *Message) Type() string {
	w, _, _ := strings.Cut(m.Label, " ")
	return w
}

// Pretty is a message for reading: JSON on many lines, anything else as it is.
func (m *Message) Pretty() string {
	var out bytes.Buffer
	if json.Indent(&out, m.Text, "", "  ") != nil {
		return string(m.Text)
	}
	return out.String()
}
