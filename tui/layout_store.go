package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/split"
	"agentctl/tui/task"
)

// layoutSaveDelay is the time from a change of the layout to its save. Further changes in it, such
// as those of a drag, are saved together.
const layoutSaveDelay = 500 * time.Millisecond

// A layoutStore saves the layout of the sessions for the next start after each change. One save
// runs at a time.
type layoutStore struct {
	save   func(l split.Layout, hidden bool) error // nil: nothing is saved
	tasks  *task.Runner
	saved  savedLayout // the last one that was restored or given to save
	failed bool        // the last save
	busy   bool        // a layoutSaveMsg is pending, or a save runs
}

// savedLayout is what a layoutStore keeps.
type savedLayout struct {
	layout split.Layout // of several sessions, or empty
	hidden bool         // the dashboard covers it
}

// layoutSaveMsg is the end of layoutSaveDelay.
type layoutSaveMsg struct{}

// layoutSavedMsg is the end of a save.
type layoutSavedMsg struct{ err error }

// restorePanes takes the layout that the user left, unless the program starts with a session.
func (p *program) restorePanes(b *builder) {
	o := b.options.Panes
	p.panes.store = layoutStore{save: o.Save, tasks: b.tasks}
	if p.initial == "" && o.Layout.Len() > 1 {
		p.panes.layout, p.panes.store.saved = o.Layout, savedLayout{o.Layout, o.Hidden}
	}
}

// layoutToSave returns the present layout. That of one session is not kept.
func (p *program) layoutToSave() savedLayout {
	if p.panes.layout.Len() < 2 {
		return savedLayout{}
	}
	return savedLayout{p.panes.layout, p.sessions.shown == nil}
}

// saveChangedPanes returns a command that saves the layout soon if it has changed, or nil.
func (p *program) saveChangedPanes() tea.Cmd {
	s := &p.panes.store
	if s.save == nil || s.busy || p.layoutToSave() == s.saved {
		return nil
	}
	s.busy = true
	return p.sessions.viewConfig.After(layoutSaveDelay, layoutSaveMsg{})
}

// startSavePanes saves the present layout as a task.
func (p *program) startSavePanes() tea.Cmd {
	s := &p.panes.store
	s.saved = p.layoutToSave()
	save, l := s.save, s.saved
	return s.tasks.Run(func(context.Context) tea.Msg { return layoutSavedMsg{save(l.layout, l.hidden)} })
}

// finishSavePanes handles the end of a save. An error is shown, and the save repeated at the end of
// the program.
func (p *program) finishSavePanes(msg layoutSavedMsg) {
	p.panes.store.busy, p.panes.store.failed = false, msg.err != nil
	if msg.err != nil {
		p.showStatus(msg.err.Error())
	}
}

// savePanesNow saves the layout when the program ends, unless it is saved.
func (p *program) savePanesNow() error {
	s, l := &p.panes.store, p.layoutToSave()
	if s.save == nil || !s.failed && l == s.saved {
		return nil
	}
	s.saved, s.failed = l, false
	return s.save(l.layout, l.hidden)
}
