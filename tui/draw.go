package tui

import (
	"slices"
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// least is the fewest rows that the panels leave to the transcript.
const least = 3

// leastAsked is what a request takes of it while it has the focus.
const leastAsked = 7

// draw lays the screen out from the bottom: status, composer, then the panels
// that have something to show, and the transcript in what is left.
func (m *model) draw() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "agentctl " + oneLine(transcript.Clean(remote.SessionName(m.state))) + " · " + string(m.state.Status())
	v.ReportFocus = true
	v.ProgressBar = m.attention.terminal.progressOf(m.state, m.plan.of(m.state), m.link.State)
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	switch {
	case m.pager != nil:
		m.pager.show(&v, m.width, m.height)
		return v
	case m.wire != nil:
		m.wire.show(&v, m.width, m.height)
		return v
	case m.menu != nil:
		v.SetContent(m.frame(m.menu.Render(m.state, m.word, m.width, m.height)))
		return v
	case m.context != nil:
		v.SetContent(m.frame(m.context.Render(m, m.width, m.height)))
		return v
	}

	left := m.height
	var status []string
	if left > 1 {
		status = []string{m.status(m.width)}
		left--
	}
	writing, cursor := m.composer.Render(m.width, max(1, left/3))
	left -= len(writing)
	var edge []string
	if left > least {
		edge = []string{m.edge()}
		left--
	}
	panels := func(lines []string) []string {
		lines = lines[:min(len(lines), max(0, left-least))]
		left -= len(lines)
		return lines
	}
	stopping := panels(m.interrupt.under(m.look, m.link.State, m.width))
	asking := panels(m.interrupt.Render(m.look, m.state, m.width))
	finding := panels(m.finder.Render(m.look, m.width))
	offered := panels(m.completion.Render(m.look, m.offered(), m.width))
	outage := panels(m.outage(m.width))
	sent := panels(m.outbox.Render(m.width, m.link.State))
	room := left - least
	if m.focus == onApproval { // it is looked at, and not the transcript
		room = max(room, min(left, leastAsked))
	}
	request, write := m.approvals.Render(m.state.Approvals, m.now(), m.width, room, m.focus == onApproval)
	left -= len(request)
	waiting := panels(m.queue.Render(m.state, m.width, m.focus == onQueue, m.composer.editing, m.holdLasts))
	var plan []string
	if !m.confirming() || m.focus == onPlan {
		plan = panels(m.plan.Render(m.state, m.story.plan, m.width, max(planRows, min(stepRows, m.height/5)), m.focus == onPlan))
	}

	var said []string
	if left > 0 {
		m.story.list.Resize(m.width, left)
		said = m.story.list.Lines()
		if m.story.empty() && m.caughtUp {
			said[0] = m.look.dim.Render(fit(" nothing was said yet: write a message", m.width))
		}
	}
	screen := slices.Concat(said, stopping, plan, waiting, request, outage, sent, offered, finding, asking, edge)
	if _, f := m.approvals.current(m.state.Approvals); write >= 0 && m.focus == onApproval {
		cursor = tea.NewCursor(f.cursor(), len(said)+len(stopping)+len(plan)+len(waiting)+write)
	} else if m.finder.input != nil && len(finding) > 0 {
		cursor = tea.NewCursor(m.finder.column(), len(screen)-len(edge)-len(asking)-1)
	} else if cursor != nil {
		cursor.Y += len(screen)
	}
	v.SetContent(m.frame(slices.Concat(screen, writing, status)))
	if cursor != nil && cursor.X < m.width && cursor.Y < m.height {
		v.Cursor = cursor
	}
	return v
}

// confirming tells that the request on the screen lists the plan's tasks.
func (m *model) confirming() bool {
	r, _ := m.approvals.current(m.state.Approvals)
	return r != nil && len(r.Tasks) > 0
}

// edge is the line over the composer.
func (m *model) edge() string {
	keys, title := m.look.keys, ""
	if !m.story.list.Following() {
		title = "↓ " + count(m.below(), "line") + " below" + prefixed(keymap.Separator, keys.Key(keymap.Bottom))
	}
	switch {
	case m.composer.editing != "":
		title = m.look.warn.Render(m.editing()) + m.look.dim.Render(prefixed(" · ", m.look.keys.Hint(keymap.Send, "keeps it", keymap.Cancel, "gives up")))
	case m.copying.on:
		title = m.copying.hint(m.look, m.story.list)
	case m.focus == onStory:
		can := keys.Hint(keymap.Toggle, "folds", keymap.ViewItem, "view", keymap.CopyItem, "copy", keymap.TranscriptPreviousTurn, "turn before", keymap.TranscriptNextTurn, "next turn", keymap.TranscriptFind, "find", keymap.Back, "back")
		if title != "" {
			can = title + prefixed(keymap.Separator, can)
		}
		title = m.look.dim.Render(hints(can, m.width-4))
	case title != "":
		title = m.look.dim.Render(title)
	}
	return m.look.rule(title, m.width)
}

// below is about how many lines of the transcript are under the screen.
func (m *model) below() int {
	above, total := m.story.list.Position()
	return max(0, total-above-m.story.list.Height())
}

func (m *model) frame(lines []string) string { return m.look.frame(lines, m.width, m.height) }

// frame cuts lines to the screen. It is the last to see them: nothing that
// steers a terminal gets by, whatever was forgotten before.
func (l *look) frame(lines []string, width, height int) string {
	lines = lines[:min(len(lines), height)]
	for i, line := range lines {
		line = onlyDress(line)
		if len(line) > width && ansi.StringWidth(line) > width {
			line = ansi.Truncate(line, width, "")
		}
		if !l.clusters {
			line = solitary(line)
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
