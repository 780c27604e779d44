package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// The output formats.
const (
	formatText = "text"
	formatJSON = "json"
)

// A cleanWriter lets no control sequence through to the terminal: text holds what agents and other people wrote. Every text
// of the program goes through one.
type cleanWriter struct {
	w     io.Writer
	clean transcript.Cleaner
	tail  []byte // of a rune that was cut
}

func (c *cleanWriter) Write(p []byte) (int, error) {
	text := append(c.tail, p...)
	cut := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				cut = len(text) - i
			}
			break
		}
	}
	c.tail = bytes.Clone(text[cut:])
	if _, err := io.WriteString(c.w, c.clean.Clean(string(text[:cut]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// text returns stdout for people.
func (a *app) text() io.Writer { return &cleanWriter{w: a.stdout} }

// emit writes one result: v as a line of compact JSON, or what text writes.
func (a *app) emit(v any, text func(w io.Writer)) error {
	if a.json() {
		return a.emitJSON(v)
	}
	var b bytes.Buffer
	text(&b)
	_, err := a.text().Write(b.Bytes())
	return wrapOutput(err)
}

// emitJSON writes v as a line of compact JSON.
func (a *app) emitJSON(v any) error {
	line, err := protocol.Encode(v)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.emitLine(line)
}

// emitLine writes a line of JSON as it is.
func (a *app) emitLine(line []byte) error {
	_, err := a.data().Write(append(slices.Clip(line), '\n'))
	return wrapOutput(err)
}

func wrapOutput(err error) error {
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// note tells people something on stderr that is not data.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(&cleanWriter{w: a.stderr}, "agentctl: "+format+"\n", args...)
}

// report shows the error that ends the program.
func (a *app) report(f *fault) {
	if f.err == nil {
		return
	}
	if !a.json() {
		if broken := panics.As(f.err); broken != nil {
			fmt.Fprintf(&cleanWriter{w: a.stderr}, "%s\n", broken.Stack)
		}
		a.note("%s", message(f))
		if f.hint != "" {
			fmt.Fprintln(&cleanWriter{w: a.stderr}, "  "+f.hint)
		}
		return
	}
	shown := protocol.Error{Code: f.code, Message: message(f)}
	var coded *protocol.Error
	if errors.As(f.err, &coded) {
		shown.Limit, shown.Winner = coded.Limit, coded.Winner
	}
	if shown.Code == codeInternal && coded == nil {
		shown.Code = codeFailed
	}
	line := protocol.MustEncode(struct {
		Error protocol.Error `json:"error"`
	}{shown})
	fmt.Fprintf(a.stderr, "%s\n", line)
}

// message is an error in words; a lost race names its winner.
func message(f *fault) string {
	text := f.err.Error()
	var coded *protocol.Error
	if errors.As(f.err, &coded) && coded.Winner != nil && !strings.Contains(text, coded.Winner.By.Name) {
		text += fmt.Sprintf(": decided by %s (%s)", coded.Winner.By.Name, coded.Winner.Outcome)
	}
	return text
}

// oneLine fits untrusted text into a line of at most width runes (0: any).
func oneLine(s string, width int) string {
	s = strings.Join(strings.Fields(transcript.Clean(s)), " ")
	if width > 0 && utf8.RuneCountInString(s) > width {
		s = string([]rune(s)[:width-1]) + "…"
	}
	return s
}
