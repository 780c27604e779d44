package gitstatus

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
)

// Status is the last answer of the server.
type Status struct {
	panel.Base
	shown   func() bool // the status is on the screen
	files   []protocol.DirectoryFile
	current bool // files are those after the last turn, or requested
}

// New returns the status of a session. While shown, it is requested again after each turn.
func New(b panel.Base, shown func() bool) *Status { return &Status{Base: b, shown: shown} }

// Files returns the files that differ from the last commit, as far as known.
func (s *Status) Files() []protocol.DirectoryFile { return s.files }

// Apply implements [panel.Follower].
func (s *Status) Apply(e *protocol.Event) {
	if e.Type == protocol.TurnEnded {
		s.current = false
	}
}

// Updated implements [panel.Part].
func (s *Status) Updated() tea.Cmd {
	if s.current || !s.Replica.CaughtUp || !s.shown() {
		return nil
	}
	return s.Request()
}

// Request requests the status. A server that has none is asked in vain.
func (s *Status) Request() tea.Cmd {
	if s.Replica.Conn.State != remote.Connected || s.Replica.Recorded {
		return nil
	}
	s.current = true
	epoch, result := s.Replica.Epoch, new(protocol.ChangesResult)
	return s.Commands.Send(protocol.DoChanges, protocol.Empty{}, result, func(err error) tea.Cmd {
		if err == nil && epoch == s.Replica.Epoch {
			s.files = result.Files
		}
		return nil
	})
}

// Update implements [panel.Part]. Older turns that arrive may show the status.
func (s *Status) Update(tea.Msg) (cmd tea.Cmd, changed bool) { return s.Updated(), false }

// Diff requests the differences of a file that the status lists. then gets the answer or its error.
func (s *Status) Diff(path string, then func(*protocol.DiffResult, error)) tea.Cmd {
	result := new(protocol.DiffResult)
	return s.Commands.Send(protocol.DoDiff, protocol.DiffData{Path: path}, result, func(err error) tea.Cmd {
		then(result, err)
		return nil
	})
}
