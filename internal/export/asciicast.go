package export

import (
	"fmt"
	"io"
	"strings"
	"time"

	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

const (
	maxPause    = 3 * time.Second // longer pauses are shortened
	castColumns = 100
	castRows    = 30
)

// An Asciicast writes a session's events as a recording in asciicast version 2: a header, then
// output with its time.
type Asciicast struct {
	w        io.Writer
	last     time.Time     // of the previous event
	elapsed  time.Duration // in the recording
	cleaners map[string]*transcript.Cleaner
	part     string // of the last delta
	midLine  bool
}

// NewAsciicast returns a writer to w.
func NewAsciicast(w io.Writer) *Asciicast {
	return &Asciicast{w: w, cleaners: map[string]*transcript.Cleaner{}}
}

// Write writes the next event of the session. Deltas must not be folded.
func (c *Asciicast) Write(e *protocol.Event) error {
	if c.last.IsZero() {
		header := protocol.MustEncode(struct {
			Version   int    `json:"version"`
			Width     int    `json:"width"`
			Height    int    `json:"height"`
			Timestamp int64  `json:"timestamp"`
			Title     string `json:"title"`
		}{2, castColumns, castRows, e.Time.Unix(), "agentctl session " + e.Session})
		fmt.Fprintf(c.w, "%s\n", header)
		c.last = e.Time
	}
	c.elapsed += max(0, min(e.Time.Sub(c.last), maxPause))
	c.last = e.Time
	if d, ok := e.Delta(); ok {
		if d.Kind == protocol.KindInput {
			return nil
		}
		if d.Part != c.part {
			if err := c.writeLine(""); err != nil {
				return err
			}
			c.part = d.Part
		}
		return c.output(c.cleaner(d.Part).Clean(d.Text))
	}
	return c.writeEvent(e)
}

// writeEvent writes an event on a separate line.
func (c *Asciicast) writeEvent(e *protocol.Event) error {
	switch e.Type {
	case protocol.MessageUser, protocol.MessageSteered: // their data is a Message
		var d protocol.MessageUserData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.writeLine(output.Actor(e.By) + "> " + transcript.Clean(d.Text))
	case protocol.MessageResolved:
		var d protocol.MessageResolvedData
		if err := e.Decode(&d); err != nil || d.Outcome == protocol.SteerTakenIn {
			return err
		}
		line, _ := e.Line()
		return c.writeLine("(" + output.OneLine(line.Text, 0) + ")")
	case protocol.TextContent:
		var d protocol.TextContentData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.writeLine("[" + output.OneLine(d.Content.Label(), 0) + "]")
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.writeLine("[" + output.Cell(d.Name, 0) + "] " + output.OneLine(d.Title, 0))
	case protocol.ApprovalRequested:
		var d protocol.Approval
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.writeLine("? " + output.Approval(&d))
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.writeLine(fmt.Sprintf("! %s %s by %s", d.Request, d.Outcome, output.Actor(e.By)))
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.writeLine("(" + string(d.Reason) + ")")
	}
	return nil
}

func (c *Asciicast) cleaner(part string) *transcript.Cleaner {
	if c.cleaners[part] == nil {
		c.cleaners[part] = &transcript.Cleaner{}
	}
	return c.cleaners[part]
}

// writeLine ends the current line and writes text as the next one; empty text only ends the line.
func (c *Asciicast) writeLine(text string) error {
	if c.midLine {
		text = "\n" + text
	}
	c.part = ""
	if text == "" {
		return nil
	}
	if strings.Trim(text, "\n") != "" {
		text += "\n"
	}
	return c.output(text)
}

func (c *Asciicast) output(text string) error {
	if text == "" {
		return nil
	}
	c.midLine = !strings.HasSuffix(text, "\n")
	text = strings.ReplaceAll(text, "\n", "\r\n")
	_, err := fmt.Fprintf(c.w, "[%.3f,\"o\",%s]\n", c.elapsed.Seconds(), protocol.AppendString(nil, text))
	return output.WriteError(err)
}
