package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"agentctl/internal/output"
	"agentctl/protocol"
)

// Documents writes sessions as documents, for a server.
type Documents struct{}

// mediaTypes are the media types of the formats.
var mediaTypes = map[Format]string{
	FormatMarkdown:  "text/markdown; charset=utf-8",
	FormatJSONLines: "application/x-ndjson",
	FormatHTML:      "text/html; charset=utf-8",
	FormatAsciicast: "application/x-asciicast",
}

// Formats returns the names of the formats.
func (Documents) Formats() []string { return Formats }

// MediaType returns the media type of a format, or "".
func (Documents) MediaType(format string) string { return mediaTypes[format] }

// Raw reports whether a format needs the events as they came, without joined deltas.
func (Documents) Raw(format string) bool { return format == FormatAsciicast }

// ChangedFiles implements the files of a turn's outcome; see the function ChangedFiles.
func (Documents) ChangedFiles(items []*protocol.Item) []protocol.ChangedFile {
	return ChangedFiles(items)
}

// Write writes the encoded events of a session, all of them in order, as a document.
func (Documents) Write(w io.Writer, format string, events iter.Seq2[[]byte, error]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch format {
	case FormatJSONLines:
		err = writeJSONLines(out, events)
	case FormatAsciicast:
		cast := NewAsciicast(out)
		err = eachEvent(events, cast.Write)
	case FormatMarkdown, FormatHTML:
		err = writeTranscript(out, format, events)
	default:
		err = fmt.Errorf("export: there is no format %q", format)
	}
	if err != nil {
		return err
	}
	return output.WriteError(out.Flush())
}

func writeJSONLines(w io.Writer, events iter.Seq2[[]byte, error]) error {
	lines := NewJSONLines(w)
	for event, err := range events {
		if err != nil {
			return err
		}
		if err := lines.Write(event); err != nil {
			return err
		}
	}
	return lines.Flush()
}

func writeTranscript(w io.Writer, format string, events iter.Seq2[[]byte, error]) error {
	state, transcript := &protocol.State{}, &protocol.Transcript{}
	err := eachEvent(events, func(e *protocol.Event) error {
		if err := state.Apply(e); err != nil {
			return err
		}
		_, err := transcript.Apply(e)
		return err
	})
	if err != nil {
		return err
	}
	if format == FormatHTML {
		return WriteHTML(w, state, transcript)
	}
	m := Markdown{W: &output.CleanWriter{W: w}, Session: output.Session(state), Reasoning: true}
	m.Header(state)
	for _, turn := range transcript.Turns {
		m.Turn(turn, false)
	}
	return nil
}

// eachEvent decodes events and calls f with each.
func eachEvent(events iter.Seq2[[]byte, error], f func(*protocol.Event) error) error {
	for line, err := range events {
		if err != nil {
			return err
		}
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("decode event: %w", err)
		}
		if err := f(&e); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	return nil
}

// A Format is the name of a document format.
type Format = string

// The formats.
const (
	FormatMarkdown  Format = "md"
	FormatJSONLines Format = "jsonl"
	FormatHTML      Format = "html"
	FormatAsciicast Format = "asciicast"
)

// Formats lists the formats.
var Formats = []Format{FormatMarkdown, FormatJSONLines, FormatHTML, FormatAsciicast}
