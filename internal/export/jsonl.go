package export

import (
	"bufio"
	"io"

	"agentctl/internal/output"
)

// A JSONLines writes events as they are on the wire, one JSON object per line. It is buffered.
type JSONLines struct{ w *bufio.Writer }

// NewJSONLines returns a writer to w.
func NewJSONLines(w io.Writer) *JSONLines { return &JSONLines{bufio.NewWriterSize(w, 64<<10)} }

// Write writes one event, encoded.
func (j *JSONLines) Write(event []byte) error {
	if _, err := j.w.Write(event); err != nil {
		return output.WriteError(err)
	}
	return output.WriteError(j.w.WriteByte('\n'))
}

// Flush writes what is buffered.
func (j *JSONLines) Flush() error { return output.WriteError(j.w.Flush()) }
