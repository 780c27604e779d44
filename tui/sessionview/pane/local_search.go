package pane

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/request"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

// localSearchStep is the number of items searched per message, so that others are handled in
// between.
const localSearchStep = 200

// localSearch is a search in the loaded items. It requests older turns when it reaches the first
// item.
type localSearch struct {
	next   transcript.ID // next item to search
	by     int           // -1: to older items, 1: to newer ones
	paging bool          // waiting for older turns
}

// searchLocally starts a local search at an item. It replaces a search by the server.
func (s *search) searchLocally(from transcript.ID, by int) tea.Cmd {
	s.stop()
	s.running, s.local = true, &localSearch{next: from, by: by}
	return s.continueLocal(s.generation)
}

// continueLocal searches the next items. It does nothing if the generation is no longer current.
func (s *search) continueLocal(generation int) tea.Cmd {
	list := s.view.List
	if !s.running || s.local == nil || generation != s.generation {
		return nil
	}
	for range localSearchStep {
		if s.local.next < list.First() && s.local.by < 0 && (s.view.OlderThan() != 0 || s.view.Loading()) {
			s.local.paging = true
			return s.history.request()
		}
		if s.local.next < list.First() || s.local.next > list.Last() {
			s.stop()
			s.Commands.Status.Text = "no match for “" + s.text + "”"
			return nil
		}
		if s.query.Match(transcriptview.Text(list.Item(s.local.next))) {
			s.stop()
			s.showMatch(s.local.next, s.local.by)
			return nil
		}
		s.local.next += transcript.ID(s.local.by)
	}
	return s.Commands.Tasks.Send(request.DoneMsg{Then: func(error) tea.Cmd { return s.continueLocal(generation) }})
}

// paged continues the local search after older turns arrived. waited reports whether it has requested
// them.
func (s *search) paged() (cmd tea.Cmd, waited bool) {
	if s.local == nil || !s.local.paging {
		return nil, false
	}
	s.local.paging = false
	return s.continueLocal(s.generation), true
}
