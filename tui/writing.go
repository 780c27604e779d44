package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// composerKey handles a key while the composer has the focus.
func (m *model) composerKey(key string, msg tea.KeyPressMsg) tea.Cmd {
	does := m.look.keys.at(inComposer, key)
	empty := m.composer.empty() && m.composer.editing == ""
	walks := empty || m.composer.recall.walking()
	switch {
	case empty && does == doAsk:
		m.showHelp()
		return nil
	case empty && does == doScrollUp:
		m.story.list.Scroll(-1)
		return nil
	case empty && does == doScrollDown:
		m.story.list.Scroll(1)
		return nil
	case walks && does == doRecall && m.roll(1), walks && does == doForth && m.roll(-1):
		return nil
	case walks && does == doRecall && m.composer.area.atEdge(false):
		return m.earlier()
	case walks && does == doForth && m.composer.area.atEdge(true):
		if m.composer.earlier(-1, m.link.By) {
			m.rolling.moved = -1
		}
		return nil
	}
	if r, f := m.approvals.current(m.state.Approvals); empty && r != nil {
		if o := f.option(key); o != nil {
			return m.number(r, f, o)
		}
	}
	switch does {
	case doSend:
		return m.submit()
	case doGiveUp:
		if m.composer.editing != "" {
			return m.endEdit()
		}
		if m.composer.recall.walking() {
			m.composer.stay()
			return nil
		}
		if m.state.Turn == nil {
			return nil
		}
		return m.interruptNow()
	}
	m.composer.key(msg)
	return nil
}

// earlier goes back in what the person wrote, and asks for older turns where that
// ends.
func (m *model) earlier() tea.Cmd {
	m.setFocus(onComposer)
	if m.composer.earlier(1, m.link.By) {
		m.rolling.moved = 1
		return nil
	}
	switch {
	case m.composer.editing != "":
		m.word = "a queued message is edited"
	case m.story.before > 0 && m.link.State == Connected:
		m.word = "looking further back: press it again"
		return m.pageNow()
	default:
		m.word = "you wrote nothing before"
	}
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
	m.story.list.ScrollToBottom()
	return m.send(text)
}

func (m *model) send(text string) tea.Cmd {
	id := m.newID()
	m.outbox.add(id, text)
	m.composer.recall.add(id, text)
	result := new(protocol.SendResult)
	return m.do(protocol.DoSend, protocol.SendData{Text: text, ClientMessageID: id}, result, func(err error) tea.Cmd {
		switch {
		case errors.Is(err, ErrWithdrawn):
			m.outbox.arrived(id)
			m.giveBack(text)
			return nil
		case err != nil:
			m.outbox.failed(id, errText(err))
			return nil
		}
		m.outbox.taken(id, result.Seq)
		m.outbox.settle(m.state.Seq)
		if result.Status == protocol.SendQueued {
			m.word = queuedAt(result.Index)
		}
		return nil
	})
}

// takeBack puts the last message that was refused into the composer again, or else
// the last one that waits for the connection, if it has not gone to the server.
func (m *model) takeBack() tea.Cmd {
	if text, ok := m.outbox.takeBack(); ok {
		m.giveBack(text)
		return nil
	}
	w, can := m.session.(Withdrawer)
	p := m.outbox.waiting()
	switch {
	case p == nil:
		m.word = "there is no message to take back"
		return nil
	case !can:
		m.word = onItsWay
		return nil
	}
	p.back = true
	id := p.id
	return m.errands.run(func(context.Context) tea.Msg {
		if w.Withdraw(id) {
			return nil // what was sent ends, and gives the text back
		}
		return doneMsg{nil, func(error) tea.Cmd {
			m.outbox.stays(id)
			m.word = onItsWay
			return nil
		}}
	})
}

const onItsWay = "it may have reached the server: it cannot be taken back"

// giveBack puts a text that was not sent before what is being written.
func (m *model) giveBack(text string) {
	m.composer.giveBack(text)
	m.setFocus(onComposer)
	if m.composer.editing != "" {
		m.word = "the message is back: it comes when this edit is over"
	}
}

// queuedAt says where in the queue a message went.
func queuedAt(index *int) string {
	if index == nil {
		return "queued"
	}
	return "queued, " + ordinal(*index+1)
}

// ordinal is a place: 1st, 2nd, 11th.
func ordinal(n int) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}
