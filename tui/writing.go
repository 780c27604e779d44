package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// composerKey handles a key while the composer has the focus.
func (m *model) composerKey(key string, msg tea.KeyPressMsg) tea.Cmd {
	does := m.look.keys.at(inComposer, key)
	if m.composer.empty() && m.composer.editing == "" {
		switch does {
		case doAsk:
			m.showHelp()
			return nil
		case doScrollUp:
			m.story.list.Scroll(-1)
			return nil
		case doScrollDown:
			m.story.list.Scroll(1)
			return nil
		}
		if r, f := m.approvals.current(m.state.Approvals); r != nil && m.approvals.armed {
			if o := f.option(key); o != nil {
				return m.decide(r, f, o)
			}
		}
	}
	switch does {
	case doSend:
		return m.submit()
	case doGiveUp:
		if m.composer.editing != "" {
			return m.endEdit()
		}
		return m.interruptNow()
	}
	m.composer.key(msg)
	return nil
}

// submit sends what was written: a message, or the new text of a queued one.
func (m *model) submit() tea.Cmd {
	text := m.composer.value()
	if text == "" {
		return nil
	}
	if message := m.composer.editing; message != "" {
		m.composer.endEdit()
		return m.do(protocol.DoQueueEdit, protocol.QueueEditData{MessageID: message, Text: text}, nil, func(err error) tea.Cmd {
			if err != nil {
				m.composer.paste(text) // what was written is not lost
			}
			return m.tell(err)
		})
	}
	m.composer.take()
	m.story.list.Bottom()
	return m.send(text)
}

func (m *model) send(text string) tea.Cmd {
	id := m.newID()
	m.outbox.add(id, text)
	result := new(protocol.SendResult)
	return m.do(protocol.DoSend, protocol.SendData{Text: text, ClientMessageID: id}, result, func(err error) tea.Cmd {
		if err != nil {
			m.outbox.failed(id, errText(err))
			return nil
		}
		m.outbox.taken(id, result.Seq)
		m.outbox.settle(m.state.Seq)
		if result.Status == protocol.SendQueued {
			m.word = "queued"
		}
		return nil
	})
}
