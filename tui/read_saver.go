package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/task"
)

// A readSaver saves what the user has read. One save runs at a time.
type readSaver struct {
	store  ReadStore // nil: nothing is saved
	tasks  *task.Runner
	saved  int // changes of the list at the last save
	saving bool
}

// readSavedMsg is the end of a save.
type readSavedMsg struct{ err error }

// loadRead gives the list what the user has read. Without a record, the sessions of now are read.
func (p *program) loadRead(b *builder) error {
	p.read = readSaver{store: b.options.Alerts.Read, tasks: b.tasks}
	if p.read.store == nil {
		return nil
	}
	read, err := p.read.store.Load()
	if read.Since.IsZero() {
		read.Since = b.now()
	}
	p.dashboard.List().SetRead(read)
	return err
}

// saveRead returns a command that saves what the user has read, or nil if it is saved.
func (p *program) saveRead() tea.Cmd {
	changes := p.dashboard.List().ReadChanges()
	if p.read.store == nil || p.read.saving || p.read.saved == changes {
		return nil
	}
	p.read.saving, p.read.saved = true, changes
	store, read := p.read.store, p.dashboard.List().Read()
	return p.read.tasks.Run(func(context.Context) tea.Msg { return readSavedMsg{store.Save(read)} })
}

// finishSave handles the end of a save and saves what was read meanwhile.
func (p *program) finishSave(msg readSavedMsg) tea.Cmd {
	p.read.saving = false
	if msg.err != nil {
		p.dashboard.ShowStatus(msg.err.Error())
		return nil
	}
	return p.saveRead()
}

// saveReadNow saves what the user has read when the program ends.
func (p *program) saveReadNow() error {
	if p.dashboard == nil || p.read.store == nil {
		return nil
	}
	return p.read.store.Save(p.dashboard.List().Read())
}
