package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
)

// storyKey handles a key while the transcript has the focus.
func (m *model) storyKey(key string) tea.Cmd {
	list := m.story.list
	switch m.look.keys.in(inTranscript, key) {
	case doBack:
		m.endFind()
		m.setFocus(onComposer)
	case doFindHere:
		m.finder.write()
	case doOlder:
		return m.findNext(-1)
	case doNewer:
		return m.findNext(1)
	case doUp:
		list.MoveSelection(-1)
	case doDown:
		list.MoveSelection(1)
	case doFirst:
		list.SelectItem(list.First())
	case doLast:
		list.SelectItem(list.Last())
		list.ScrollToBottom()
	case doFold, doChoose:
		if id, ok := list.Selected(); ok {
			list.SetCollapsed(id, !list.Collapsed(id))
		}
	case doView:
		if id, ok := list.Selected(); ok {
			if call, ok := list.Item(id).(*toolCall); ok {
				m.pager = newPager(m.look, call.plainTitle(), call.all()...)
			}
		}
	case doLastTurn:
		return m.jump(aTurn, -1)
	case doNextTurn:
		return m.jump(aTurn, 1)
	case doLastTool:
		return m.jump(aTool, -1)
	case doNextTool:
		return m.jump(aTool, 1)
	case doLastApproval:
		return m.jump(anApproval, -1)
	case doNextApproval:
		return m.jump(anApproval, 1)
	case doLastError:
		return m.jump(anError, -1)
	case doNextError:
		return m.jump(anError, 1)
	case doCopy:
		if id, ok := list.Selected(); ok {
			return m.copyItem(list.Item(id))
		}
	case doSidesHere:
		m.look.toggle()
		list.Restyle()
	case doCopyCode:
		if id, ok := list.Selected(); ok {
			return m.copyCode(id)
		}
	case doCopying:
		m.beginCopying()
	case doKeysHere:
		m.showHelp()
	}
	return nil
}

// wording is what an item says, for a search.
func wording(s transcript.Item) string {
	switch s := s.(type) {
	case *asked:
		return s.message.Text
	case *said:
		return string(s.item.Text)
	case *thought:
		return string(s.item.Text)
	case *toolCall:
		return s.said()
	case *decision:
		if s.item.Approval != nil {
			return cmp.Or(s.item.Approval.Command, s.item.Approval.Title)
		}
	case *checklist:
		return s.words()
	case *note:
		return s.text
	}
	return ""
}

// foldLast folds or unfolds the newest thing on the screen that folds, or what
// is selected.
func (m *model) foldLast() {
	list := m.story.list
	id, ok := list.Selected()
	if !ok {
		for row := list.Height() - 1; row >= 0; row-- {
			at, hit := list.ItemAt(row)
			if hit && folds(list.Item(at)) {
				id, ok = at, true
				break
			}
		}
	}
	if ok {
		list.SetCollapsed(id, !list.Collapsed(id))
	}
}

func folds(s transcript.Item) bool {
	switch s := s.(type) {
	case *thought, *toolCall, *checklist:
		return true
	case *said:
		return s.item.Task != ""
	}
	return false
}
