package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/task"
)

// saveDelay is the time from a change to its save. Further changes in it, such as the steps of a drag,
// are saved together.
const saveDelay = 500 * time.Millisecond

// A saver saves a part of the program for the next start, soon after each change and at the end. One
// save runs at a time. The zero value saves nothing.
type saver struct {
	tasks *task.Runner
	after func(time.Duration, tea.Msg) tea.Cmd

	version func() any          // a comparable value that differs after a change; nil: nothing is saved
	save    func() func() error // returns the save of the present state, which runs outside of the event loop

	saved  any  // the version that was restored or saved last
	failed bool // the last save
	busy   bool // a saveMsg is pending, or a save runs
}

// saveMsg is the end of saveDelay.
type saveMsg struct{ saver *saver }

// savedMsg is the end of a save.
type savedMsg struct {
	saver *saver
	err   error
}

// changed returns a command that saves soon if there is a change, or nil.
func (s *saver) changed() tea.Cmd {
	if s.version == nil || s.busy || s.version() == s.saved {
		return nil
	}
	s.busy = true
	return s.after(saveDelay, saveMsg{s})
}

// start saves as a task.
func (s *saver) start() tea.Cmd {
	s.saved = s.version()
	save := s.save()
	return s.tasks.Run(func(context.Context) tea.Msg { return savedMsg{s, save()} })
}

// finish handles the end of a save and returns its error. The save is repeated after the next change, or
// at the end of the program.
func (s *saver) finish(msg savedMsg) error {
	s.busy, s.failed = false, msg.err != nil
	return msg.err
}

// saveNow saves when the program ends, unless all is saved.
func (s *saver) saveNow() error {
	if s.version == nil || !s.failed && s.version() == s.saved {
		return nil
	}
	s.saved = s.version()
	err := s.save()()
	s.failed = err != nil
	return err
}
