package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
)

// lookStep is how many items are looked through before anything else gets its
// turn.
const lookStep = 200

type lookMsg struct{ wave int }

// lookFrom looks through the items from one on, a few at a time, because the
// server cannot say where the words are. Older turns are paged in as it gets to
// them.
func (m *model) lookFrom(id transcript.ID, by int) tea.Cmd {
	f := &m.finder
	f.stop()
	f.local, f.busy, f.item, f.by = true, true, id, by
	return m.lookOn(f.wave)
}

// lookOn looks through the next items, and comes back for more.
func (m *model) lookOn(wave int) tea.Cmd {
	f, list := &m.finder, m.story.list
	if !f.busy || !f.local || wave != f.wave {
		return nil
	}
	m.dirty = true
	for range lookStep {
		if f.item < list.First() && f.by < 0 && (m.story.before != 0 || m.story.loading) {
			f.paged = true
			return m.pageNow()
		}
		if f.item < list.First() || f.item > list.Last() {
			f.stop()
			m.word = "“" + f.text + "” is not there"
			return nil
		}
		if f.query.Match(wording(list.Item(f.item))) {
			f.stop()
			m.found(f.item, f.by)
			return nil
		}
		f.item += transcript.ID(f.by)
	}
	return func() tea.Msg { return lookMsg{wave} }
}
