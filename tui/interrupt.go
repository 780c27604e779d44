package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
)

// interrupt is a person's wish to end the turn, from the key to the turn's end.
type interrupt struct {
	turn   string
	asking bool // what becomes of the queue
	sent   bool
}

// over tells that the turn it was about has ended.
func (i *interrupt) over(s *protocol.State) bool {
	return i.turn != "" && (s.Turn == nil || s.Turn.Turn != i.turn)
}

// interruptNow ends the turn under way; with messages queued it asks first what
// becomes of them.
func (m *model) interruptNow() tea.Cmd {
	switch {
	case m.state.Turn == nil:
		m.word = "no turn is under way"
		return nil
	case m.interrupt.sent:
		return nil
	}
	m.interrupt = interrupt{turn: m.state.Turn.Turn}
	if len(m.state.Queue) > 0 {
		m.interrupt.asking = true
		return nil
	}
	return m.sendInterrupt(protocol.QueueKeep)
}

func (m *model) interruptKey(key string) tea.Cmd {
	switch key {
	case "k", "enter":
		return m.sendInterrupt(protocol.QueueKeep)
	case "h":
		return m.sendInterrupt(protocol.QueueHold)
	case "c":
		return m.sendInterrupt(protocol.QueueClear)
	case "esc", "q":
		m.interrupt = interrupt{}
	}
	return nil
}

func (m *model) sendInterrupt(queue string) tea.Cmd {
	m.interrupt.asking, m.interrupt.sent = false, true
	queued, held := len(m.state.Queue), m.state.BlockingHold() != nil
	result := new(protocol.InterruptResult)
	return m.do(protocol.DoInterrupt, protocol.InterruptData{Turn: m.interrupt.turn, Queue: queue}, result, func(err error) tea.Cmd {
		m.interrupt = interrupt{}
		if err != nil {
			return m.tell(err)
		}
		m.word = interrupted(result.Interrupted, queue, queued, held)
		return nil
	})
}

// interrupted says what an interrupt did with the turn and with so many messages
// in the queue, which may have been held before.
func interrupted(did bool, queue string, queued int, held bool) string {
	switch {
	case !did:
		return "the turn was over already"
	case queued == 0:
		return "interrupted"
	case queue == protocol.QueueClear:
		return "interrupted, queue cleared"
	case queue == protocol.QueueHold || held:
		return "interrupted, queue held"
	}
	return "interrupted, the next message starts"
}

// under is the line at the turn while it is being interrupted.
func (i *interrupt) under(l *look, link LinkState, width int) []string {
	switch {
	case !i.sent:
		return nil
	case link != Connected:
		return []string{l.warn.Render(fit("   ── interrupts the turn once there is a connection …", width))}
	}
	return []string{l.warn.Render(fit("   ── interrupting …", width))}
}

// Render is the question, when there is one.
func (i *interrupt) Render(l *look, s *protocol.State, width int) []string {
	if !i.asking {
		return nil
	}
	keep := "keep it: the next starts"
	if s.BlockingHold() != nil {
		keep = "keep it: held as it is"
	}
	choices := []string{l.key.Render("k") + " " + keep, l.key.Render("h") + " hold it", l.key.Render("c") + " clear it", l.key.Render("esc") + " back"}
	out := []string{
		l.rule(l.warn.Render("interrupt"), width),
		fit("   "+fmt.Sprintf("The queue has %s. Then:", count(len(s.Queue), "message")), width),
	}
	if line := "   " + strings.Join(choices, " · "); ansi.StringWidth(line) <= width {
		return append(out, line)
	}
	for _, c := range choices {
		out = append(out, fit("   "+c, width))
	}
	return out
}
