package rpc

import (
	"bufio"
	"errors"
	"io"
)

// MaxLine bounds one line of the peer, in bytes.
const MaxLine = 16 << 20

// maxIdleBuffer is the size past which the buffer of a long line is not kept for the next.
const maxIdleBuffer = 1 << 20

var errTooLong = errors.New("line of more than 16 MiB")

// lineReader reads lines of up to MaxLine bytes.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end; the bytes are good until the call after. A line that is too long is read
// past and its beginning returned with errTooLong. A last line that has no end is a line.
func (l *lineReader) next() ([]byte, error) {
	if cap(l.buf) > maxIdleBuffer {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	long := false
	for {
		b, err := l.r.ReadSlice('\n')
		switch {
		case long:
		case len(l.buf)+len(b) > MaxLine+1:
			long = true
			l.buf = append([]byte(nil), l.buf[:min(len(l.buf), 1<<10)]...)
		default:
			l.buf = append(l.buf, b...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(l.buf) == 0) {
			return nil, err
		}
		if long {
			return l.buf, errTooLong
		}
		if n := len(l.buf); n > 0 && l.buf[n-1] == '\n' {
			l.buf = l.buf[:n-1]
		}
		return l.buf, nil
	}
}
