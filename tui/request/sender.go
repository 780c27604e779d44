package request

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// Sender sends the commands of one session. The parts of its view share it.
type Sender struct {
	Runner
	Session remote.Session
}

// Send sends a command and decodes its result into result, which may be nil. It calls then with the
// error in the event loop.
func (s *Sender) Send(verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	return s.SendTo(s.Session, "", verb, data, result, then)
}

// Do sends a command that needs no callback: its events change the screen.
func (s *Sender) Do(verb protocol.Verb, data any) tea.Cmd { return s.Send(verb, data, nil, s.Report) }

// Await returns then for a command that the server answers without waiting for the agent.
func (s *Sender) Await(then func(error) tea.Cmd) func(error) tea.Cmd { return s.Runner.Await("", then) }
