package panel

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// Interrupt is the user's interrupt of a turn, from the key press to the end of the turn.
type Interrupt struct {
	Base
	turn string // turn to interrupt; "": none
}

// Actions returns the actions of the interrupt.
func (i *Interrupt) Actions() Actions { return Actions{keymap.Interrupt: Run(i.Start)} }

// Start interrupts the running turn. Queued messages are held: the queue panel shows the keys that
// release or clear them.
func (i *Interrupt) Start() tea.Cmd {
	s := i.Replica.State
	switch {
	case s.Turn == nil:
		i.Commands.Status.Text = "no turn is running"
		return nil
	case i.Sent():
		return nil
	}
	i.turn = s.Turn.Turn
	if len(s.Queue) > 0 && s.BlockingHold() == nil {
		return i.send(protocol.QueueHold)
	}
	return i.send(protocol.QueueKeep)
}

// send sends the interrupt. A server that cannot hold the queue gets it a second time: the turn
// must end in any case.
func (i *Interrupt) send(queue string) tea.Cmd {
	s := i.Replica.State
	queued, held := len(s.Queue), s.BlockingHold() != nil
	result := new(protocol.InterruptResult)
	data := protocol.InterruptData{Turn: i.turn, Queue: queue}
	return i.Commands.Send(protocol.DoInterrupt, data, result, func(err error) tea.Cmd {
		if queue == protocol.QueueHold && protocol.CodeOf(err) == protocol.CodeUnsupported {
			return i.send(protocol.QueueKeep)
		}
		i.turn = ""
		if err != nil {
			return i.Commands.Report(err)
		}
		i.Commands.Status.Text = describe.Interrupted(result.Interrupted, queue, queued, held)
		return nil
	})
}

// Sent reports whether the interrupt was sent and its turn has not ended.
func (i *Interrupt) Sent() bool {
	s := i.Replica.State
	return s.Turn != nil && s.Turn.Turn == i.turn
}

// View returns the line below the transcript until the turn has ended.
func (i *Interrupt) View(width, _ int) []string {
	switch {
	case !i.Sent():
		return nil
	case i.Replica.Conn.State != remote.Connected:
		return []string{i.Styles.Warning.Render(ui.Fit("   ── interrupts the turn once connected …", width))}
	}
	return []string{i.Styles.Warning.Render(ui.Fit("   ── interrupting …", width))}
}
