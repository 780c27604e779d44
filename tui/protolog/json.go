package protolog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// jsonFrame is the JSON form of a frame.
type jsonFrame struct {
	Frame     uint64          `json:"frame"`
	Time      time.Time       `json:"time"`
	Direction string          `json:"direction,omitempty"` // sent or received
	Size      int             `json:"size,omitempty"`
	Message   json.RawMessage `json:"message,omitempty"`
	Text      string          `json:"text,omitempty"`   // if it is not JSON
	Binary    string          `json:"binary,omitempty"` // base64
	Note      string          `json:"note,omitempty"`
}

// WriteJSON writes the frames of the log as JSON, one per line. It returns the number of frames.
func (l *Log) WriteJSON(w io.Writer) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // do not wait for new frames
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	n := 0
	for at := uint64(0); ; {
		frames, err := l.After(ctx, at)
		if err != nil {
			return n, nil
		}
		for _, f := range frames {
			at = f.Number
			if err := out.Encode(f.toJSON()); err != nil {
				return n, fmt.Errorf("write protocol log: %w", err)
			}
			n++
		}
	}
}

func (f *Frame) toJSON() jsonFrame {
	s := jsonFrame{Frame: f.Number, Time: f.Time, Size: f.Size, Note: f.Note}
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
