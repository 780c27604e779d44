package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"agentctl/protocol"
)

// A markdown writes a transcript as Markdown that reads well as it is.
type markdown struct {
	w         io.Writer
	reasoning bool // too, folded away
}

// head writes what session this is.
func (m *markdown) head(s *protocol.State) {
	title := oneLine(s.Title, 0)
	if title == "" {
		title = name(s)
	}
	fmt.Fprintf(m.w, "# %s\n\n", title)
	fmt.Fprintf(m.w, "Session %s, agent %s, begun %s.\n", s.Session, cell(s.Agent, 0), s.Created.UTC().Format(time.DateTime))
}

// turn writes one turn; after another one, set off from it.
func (m *markdown) turn(t *protocol.Turn, more bool) {
	if more {
		fmt.Fprintln(m.w)
	}
	fmt.Fprintf(m.w, "## %s, %s\n", actor(t.Message.By), t.Started.UTC().Format(time.DateTime))
	m.paragraph("> " + strings.ReplaceAll(strings.TrimSpace(t.Message.Text), "\n", "\n> "))
	for _, it := range t.Items {
		m.item(it)
	}
	if t.End == nil {
		return
	}
	end := string(t.End.Reason)
	if t.End.Message != "" {
		end += ": " + oneLine(t.End.Message, 0)
	}
	m.paragraph(fmt.Sprintf("*%s, %s*", end, seconds(t.End.DurationMS)))
}

func (m *markdown) item(it *protocol.Item) {
	switch it.Kind {
	case protocol.ItemText:
		m.paragraph(strings.TrimSpace(it.Text.String()))
	case protocol.ItemReasoning:
		if m.reasoning && len(it.Text) > 0 {
			m.paragraph("<details><summary>Reasoning</summary>\n\n" + strings.TrimSpace(it.Text.String()) + "\n\n</details>")
		}
	case protocol.ItemTool:
		m.tool(it)
	case protocol.ItemApproval:
		m.approval(it)
	case protocol.ItemEvent:
		m.event(it)
	}
}

func (m *markdown) paragraph(text string) {
	if text != "" {
		fmt.Fprintf(m.w, "\n%s\n", text)
	}
}

func (m *markdown) tool(it *protocol.Item) {
	what := it.Tool.Title
	if what == "" {
		what = it.Tool.Name
	}
	line := "**Tool** " + code(what)
	if end := it.Tool.End; end != nil {
		line += ": " + string(end.Status)
		if end.ExitCode != nil {
			line += fmt.Sprintf(", exit code %d", *end.ExitCode)
		}
		if end.Error != "" {
			line += ", " + oneLine(end.Error, 0)
		}
	}
	m.paragraph(line)
	m.fenced("", it.Text.String())
	for i := range it.Tool.Content {
		m.content(&it.Tool.Content[i])
	}
}

func (m *markdown) content(c *protocol.Content) {
	switch {
	case c.Type == "diff":
		m.paragraph("Changed " + code(c.Path) + ":")
		m.fenced("", c.New)
	case c.Text != "":
		m.fenced("", c.Text)
	case c.Blob != "":
		m.paragraph(fmt.Sprintf("(%s %s)", cell(c.Type, 0), code(c.Blob)))
	}
}

func (m *markdown) approval(it *protocol.Item) {
	if it.Approval == nil {
		return
	}
	what := it.Approval.Command
	if what == "" {
		what = it.Approval.Title
	}
	line := "**Asked** " + code(what)
	if r := it.Resolved; r != nil {
		line += ": " + string(r.Outcome)
		if it.By != nil {
			line += " by " + actor(it.By)
		}
		if r.Reason != "" {
			line += ", “" + oneLine(r.Reason, 0) + "”"
		}
	}
	m.paragraph(line)
	for _, text := range it.Approval.Explained {
		m.paragraph(strings.TrimSpace(text))
	}
}

// event writes what people are told beside the answer; what is only for programs is left out.
func (m *markdown) event(it *protocol.Item) {
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
	case protocol.ErrorRaised, protocol.Notice, protocol.PlanInvalid, protocol.PlanFailed:
		m.paragraph(fmt.Sprintf("*%s: %s*", it.Type, oneLine(d.Message, 0)))
	case protocol.PlanCompleted:
		var b strings.Builder
		b.WriteString("**Plan**\n")
		for _, t := range d.Tasks {
			fmt.Fprintf(&b, "\n- %s", oneLine(t.Title, 0))
		}
		m.paragraph(b.String())
	case protocol.TaskCompleted, protocol.TaskFailed, protocol.TaskCancelled:
		m.paragraph(fmt.Sprintf("*%s %s %s*", it.Type, cell(it.Task, 0), oneLine(d.Title+" "+d.Message, 0)))
	}
}

// fenced writes text between fences that it cannot close.
func (m *markdown) fenced(language, text string) {
	if text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(m.w, "\n%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

// code writes a line as inline code that it cannot close.
func code(s string) string {
	s = oneLine(s, 200)
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

func seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }
