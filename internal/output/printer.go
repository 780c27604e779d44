package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"agentctl/internal/exit"
	"agentctl/internal/format"
	"agentctl/internal/panics"
	"agentctl/protocol"
)

// A Printer writes results to Stdout, and notes and errors to Stderr.
type Printer struct {
	Stdout, Stderr io.Writer
	JSON           bool   // results and errors are lines of JSON
	Filter         Filter // prints each line of JSON on Stdout; nil: as it is
}

// Text returns stdout for text.
func (p Printer) Text() io.Writer { return &CleanWriter{W: p.Stdout} }

// Columns returns the width of the terminal of the output, or 0 without a terminal.
func (p Printer) Columns() int { return Columns(p.Stdout) }

// Data returns stdout for lines of JSON, which its filter prints. On a terminal the text of a
// filter has no control sequences; elsewhere it is exact.
func (p Printer) Data() io.Writer {
	if p.Filter == nil {
		return data(p.Stdout)
	}
	w := p.Stdout
	if IsTerminal(w) {
		w = &CleanWriter{W: w}
	}
	return &filterWriter{w: w, filter: p.Filter}
}

// data returns a stream for lines of JSON.
func data(stream io.Writer) io.Writer {
	if IsTerminal(stream) {
		return EscapeWriter{stream}
	}
	return stream
}

// Print writes one result: v as a line of compact JSON, or what text writes.
func (p Printer) Print(v any, text func(w io.Writer)) error {
	if p.JSON {
		return p.PrintJSON(v)
	}
	return p.PrintText(text)
}

// PrintEach writes each of several results as Print does.
func PrintEach[T any](p Printer, list []T, text func(io.Writer, *T)) error {
	for i := range list {
		if err := p.Print(&list[i], func(w io.Writer) { text(w, &list[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// PrintText writes what text writes.
func (p Printer) PrintText(text func(w io.Writer)) error {
	var b bytes.Buffer
	text(&b)
	_, err := p.Text().Write(b.Bytes())
	return WriteError(err)
}

// PrintJSON writes v as a line of compact JSON.
func (p Printer) PrintJSON(v any) error {
	line, err := protocol.Encode(v)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return p.PrintLine(line)
}

// PrintLine writes a line of JSON unchanged.
func (p Printer) PrintLine(line []byte) error {
	_, err := p.Data().Write(append(slices.Clip(line), '\n'))
	return WriteError(err)
}

// WriteError wraps an error of writing to stdout; nil stays nil.
func WriteError(err error) error {
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// Notef writes a message for the user to stderr.
func (p Printer) Notef(format string, args ...any) {
	fmt.Fprintf(&CleanWriter{W: p.Stderr}, "agentctl: "+format+"\n", args...)
}

// PrintError writes the error that ends the program to stderr, with its hint; in JSON as
// {"error":{"code","message"}}. An error without a message writes nothing.
func (p Printer) PrintError(e *exit.Error) {
	if e.Err == nil {
		return
	}
	if !p.JSON {
		if caught := panics.As(e.Err); caught != nil {
			fmt.Fprintf(&CleanWriter{W: p.Stderr}, "%s\n", caught.Stack)
		}
		p.Notef("%s", message(e))
		if e.Hint != "" {
			fmt.Fprintln(&CleanWriter{W: p.Stderr}, "  "+e.Hint)
		}
		return
	}
	shown := protocol.Error{Code: e.Code, Message: message(e)}
	var coded *protocol.Error
	if errors.As(e.Err, &coded) {
		shown.Limit, shown.Winner = coded.Limit, coded.Winner
	}
	if shown.Code == protocol.CodeInternal && coded == nil {
		shown.Code = exit.CodeFailed
	}
	line := protocol.MustEncode(struct {
		Error protocol.Error `json:"error"`
	}{shown})
	_, _ = data(p.Stderr).Write(append(line, '\n')) // nowhere else to report an error
}

// message returns the text of an error. The text of a conflict names the winner.
func message(e *exit.Error) string {
	text := e.Err.Error()
	var coded *protocol.Error
	if errors.As(e.Err, &coded) && coded.Winner != nil && !strings.Contains(text, coded.Winner.By.Name) {
		text += fmt.Sprintf(": decided by %s (%s)", coded.Winner.By.Name, coded.Winner.Outcome)
	}
	return text
}

// NonNil returns an empty slice for nil, which is [] in JSON.
func NonNil[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// Progress returns a function that shows how much of a long operation is done, as one line on
// stderr, if that is a terminal; end removes the line.
func (p Printer) Progress(what string) (report func(done, total int64), end func()) {
	if p.JSON || !IsTerminal(p.Stderr) {
		return func(int64, int64) {}, func() {}
	}
	shown := ""
	show := func(line string) {
		if line != shown {
			fmt.Fprintf(p.Stderr, "\r%s%s", line, strings.Repeat(" ", max(len(shown)-len(line), 0)))
			shown = line
		}
	}
	report = func(done, total int64) {
		if total > 0 {
			show(fmt.Sprintf("%s: %d%% of %s", what, min(done*100/total, 100), format.Bytes(total)))
		}
	}
	return report, func() {
		if shown != "" {
			show("")
			fmt.Fprint(p.Stderr, "\r")
		}
	}
}
