package mcp

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
)

// A body may have all the bytes of the limit, and not one more.
func TestABodyIsBounded(t *testing.T) {
	for size, ok := range map[int64]bool{0: true, 9: true, 10: true, 11: false, 20: false} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader,
			"with the end": iotest.DataErrReader,
		} {
			b := &boundedBody{
				ReadCloser: io.NopCloser(wrap(bytes.NewReader(make([]byte, size)))), left: 10, release: func() {},
			}
			got, err := io.ReadAll(b)
			if (err == nil) != ok || int64(len(got)) != min(size, 10) {
				t.Errorf("%d bytes, %s: read %d, %v", size, name, len(got), err)
			}
		}
	}
}
