package sessionview

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/ui"
)

// interrupt is the user's interrupt of a turn, from the key press to the end of the turn.
type interrupt struct {
	styles   *ui.Styles
	replica  *replica.Session
	commands *request.Sender

	turn string // turn to interrupt; "": none
	sent bool
}

// start interrupts the running turn. Queued messages are held: the queue panel shows the keys that
// release or clear them.
func (i *interrupt) start() tea.Cmd {
	s := i.replica.State
	switch {
	case s.Turn == nil:
		i.commands.Status.Text = "no turn is running"
		return nil
	case i.sent:
		return nil
	}
	i.turn, i.sent = s.Turn.Turn, true
	if len(s.Queue) > 0 && s.BlockingHold() == nil {
		return i.send(protocol.QueueHold)
	}
	return i.send(protocol.QueueKeep)
}

// send sends the interrupt. A server that cannot hold the queue gets it a second time: the turn
// must end in any case.
func (i *interrupt) send(queue string) tea.Cmd {
	s := i.replica.State
	queued, held := len(s.Queue), s.BlockingHold() != nil
	result := new(protocol.InterruptResult)
	data := protocol.InterruptData{Turn: i.turn, Queue: queue}
	return i.commands.Send(protocol.DoInterrupt, data, result, func(err error) tea.Cmd {
		var refused *protocol.Error
		if queue == protocol.QueueHold && errors.As(err, &refused) && refused.Code == protocol.CodeUnsupported {
			return i.send(protocol.QueueKeep)
		}
		i.reset()
		if err != nil {
			return i.commands.Report(err)
		}
		i.commands.Status.Text = describe.Interrupted(result.Interrupted, queue, queued, held)
		return nil
	})
}

// reset clears the interrupt.
func (i *interrupt) reset() { i.turn, i.sent = "", false }

// expire resets the interrupt if its turn has ended.
func (i *interrupt) expire() {
	if s := i.replica.State; i.turn != "" && (s.Turn == nil || s.Turn.Turn != i.turn) {
		i.reset()
	}
}

// view returns the line below the transcript while the interrupt is under way.
func (i *interrupt) view(width int) []string {
	switch {
	case !i.sent:
		return nil
	case i.replica.Conn.State != remote.Connected:
		return []string{i.styles.Warning.Render(ui.Fit("   ── interrupts the turn once connected …", width))}
	}
	return []string{i.styles.Warning.Render(ui.Fit("   ── interrupting …", width))}
}
