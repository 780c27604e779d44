package tui

import (
	"cmp"

	"agentctl/tui/keymap"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
)

// storyKey handles a key while the transcript has the focus.
func (m *model) storyKey(key string) tea.Cmd {
	list := m.story.list
	switch m.look.keys.InList(keymap.Transcript, key) {
	case keymap.Back:
		m.endFind()
		m.setFocus(onComposer)
	case keymap.TranscriptFind:
		m.finder.write()
	case keymap.OlderMatch:
		return m.findNext(-1)
	case keymap.NewerMatch:
		return m.findNext(1)
	case keymap.Up:
		list.MoveSelection(-1)
	case keymap.Down:
		list.MoveSelection(1)
	case keymap.First:
		list.SelectItem(list.First())
	case keymap.Last:
		list.SelectItem(list.Last())
		list.ScrollToBottom()
	case keymap.Toggle, keymap.Choose:
		if id, ok := list.Selected(); ok {
			list.SetCollapsed(id, !list.Collapsed(id))
		}
	case keymap.ViewItem:
		if id, ok := list.Selected(); ok {
			if call, ok := list.Item(id).(*toolCall); ok {
				m.pager = newPager(m.look, call.plainTitle(), call.all()...)
			}
		}
	case keymap.TranscriptPreviousTurn:
		return m.jump(aTurn, -1)
	case keymap.TranscriptNextTurn:
		return m.jump(aTurn, 1)
	case keymap.PreviousTool:
		return m.jump(aTool, -1)
	case keymap.NextTool:
		return m.jump(aTool, 1)
	case keymap.PreviousApproval:
		return m.jump(anApproval, -1)
	case keymap.NextApproval:
		return m.jump(anApproval, 1)
	case keymap.PreviousError:
		return m.jump(anError, -1)
	case keymap.NextError:
		return m.jump(anError, 1)
	case keymap.CopyItem:
		if id, ok := list.Selected(); ok {
			return m.copyItem(list.Item(id))
		}
	case keymap.DiffLayout:
		m.look.toggle()
		list.Restyle()
	case keymap.CopyCode:
		if id, ok := list.Selected(); ok {
			return m.copyCode(id)
		}
	case keymap.EnterCopyMode:
		m.beginCopying()
	case keymap.TranscriptHelp:
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
