package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

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
	if m.state.Turn == nil || m.interrupt.sent {
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
	return m.do(protocol.DoInterrupt, protocol.InterruptData{Turn: m.interrupt.turn, Queue: queue}, nil, func(err error) tea.Cmd {
		m.interrupt = interrupt{}
		return m.tell(err)
	})
}

// Render is the question, when there is one.
func (i *interrupt) Render(l *look, s *protocol.State, width int) []string {
	if !i.asking {
		return nil
	}
	return []string{
		l.rule(l.warn.Render("interrupt"), width),
		fit("   "+fmt.Sprintf("The queue has %s. Then:", count(len(s.Queue), "message")), width),
		fit("   "+l.key.Render("k")+" keep it: the next starts · "+l.key.Render("h")+" hold it · "+l.key.Render("c")+" clear it · "+l.key.Render("esc")+" back", width),
	}
}
