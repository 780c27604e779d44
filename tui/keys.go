package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
)

// key is where every key press arrives.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		if m.leaving {
			return tea.Quit
		}
		m.leaving = true
		return nil
	}
	m.leaving, m.word, m.trip = false, "", nil
	m.fading.anew()
	arm := m.hush()
	return tea.Batch(arm, m.dispatch(key, msg))
}

// hush starts the silence anew that a request waits for before it takes keys.
func (m *model) hush() tea.Cmd {
	if m.approvals.request == "" || m.approvals.armed {
		return nil
	}
	m.quiet = m.now().Add(grace)
	return m.arm()
}

func (m *model) dispatch(key string, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.pager != nil:
		if !m.pager.key(key, msg) {
			m.pager = nil
		}
		return nil
	case m.wire != nil:
		return wireKey(&m.wire, key, msg)
	case m.menu != nil:
		return m.menu.key(m, key)
	case m.context != nil:
		return m.context.key(m, key)
	case m.interrupt.asking:
		return m.interruptKey(key)
	case m.finder.input != nil:
		return m.findKey(key, msg)
	case m.copying.on && m.focus == onStory:
		return m.copyKey(key)
	}
	if _, f := m.approvals.current(m.state.Approvals); f != nil && f.input != nil && m.focus == onApproval {
		f.key(msg)
		return nil
	}
	if m.completionKey(key) {
		return nil
	}
	if m.focus == onQueue && m.look.keys.at(inQueue, key) != "" {
		return m.queueKey(key) // its own keys page it
	}
	if cmd, ok := m.anywhere(key); ok {
		return cmd
	}
	switch m.focus {
	case onApproval:
		return m.approvalKey(key)
	case onQueue:
		return m.queueKey(key)
	case onPlan:
		return m.planKey(key)
	case onStory:
		return m.storyKey(key)
	}
	return m.composerKey(key, msg)
}

// anywhere handles the keys that do the same whatever has the focus.
func (m *model) anywhere(key string) (tea.Cmd, bool) {
	page := max(1, m.story.list.Height()-1)
	switch m.look.keys.at(everywhere, key) {
	case doHelp:
		m.showHelp()
	case doSettings:
		m.showSettings()
	case doRules:
		m.showRules()
	case doWire:
		return m.showWire(), true
	case doContext:
		return m.showContext(), true
	case doSessions, doNextNeed: // which a desk takes first
		m.word = "this server does not tell of its other sessions"
	case doNextPart:
		m.nextFocus(1)
	case doPreviousPart:
		m.nextFocus(-1)
	case doInterrupt:
		return m.interruptNow(), true
	case doPageUp:
		m.story.list.Scroll(-page)
	case doPageDown:
		m.story.list.Scroll(page)
	case doTop:
		m.story.list.ScrollToTop()
	case doEnd:
		m.story.list.ScrollToBottom()
	case doFoldLast:
		m.foldLast()
	case doFind:
		m.finder.write()
	case doTurnBefore:
		return m.jump(aTurn, -1), true
	case doTurnAfter:
		return m.jump(aTurn, 1), true
	case doEditor:
		return m.compose(), true
	case doEarlier:
		return m.earlier(), true
	case doLater:
		m.setFocus(onComposer)
		m.composer.earlier(-1, m.link.By)
	case doRetry:
		return m.retry(), true
	case doRedraw:
		return tea.ClearScreen, true
	case doSuspend:
		return tea.Suspend, true
	case doTakeBack:
		return m.takeBack(), true
	default:
		return nil, false
	}
	return nil, true
}

func (m *model) wheel(msg tea.MouseWheelMsg) {
	by := 3
	if msg.Button == tea.MouseWheelUp {
		by = -3
	}
	switch {
	case m.pager != nil:
		m.pager.list.Scroll(by)
		return
	case m.wire != nil:
		m.wire.wheel(by)
		return
	case m.menu != nil || m.context != nil:
		return
	}
	m.story.list.Scroll(by)
}

// click folds or unfolds what is clicked on.
func (m *model) click(msg tea.MouseClickMsg) {
	list := m.story.list
	if m.pager != nil || m.wire != nil || m.menu != nil || m.context != nil || msg.Button != tea.MouseLeft || msg.Y >= list.Height() {
		return
	}
	if id, ok := list.ItemAt(msg.Y); ok && folds(list.Item(id)) {
		list.SetCollapsed(id, !list.Collapsed(id))
	}
}

func (m *model) paste(s string) {
	if m.pager != nil {
		m.pager.paste(s)
		return
	}
	if m.wire != nil {
		m.wire.paste(s)
		return
	}
	if m.menu != nil || m.context != nil {
		return
	}
	if _, f := m.approvals.current(m.state.Approvals); f != nil && f.input != nil && m.focus == onApproval {
		f.paste(s)
		return
	}
	if m.finder.input != nil {
		*m.finder.input, _ = m.finder.input.Update(tea.PasteMsg{Content: oneLine(transcript.Clean(s))})
		return
	}
	if m.focus == onComposer {
		m.composer.paste(s)
	}
}

// nextFocus goes round what is there to be used.
func (m *model) nextFocus(by int) {
	for range focuses {
		m.setFocus((m.focus + focus(by+int(focuses))) % focuses)
		switch {
		case m.focus == onApproval && m.approvals.request == "":
		case m.focus == onQueue && len(m.state.Queue) == 0 && m.state.BlockingHold() == nil:
		case m.focus == onPlan && m.plan.of(m.state) == nil:
		case m.focus == onStory && m.story.list.Len() == 0:
		default:
			return
		}
	}
}

func (m *model) setFocus(f focus) {
	m.focus = f
	m.endCopying()
	m.composer.focus(f == onComposer)
	if f == onQueue {
		m.queue.choose(m.state, m.queue.at(m.state))
	}
	if f == onStory {
		m.story.list.MoveSelection(0)
	} else {
		m.story.list.ClearSelection()
	}
}

func (m *model) showHelp() {
	at := everywhere
	switch m.focus {
	case onApproval:
		at = inApproval
	case onQueue:
		at = inQueue
	case onPlan:
		at = inPlan
	case onStory:
		at = inTranscript
	}
	m.pager = newPager(m.look, "keys", help{m.look, at})
}
