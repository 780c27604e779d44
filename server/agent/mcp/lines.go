package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxNoise bounds the lines of a program that are not messages.
const maxNoise = 1000

// copyMessages copies the lines that are messages of JSON-RPC. Programs print others too, and the
// SDK would end the connection at the first one. It reads to the end of r.
func copyMessages(w io.Writer, r io.Reader) (err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for noise := 0; ; {
		part, readErr := lines.ReadSlice('\n')
		if err == nil {
			line = append(line, part...)
			if len(line) > maxHTTPMessage {
				err = fmt.Errorf("a line of the program is over %d MiB", maxHTTPMessage>>20)
			}
		}
		if errors.Is(readErr, bufio.ErrBufferFull) && err == nil {
			continue
		}
		switch {
		case err != nil:
		case isMessage(line):
			_, err = w.Write(line)
		case len(bytes.TrimSpace(line)) > 0:
			if noise++; noise > maxNoise {
				err = errors.New("the output of the program is not of the Model Context Protocol")
			}
		}
		line = line[:0]
		if cap(line) > maxKept {
			line = nil
		}
		switch ended := readErr != nil && !errors.Is(readErr, bufio.ErrBufferFull); {
		case ended && err == nil:
			return fmt.Errorf("the program ended: %w", io.EOF)
		case ended:
			return err
		case err != nil: // report to the reader now, and read on without it
			if p, ok := w.(*io.PipeWriter); ok {
				_ = p.CloseWithError(err)
			}
		}
	}
}

// maxKept bounds the memory that is kept between lines.
const maxKept = 1 << 20

// isMessage reports whether a line is a message of JSON-RPC, or a list of messages.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return false
	}
	var one struct{ JSONRPC string }
	switch line[0] {
	case '{':
		return json.Unmarshal(line, &one) == nil && one.JSONRPC != ""
	case '[':
		var list []struct{ JSONRPC string }
		return json.Unmarshal(line, &list) == nil && len(list) > 0 && list[0].JSONRPC != ""
	}
	return false
}
