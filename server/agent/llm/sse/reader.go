package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxEvent is the maximum size of an event, in bytes.
const MaxEvent = 64 << 20

// ErrTooLarge is the error of an event over MaxEvent.
var ErrTooLarge = errors.New("event too large")

// A Reader reads the events of a stream.
type Reader struct {
	lines *bufio.Scanner
	data  []byte
	begun bool // the first line was read
	skip  bool // a line feed belongs to the carriage return before
	seen  int  // bytes of the next line without its end
}

// NewReader returns a Reader of a stream.
func NewReader(r io.Reader) *Reader {
	x := &Reader{lines: bufio.NewScanner(r)}
	x.lines.Buffer(make([]byte, 32<<10), MaxEvent)
	x.lines.Split(x.split)
	return x
}

// Next returns the data of the next event that has some, until the next call of Next. At the end of the stream it
// returns io.EOF; an event without the empty line at its end is returned before.
func (r *Reader) Next() ([]byte, error) {
	r.data = r.data[:0]
	some := false
	for r.lines.Scan() {
		line := r.lines.Bytes()
		if !r.begun {
			line, r.begun = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), true
		}
		if len(line) == 0 && some {
			return r.data, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if len(r.data)+len(value) > MaxEvent {
			return nil, ErrTooLarge
		}
		if some {
			r.data = append(r.data, '\n')
		}
		r.data, some = append(r.data, bytes.TrimPrefix(value, []byte(" "))...), true
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, ErrTooLarge
	case err != nil:
		return nil, fmt.Errorf("read stream: %w", err)
	case some:
		return r.data, nil
	}
	return nil, io.EOF
}

// split is a bufio.SplitFunc. A line ends with a line feed, a carriage return, or both.
func (r *Reader) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if r.skip && len(data) > 0 {
		if r.skip = false; data[0] == '\n' {
			advance = 1
		}
	}
	rest := data[advance:]
	end := bytes.IndexAny(rest[r.seen:], "\r\n")
	switch {
	case end >= 0:
		end += r.seen
		r.seen, r.skip = 0, rest[end] == '\r'
		return advance + end + 1, rest[:end], nil
	case atEOF && len(rest) > 0:
		r.seen = 0
		return len(data), rest, nil
	}
	r.seen = len(rest)
	return advance, nil, nil
}
