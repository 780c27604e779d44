package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/sessionlist"
	"agentctl/tui/task"
)

// A readSaver saves what the user has read of the sessions of a list. One save runs at a time. The
// zero value saves nothing.
type readSaver struct {
	store  ReadStore // nil: nothing is saved
	list   *sessionlist.List
	tasks  *task.Runner
	saved  int // changes of the list at the last save
	saving bool
}

// readSavedMsg is the end of a save.
type readSavedMsg struct{ err error }

// load gives the list what the user has read. Without a record, the sessions of now are read.
func (s *readSaver) load(now func() time.Time) error {
	if s.store == nil {
		return nil
	}
	read, err := s.store.Load()
	if read.Since.IsZero() {
		read.Since = now()
	}
	s.list.SetRead(read)
	return err
}

// save returns a command that saves what the user has read, or nil if it is saved.
func (s *readSaver) save() tea.Cmd {
	if s.store == nil || s.saving || s.saved == s.list.ReadChanges() {
		return nil
	}
	s.saving, s.saved = true, s.list.ReadChanges()
	store, read := s.store, s.list.Read()
	return s.tasks.Run(func(context.Context) tea.Msg { return readSavedMsg{store.Save(read)} })
}

// finish handles the end of a save. It saves what was read since then, or returns the error.
func (s *readSaver) finish(msg readSavedMsg) (tea.Cmd, error) {
	s.saving = false
	if msg.err != nil {
		return nil, msg.err
	}
	return s.save(), nil
}

// saveNow saves what the user has read when the program ends.
func (s *readSaver) saveNow() error {
	if s.store == nil {
		return nil
	}
	return s.store.Save(s.list.Read())
}
