package rpc

import (
	"bufio"
	"errors"
	"io"
)

// MaxLine is the maximum length of a line, in bytes.
const MaxLine = 16 << 20

// maxIdleBuffer is the maximum size of a buffer to keep for the next line.
const maxIdleBuffer = 1 << 20

var errTooLong = errors.New("line of more than 16 MiB")

// lineReader reads lines of up to MaxLine bytes.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its newline. The bytes are valid until the next call. For a
// line that is too long it returns the start and errTooLong. The last line needs no newline.
func (r *lineReader) next() ([]byte, error) {
	if cap(r.buf) > maxIdleBuffer {
		r.buf = nil
	}
	r.buf = r.buf[:0]
	long := false
	for {
		b, err := r.r.ReadSlice('\n')
		switch {
		case long:
		case len(r.buf)+len(b) > MaxLine+1:
			long = true
			r.buf = append([]byte(nil), r.buf[:min(len(r.buf), 1<<10)]...)
		default:
			r.buf = append(r.buf, b...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(r.buf) == 0) {
			return nil, err
		}
		if long {
			return r.buf, errTooLong
		}
		if n := len(r.buf); n > 0 && r.buf[n-1] == '\n' {
			r.buf = r.buf[:n-1]
		}
		return r.buf, nil
	}
}
