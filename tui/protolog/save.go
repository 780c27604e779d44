package protolog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// saved is a frame in a file.
type saved struct {
	Frame     uint64          `json:"frame"`
	Time      time.Time       `json:"time"`
	Direction string          `json:"direction,omitempty"` // sent or received
	Size      int             `json:"size,omitempty"`
	Message   json.RawMessage `json:"message,omitempty"`
	Text      string          `json:"text,omitempty"`   // what is not one JSON value
	Binary    string          `json:"binary,omitempty"` // base64
	Note      string          `json:"note,omitempty"`
}

// WriteJSON writes what the log keeps, one frame a line as JSON. It returns how many frames there were.
func (l *Log) WriteJSON(w io.Writer) (int, error) {
	done, stop := context.WithCancel(context.Background())
	stop() // what is there is read, nothing is waited for
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	n := 0
	for at := uint64(0); ; {
		frames, err := l.After(done, at)
		if err != nil {
			return n, nil
		}
		for _, f := range frames {
			at = f.Number
			if err := out.Encode(f.saved()); err != nil {
				return n, fmt.Errorf("save the wire: %w", err)
			}
			n++
		}
	}
}

func (f *Frame) saved() saved {
	s := saved{Frame: f.Number, Time: f.Time, Size: f.Size, Note: f.Note}
	switch {
	case f.Note != "":
		return s
	case f.Sent:
		s.Direction = "sent"
	default:
		s.Direction = "received"
	}
	switch {
	case f.Binary:
		s.Binary = base64.StdEncoding.EncodeToString(f.Data)
	case json.Valid(f.Data):
		s.Message = f.Data
	default:
		s.Text = string(f.Data)
	}
	return s
}
