package wire

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol/codec"
)

// A LineSplitter splits frames into messages. A message ends with a newline and can span several
// frames. A single complete message in a frame needs no newline.
type LineSplitter struct {
	Limit int // of a message that spans frames, in bytes; constant
	rest  []byte
}

// Split yields the messages that a frame completes. ok is false if an incomplete message exceeded
// the limit and was dropped.
func (l *LineSplitter) Split(data []byte, each func(line []byte)) (ok bool) {
	if head, tail, ended := bytes.Cut(data, []byte("\n")); len(l.rest) > 0 {
		if len(l.rest)+len(head) > l.Limit {
			l.rest = nil
			return false
		}
		l.rest = append(l.rest, head...)
		if !ended {
			return true
		}
		if line := bytes.TrimSpace(l.rest); len(line) > 0 {
			each(line)
		}
		l.rest, data = nil, tail
	}
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended && !json.Valid(line) {
			if len(line) > l.Limit {
				return false
			}
			l.rest = bytes.Clone(line)
			return true
		}
		data = rest
		if line = bytes.TrimSpace(line); len(line) > 0 {
			each(line)
		}
	}
	return true
}

// TextFrame returns a text frame with messages.
func TextFrame(lines ...[]byte) codec.Frame {
	var b []byte
	for _, l := range lines {
		b = append(append(b, l...), '\n')
	}
	return codec.Frame{Data: b}
}
