package export

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// A Markdown writes a transcript as Markdown that is readable as plain text. Errors of W are not
// reported: flush a buffered writer at the end.
type Markdown struct {
	W         io.Writer
	Session   string // names the session in commands; "": SESSION
	Reasoning bool   // include reasoning, collapsed
}

// Header writes the title and the session's facts.
func (m *Markdown) Header(s *protocol.State) {
	title := output.OneLine(s.Title, 0)
	if title == "" {
		title = output.Session(s)
	}
	fmt.Fprintf(m.W, "# %s\n\n", title)
	fmt.Fprintf(m.W, "Session %s, agent %s, started %s.\n", s.Session, output.Cell(s.Agent, 0),
		s.Created.UTC().Format(time.DateTime))
}

// Turn writes one turn, after an empty line unless it is the first in the document.
func (m *Markdown) Turn(t *protocol.Turn, first bool) {
	if !first {
		fmt.Fprintln(m.W)
	}
	fmt.Fprintf(m.W, "## %s, %s\n", output.Actor(t.Message.By), t.Started.UTC().Format(time.DateTime))
	m.message(&t.Message)
	for _, it := range t.Items {
		m.item(it)
	}
	if t.End == nil {
		return
	}
	end := string(t.End.Reason)
	if t.End.Message != "" {
		end += ": " + output.OneLine(t.End.Message, 0)
	}
	m.paragraph(fmt.Sprintf("*%s, %s*", end, format.Seconds(t.End.DurationMS)))
}

// Notices writes the events of the conversation outside of turns, after an empty line unless they are
// the first in the document.
func (m *Markdown) Notices(list []protocol.Event, first bool) {
	for i := range list {
		line, ok := list[i].Line()
		if !ok {
			continue
		}
		text := message(list[i].Type, line.Text)
		if first && i == 0 {
			fmt.Fprintln(m.W, text)
			continue
		}
		m.paragraph(text)
	}
}

// part writes the name of a file that came with a message.
func (m *Markdown) part(p protocol.Part) {
	if p.Name != "" {
		m.paragraph("Attached " + code(p.Name) + ".")
	}
}

// message writes a message of a user.
func (m *Markdown) message(of *protocol.Message) {
	m.paragraph("> " + strings.ReplaceAll(strings.TrimSpace(of.Label()), "\n", "\n> "))
	for _, p := range of.Parts {
		m.part(p)
	}
}

func (m *Markdown) item(it *protocol.Item) {
	switch it.Kind {
	case protocol.ItemText:
		m.paragraph(strings.TrimSpace(it.Text.String()))
	case protocol.ItemReasoning:
		if m.Reasoning && len(it.Text) > 0 {
			m.paragraph("<details><summary>Reasoning</summary>\n\n" + strings.TrimSpace(it.Text.String()) +
				"\n\n</details>")
		}
	case protocol.ItemTool:
		m.tool(it)
	case protocol.ItemApproval:
		m.approval(it)
	case protocol.ItemSteered:
		m.paragraph(fmt.Sprintf("**%s**, %s:", output.Actor(it.By), output.OneLine(describe.Steered(it.Steered), 0)))
		m.message(&it.Steered.Message)
	case protocol.ItemEvent:
		m.event(it)
	}
}

func (m *Markdown) paragraph(text string) {
	if text != "" {
		fmt.Fprintf(m.W, "\n%s\n", text)
	}
}

func (m *Markdown) tool(it *protocol.Item) {
	title := it.Tool.Title
	if title == "" {
		title = it.Tool.Name
	}
	line := "**Tool** " + code(title)
	if end := it.Tool.End; end != nil {
		line += ": " + string(end.Status)
		if end.ExitCode != nil {
			line += fmt.Sprintf(", exit code %d", *end.ExitCode)
		}
		if end.Error != "" {
			line += ", " + output.OneLine(end.Error, 0)
		}
	}
	m.paragraph(line)
	m.fenced("", it.Text.String())
	for i := range it.Tool.Content {
		m.content(&it.Tool.Content[i])
	}
}

func (m *Markdown) content(c *protocol.Content) {
	switch {
	case c.Type == "diff":
		m.paragraph("Changed " + code(c.Path) + ":")
		m.fenced("", c.New)
	case c.Text != "":
		m.fenced("", c.Text)
	case c.Type == "link":
		m.paragraph("Link " + code(c.Label()[len("link"):]) + ": " + code(c.Path))
	case c.Blob != "":
		command := code("agentctl blob " + cmp.Or(output.OneLine(m.Session, 0), "SESSION") + " " + c.Blob)
		m.paragraph(fmt.Sprintf("(%s, %d bytes: %s)", cmp.Or(output.OneLine(c.MediaType, 80), output.Cell(c.Type, 80)),
			c.Bytes, command))
	case c.Type == "image":
		m.paragraph(fmt.Sprintf("(%s)", cmp.Or(output.OneLine(c.MediaType, 80), "image")))
	}
}

func (m *Markdown) approval(it *protocol.Item) {
	if it.Approval == nil {
		return
	}
	line := "**Asked** " + codeSpan(describe.Action(it.Approval, 0))
	if it.Resolved != nil {
		line += ": " + output.Decision(it.Approval, it.Resolved, it.By)
	}
	m.paragraph(line)
	for _, text := range it.Approval.Explained {
		m.paragraph(strings.TrimSpace(text))
	}
}

// event writes notices, errors, plans and tasks. Events for programs are omitted.
func (m *Markdown) event(it *protocol.Item) {
	var d struct {
		Message string          `json:"message"`
		Title   string          `json:"title"`
		Tasks   []protocol.Task `json:"tasks"`
	}
	e := protocol.Event{Type: it.Type, Data: it.Data}
	if e.Decode(&d) != nil {
		return
	}
	switch it.Type {
	case protocol.TextContent:
		var d protocol.TextContentData
		if e.Decode(&d) == nil {
			m.content(&d.Content)
		}
	case protocol.ErrorRaised, protocol.PlanInvalid, protocol.PlanFailed:
		m.paragraph(message(it.Type, d.Message))
	case protocol.PlanCompleted:
		var b strings.Builder
		b.WriteString("**Plan**\n")
		for _, t := range d.Tasks {
			fmt.Fprintf(&b, "\n- %s", output.OneLine(t.Title, 0))
		}
		m.paragraph(b.String())
	case protocol.TaskCompleted, protocol.TaskFailed, protocol.TaskCancelled:
		m.paragraph(fmt.Sprintf("*%s %s %s*", it.Type, output.Cell(it.Task, 0),
			output.OneLine(d.Title+" "+d.Message, 0)))
	default:
		if line, ok := e.Line(); ok && protocol.OutsideOfTurns(it.Type, "") {
			m.paragraph(message(it.Type, line.Text))
		}
	}
}

// message returns the line of an event that is a message for people.
func message(t protocol.Type, text string) string {
	return fmt.Sprintf("*%s: %s*", t, output.OneLine(text, 0))
}

// fenced writes text as a code block, with a fence longer than any in the text.
func (m *Markdown) fenced(language, text string) {
	if text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(m.W, "\n%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

// code returns text as inline code, with more backticks than any run in the text.
func code(s string) string { return codeSpan(output.OneLine(s, 200)) }

// codeSpan returns a line as code.
func codeSpan(s string) string {
	if s == "" {
		return "-"
	}
	tick := "`"
	for strings.Contains(s, tick) {
		tick += "`"
	}
	if len(tick) > 1 {
		return tick + " " + s + " " + tick
	}
	return tick + s + tick
}
