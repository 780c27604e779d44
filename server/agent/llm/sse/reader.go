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

// An Event is one event. Data is valid until the next call of Next.
type Event struct {
	Name string
	Data []byte
}

// A Reader reads the events of a stream.
type Reader struct {
	in   *bufio.Reader
	data []byte
	line []byte
	skip bool // a line feed belongs to the carriage return before
	some bool // a line was read
}

// NewReader returns a Reader of a stream.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 32<<10)} }

// Next returns the next event that has data. At the end of the stream it returns io.EOF; an event
// without the empty line at its end is returned before.
func (r *Reader) Next() (Event, error) {
	var e Event
	r.data = r.data[:0]
	has := false
	for {
		line, err := r.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && has {
				return r.event(e), nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if has {
				return r.event(e), nil
			}
			e = Event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.Name = string(value)
		case "data":
			if len(r.data)+len(value) > MaxEvent {
				return Event{}, ErrTooLarge
			}
			r.data, has = append(append(r.data, value...), '\n'), true
		}
	}
}

// event completes an event. The line feed after its last line of data is not part of it.
func (r *Reader) event(e Event) Event {
	e.Data = r.data[:len(r.data)-1]
	return e
}

// readLine returns the next line without its end: a line feed, a carriage return, or both.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		c, err := r.fill()
		if err != nil {
			if errors.Is(err, io.EOF) && len(r.line) > 0 {
				return r.trimMark(), nil
			}
			return nil, err
		}
		end := bytes.IndexAny(c, "\r\n")
		if end < 0 {
			end = len(c)
		}
		r.line = append(r.line, c[:end]...)
		if len(r.line) > MaxEvent {
			return nil, ErrTooLarge
		}
		if end == len(c) {
			_, _ = r.in.Discard(end) // buffered
			continue
		}
		r.skip = c[end] == '\r'
		_, _ = r.in.Discard(end + 1) // buffered
		return r.trimMark(), nil
	}
}

// fill returns the buffered bytes, at least one, without the line feed that ends the previous line.
func (r *Reader) fill() ([]byte, error) {
	for {
		if _, err := r.in.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				return nil, io.EOF
			}
			return nil, fmt.Errorf("read stream: %w", err)
		}
		c, _ := r.in.Peek(r.in.Buffered())
		if r.skip && c[0] == '\n' {
			_, _ = r.in.Discard(1)
			r.skip = false
			continue
		}
		r.skip = false
		return c, nil
	}
}

// trimMark removes a byte order mark from the first line.
func (r *Reader) trimMark() []byte {
	if r.some {
		return r.line
	}
	r.some = true
	return bytes.TrimPrefix(r.line, []byte("\xef\xbb\xbf"))
}
