package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// queueKey handles a key while the queue has the focus.
func (m *model) queueKey(key string) tea.Cmd {
	at := m.queue.at(m.state)
	does := m.look.keys.InList(Queue, key)
	switch does {
	case Back:
		m.setFocus(onComposer)
		return nil
	case QueueHold:
		return m.do(protocol.DoQueueHold, protocol.QueueHoldData{}, nil, m.tell)
	case QueueRelease:
		return m.do(protocol.DoQueueRelease, protocol.QueueReleaseData{}, nil, m.tell)
	}
	if at < 0 {
		return nil
	}
	message := m.state.Queue[at]
	switch does {
	case Up:
		m.queue.choose(m.state, at-1)
	case Down:
		m.queue.choose(m.state, at+1)
	case First:
		m.queue.choose(m.state, 0)
	case Last:
		m.queue.choose(m.state, len(m.state.Queue)-1)
	case QueuePageUp:
		m.queue.choose(m.state, at-queueRows)
	case QueuePageDown:
		m.queue.choose(m.state, at+queueRows)
	case QueueSendNow:
		return m.sendNow(message)
	case QueueEdit, Choose:
		return m.edit(message)
	case QueueRemove:
		m.queue.choose(m.state, at) // what takes its place is chosen then
		return m.do(protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: message.MessageID}, nil, m.tell)
	case QueueMoveUp:
		return m.move(message, at-1)
	case QueueMoveDown:
		return m.move(message, at+1)
	}
	return nil
}

func (m *model) move(message protocol.Message, to int) tea.Cmd {
	if to < 0 || to >= len(m.state.Queue) {
		return nil
	}
	m.queue.chosen = message.MessageID
	return m.do(protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message.MessageID, Index: to}, nil, m.tell)
}

// edit holds the message, so that it does not start meanwhile, and puts its
// text into the composer.
func (m *model) edit(message protocol.Message) tea.Cmd {
	m.composer.edit(message.MessageID, message.Text)
	m.setFocus(onComposer)
	m.editors.conn = m.link.Connection
	return m.do(protocol.DoQueueHold, protocol.QueueHoldData{MessageID: message.MessageID}, nil, m.tell)
}

// endEdit gives up an edit and its hold.
func (m *model) endEdit() tea.Cmd {
	message := m.composer.endEdit()
	if h := editHold(m.state, message); h != nil && h.By != nil && *h.By == m.link.By {
		return m.do(protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}, nil, m.tell)
	}
	return nil
}

// sendNow starts a queued message at once.
func (m *model) sendNow(message protocol.Message) tea.Cmd {
	id := message.MessageID
	if m.queue.asking[id] != "" {
		return nil
	}
	m.queue.asking[id] = "sending now"
	commands := StartNow(m.state, id)
	return m.errands.Run(func(ctx context.Context) tea.Msg {
		err := RunAll(ctx, m.session, commands)
		if ctx.Err() != nil {
			return nil
		}
		return doneMsg{err, func(err error) tea.Cmd {
			delete(m.queue.asking, id)
			return m.tell(err)
		}}
	})
}
