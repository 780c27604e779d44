package sandcastle

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// maxLine bounds one message of the peer, in bytes: a line that several frames make up, too.
const maxLine = 16 << 20

// lines splits frames into messages. A message ends with a newline and may be spread over several frames; what is whole at the
// end of a frame is taken without one.
type lines struct{ rest []byte }

// take yields the messages that a frame completes; ok is false when what waits for its newline grew too long and was dropped.
func (l *lines) take(data []byte, each func(line []byte)) (ok bool) {
	if len(l.rest) > 0 {
		data = append(l.rest, data...)
		l.rest = nil
	}
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended && !json.Valid(line) {
			if len(line) > maxLine {
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

// text makes a text frame of messages.
func text(lines ...[]byte) protocol.Frame {
	var b []byte
	for _, l := range lines {
		b = append(append(b, l...), '\n')
	}
	return protocol.Frame{Data: b}
}
