package protolog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Message is a message of a frame, or a note about the connection. A frame holds one or more
// messages on separate lines.
type Message struct {
	Frame uint64 // number of the frame
	Part  int    // index in the frame, from 0
	Time  time.Time
	Sent  bool
	Note  bool
	Size  int    // in bytes
	Label string // type or command, and the request that it answers
	ID    string // pairs request and response
	Seq   string // sequence number, or a range
	Text  []byte

	Answered bool          // the response to the message is known
	Latency  time.Duration // between request and response; set on both
	IsError  bool          // the message reports an error
}

// messageFields holds the fields that identify a message in any of the supported protocols.
type messageFields struct {
	typeFields
	idFields
	seqFields

	Error  json.RawMessage `json:"error"`
	Result json.RawMessage `json:"result"`
	Data   json.RawMessage `json:"data"`
	Values []struct {
		Type scalar `json:"type"`
		Tag  scalar `json:"_tag"`
	} `json:"values"`
}

// typeFields are the fields that hold the type of a message.
type typeFields struct {
	Command       scalar `json:"command"`
	Type          scalar `json:"type"`
	UnderscoreTag scalar `json:"_tag"`
	Tag           scalar `json:"tag"`
	Event         scalar `json:"event"`
	Method        scalar `json:"method"`
	Action        scalar `json:"action"`
}

// idFields are the fields that pair a response with its request.
type idFields struct {
	ID        scalar `json:"id"`
	RequestID scalar `json:"requestId"`
	Request   scalar `json:"request_id"`
}

// seqFields are the fields that hold a sequence number.
type seqFields struct {
	Seq      scalar `json:"seq"`
	FirstSeq scalar `json:"first_seq"`
	Sequence scalar `json:"sequence"`
}

// scalar decodes a string or a number. Other values decode to "".
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	var text string
	switch {
	case json.Unmarshal(b, &text) == nil:
		*s = scalar(text)
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		*s = scalar(b)
	}
	return nil
}

// parseFrame returns the messages of a frame.
func parseFrame(f Frame) []Message {
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
		m.parse()
		out = append(out, m)
		m = Message{Frame: f.Number, Part: m.Part + 1, Time: f.Time, Sent: f.Sent}
	}
	if len(out) == 0 {
		m.Label = "empty"
		out = []Message{m}
	}
	return out
}

// parse sets the fields that the text determines.
func (m *Message) parse() {
	var f messageFields
	var typeError *json.UnmarshalTypeError // ignore fields of another type, use the others
	if err := json.Unmarshal(m.Text, &f); err != nil && !errors.As(err, &typeError) {
		m.Label = "text"
		return
	}
	m.Label, m.ID, m.Seq = f.label(), f.id(), f.seq()
	if len(f.Error) > 0 && string(f.Error) != "null" {
		m.IsError = true
		var e struct{ Code scalar }
		if json.Unmarshal(f.Error, &e) == nil && e.Code != "" {
			m.Label = strings.TrimSpace(m.Label + " error " + string(e.Code))
		}
	}
	if m.Label == "" && (len(f.Result) > 0 || m.ID != "") {
		m.Label = "answer"
	}
	if m.Label == "" {
		m.Label = "text"
	}
}

// label returns the type or command of a message, with the type and number of its values.
func (f *messageFields) label() string {
	var words []string
	for _, w := range []scalar{f.Command, f.UnderscoreTag, f.Tag, f.Type, f.Event, f.Method, f.Action} {
		if w != "" && (len(words) == 0 || words[len(words)-1] != string(w)) {
			words = append(words, string(w))
		}
	}
	if len(f.Values) > 0 {
		v := f.Values[0]
		if w := string(v.Tag + v.Type); w != "" {
			words = append(words, w)
		}
		if n := len(f.Values); n > 1 {
			words = append(words, fmt.Sprintf("+%d", n-1))
		}
	}
	return strings.Join(words, " ")
}

// id returns the ID that pairs request and response, or "".
func (f *messageFields) id() string { return string(cmp.Or(f.Request, f.RequestID, f.ID)) }

// seq returns the sequence number or range of a message, or "". For a command it is the position in
// the data, as of an acknowledgement or a subscription.
func (f *messageFields) seq() string {
	if f.FirstSeq != "" && f.FirstSeq != f.Seq {
		return string(f.FirstSeq + "–" + f.Seq)
	}
	if seq := cmp.Or(f.Sequence, f.Seq); seq != "" || f.Command == "" || len(f.Data) == 0 {
		return string(seq)
	}
	var at struct{ Seq, Position scalar }
	if json.Unmarshal(f.Data, &at) != nil {
		return ""
	}
	return string(at.Seq + at.Position)
}

// Type returns the first word of the label, for Filter.Type.
func (m *Message) Type() string {
	w, _, _ := strings.Cut(m.Label, " ")
	return w
}

// Pretty returns the text, indented if it is JSON.
func (m *Message) Pretty() string {
	var out bytes.Buffer
	if json.Indent(&out, m.Text, "", "  ") != nil {
		return string(m.Text)
	}
	return out.String()
}
