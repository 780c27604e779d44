package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/split"
	"agentctl/tui/task"
)

// layoutSaveDelay is the time from a change of the layout to its save. Further changes in it, such
// as the steps of a drag, are saved together.
const layoutSaveDelay = 500 * time.Millisecond

// A layoutStore saves the layout of the sessions for the next start after each change. One save
// runs at a time. The zero value saves nothing.
type layoutStore struct {
	save   func(l split.Layout, hidden bool) error // nil: nothing is saved
	tasks  *task.Runner
	after  func(time.Duration, tea.Msg) tea.Cmd
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

// changed returns a command that saves the layout soon if it has changed, or nil.
func (s *layoutStore) changed(now func() savedLayout) tea.Cmd {
	if s.save == nil || s.busy || now() == s.saved {
		return nil
	}
	s.busy = true
	return s.after(layoutSaveDelay, layoutSaveMsg{})
}

// start saves the layout as a task.
func (s *layoutStore) start(now savedLayout) tea.Cmd {
	s.saved = now
	save := s.save
	return s.tasks.Run(func(context.Context) tea.Msg { return layoutSavedMsg{save(now.layout, now.hidden)} })
}

// finish handles the end of a save and returns its error. The save is repeated at the end of the
// program then.
func (s *layoutStore) finish(msg layoutSavedMsg) error {
	s.busy, s.failed = false, msg.err != nil
	return msg.err
}

// saveNow saves the layout when the program ends, unless it is saved.
func (s *layoutStore) saveNow(now savedLayout) error {
	if s.save == nil || !s.failed && now == s.saved {
		return nil
	}
	s.saved, s.failed = now, false
	return s.save(now.layout, now.hidden)
}
