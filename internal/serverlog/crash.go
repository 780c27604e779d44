package serverlog

import (
	"bytes"
	"fmt"
	"io"

	"agentctl/internal/redact"
)

// IsRecord reports whether a line of a log is a record, in one of the formats. The other lines are
// what the process wrote to standard error, such as the trace of a crash.
func IsRecord(line []byte) bool {
	return bytes.HasPrefix(line, []byte("time=")) || bytes.HasPrefix(line, []byte(`{"time":`))
}

// crashes begin the first line of a crash.
var crashes = [][]byte{[]byte("panic: "), []byte("fatal error: "), []byte("SIG"), []byte("runtime: ")}

// IsCrash reports whether a line begins the trace of a crash.
func IsCrash(line []byte) bool {
	for _, prefix := range crashes {
		if bytes.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// RedactOutput hides secrets in what the previous process wrote after its last record, and returns
// the first line of its crash, or "". Only the owner of the log may call it: a line that another
// process writes during the call may be lost.
func (f *File) RedactOutput(r *redact.Log) (crash string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content := make([]byte, f.former)
	if _, err := f.file.ReadAt(content, 0); err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	from := int64(0)
	for line, at := range linesOf(content) {
		if IsRecord(line) {
			from = at + int64(len(line))
		}
	}
	if from == f.former {
		return "", nil
	}
	clean := []byte(r.Redact(string(content[from:])))
	for line := range linesOf(clean) {
		if IsCrash(line) {
			crash = string(bytes.TrimSpace(line))
			break
		}
	}
	if bytes.Equal(clean, content[from:]) {
		return crash, nil
	}
	later, err := io.ReadAll(io.NewSectionReader(f.file, f.former, 2*f.max))
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	if err := f.file.Truncate(from); err != nil {
		return "", fmt.Errorf("redact log: %w", err)
	}
	if _, err := f.file.Write(append(clean, later...)); err != nil {
		return "", fmt.Errorf("redact log: %w", err)
	}
	return crash, nil
}

// linesOf yields the lines of a text with their ends, and where they begin.
func linesOf(text []byte) func(yield func(line []byte, at int64) bool) {
	return func(yield func(line []byte, at int64) bool) {
		at := int64(0)
		for line := range bytes.Lines(text) {
			if !yield(line, at) {
				return
			}
			at += int64(len(line))
		}
	}
}
