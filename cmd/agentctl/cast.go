package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/wsclient"
)

// maxPause is the longest time that a recording lets pass without anything.
const maxPause = 3 * time.Second

// A cast writes a session's events as an asciicast version 2: a header, then what came when.
type cast struct {
	w       io.Writer
	last    time.Time     // of the event before
	at      time.Duration // in the recording
	clean   map[string]*transcript.Cleaner
	part    string
	midLine bool
}

func newCast(w io.Writer) *cast { return &cast{w: w, clean: map[string]*transcript.Cleaner{}} }

func (o *exportOptions) cast(r *reader) error {
	out := bufio.NewWriter(o.app.stdout)
	c := newCast(out)
	err := r.read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		return c.event(item.Event)
	})
	if err != nil {
		return err
	}
	return wrapOutput(out.Flush())
}

func (c *cast) event(e *protocol.Event) error {
	if c.last.IsZero() {
		header := protocol.MustEncode(struct {
			Version   int    `json:"version"`
			Width     int    `json:"width"`
			Height    int    `json:"height"`
			Timestamp int64  `json:"timestamp"`
			Title     string `json:"title"`
		}{2, 100, 30, e.Time.Unix(), "agentctl session " + e.Session})
		fmt.Fprintf(c.w, "%s\n", header)
		c.last = e.Time
	}
	c.at += max(0, min(e.Time.Sub(c.last), maxPause))
	c.last = e.Time
	if d, ok := e.Delta(); ok {
		if d.Kind == protocol.KindInput {
			return nil
		}
		if d.Part != c.part {
			if err := c.line(""); err != nil {
				return err
			}
			c.part = d.Part
		}
		return c.write(c.cleaner(d.Part).Clean(d.Text))
	}
	return c.told(e)
}

// told writes the events that are a line of their own.
func (c *cast) told(e *protocol.Event) error {
	switch e.Type {
	case protocol.MessageUser:
		var d protocol.MessageUserData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.line(actor(e.By) + "> " + transcript.Clean(d.Text))
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.line("[" + cell(d.Name, 0) + "] " + oneLine(d.Title, 0))
	case protocol.ApprovalRequested:
		var d protocol.Approval
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.line("? " + approvalLine(&d))
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.line(fmt.Sprintf("! %s %s by %s", d.Request, d.Outcome, actor(e.By)))
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return c.line("(" + string(d.Reason) + ")")
	}
	return nil
}

func (c *cast) cleaner(part string) *transcript.Cleaner {
	if c.clean[part] == nil {
		c.clean[part] = &transcript.Cleaner{}
	}
	return c.clean[part]
}

// line writes text on lines of its own; nothing, when it is empty and the line is.
func (c *cast) line(text string) error {
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
	return c.write(text)
}

func (c *cast) write(text string) error {
	if text == "" {
		return nil
	}
	c.midLine = !strings.HasSuffix(text, "\n")
	text = strings.ReplaceAll(text, "\n", "\r\n")
	_, err := fmt.Fprintf(c.w, "[%.3f,\"o\",%s]\n", c.at.Seconds(), protocol.AppendString(nil, text))
	return wrapOutput(err)
}
