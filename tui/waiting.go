package tui

import (
	"context"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// queueKey handles a key while the queue has the focus.
func (m *model) queueKey(key string) tea.Cmd {
	at := m.queue.at(m.state)
	does := m.look.keys.InList(keymap.Queue, key)
	switch does {
	case keymap.Back:
		m.setFocus(onComposer)
		return nil
	case keymap.QueueHold:
		return m.do(protocol.DoQueueHold, protocol.QueueHoldData{}, nil, m.tell)
	case keymap.QueueRelease:
		return m.do(protocol.DoQueueRelease, protocol.QueueReleaseData{}, nil, m.tell)
	}
	if at < 0 {
		return nil
	}
	message := m.state.Queue[at]
	switch does {
	case keymap.Up:
		m.queue.choose(m.state, at-1)
	case keymap.Down:
		m.queue.choose(m.state, at+1)
	case keymap.First:
		m.queue.choose(m.state, 0)
	case keymap.Last:
		m.queue.choose(m.state, len(m.state.Queue)-1)
	case keymap.QueuePageUp:
		m.queue.choose(m.state, at-queueRows)
	case keymap.QueuePageDown:
		m.queue.choose(m.state, at+queueRows)
	case keymap.QueueSendNow:
		return m.sendNow(message)
	case keymap.QueueEdit, keymap.Choose:
		return m.edit(message)
	case keymap.QueueRemove:
		m.queue.choose(m.state, at) // what takes its place is chosen then
		return m.do(protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: message.MessageID}, nil, m.tell)
	case keymap.QueueMoveUp:
		return m.move(message, at-1)
	case keymap.QueueMoveDown:
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
	commands := remote.StartNow(m.state, id)
	return m.errands.Run(func(ctx context.Context) tea.Msg {
		err := remote.RunAll(ctx, m.session, commands)
		if ctx.Err() != nil {
			return nil
		}
		return doneMsg{err, func(err error) tea.Cmd {
			delete(m.queue.asking, id)
			return m.tell(err)
		}}
	})
}
