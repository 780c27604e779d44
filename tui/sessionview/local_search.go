package sessionview

import (
	tea "charm.land/bubbletea/v2"

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

// localSearchMsg continues the search of a generation.
type localSearchMsg struct{ generation int }

// searchLocally starts a local search at an item. It replaces a search by the server.
func (p *transcriptPane) searchLocally(from transcript.ID, by int) tea.Cmd {
	s := &p.search
	s.stop()
	s.running, s.local = true, &localSearch{next: from, by: by}
	return tea.Batch(p.continueSearch(s.generation), p.startCount())
}

// continueSearch searches the next items. It does nothing if the generation is no longer current.
func (p *transcriptPane) continueSearch(generation int) tea.Cmd {
	s, list := &p.search, p.view.List
	if !s.running || s.local == nil || generation != s.generation {
		return nil
	}
	for range localSearchStep {
		if s.local.next < list.First() && s.local.by < 0 && (p.view.HasOlder() || p.view.Loading()) {
			s.local.paging = true
			return p.requestOlder()
		}
		if s.local.next < list.First() || s.local.next > list.Last() {
			s.stop()
			p.commands.Status.Text = "no match for “" + s.text + "”"
			return nil
		}
		if s.query.Match(transcriptview.Text(list.Item(s.local.next))) {
			s.stop()
			p.showMatch(s.local.next, s.local.by)
			return nil
		}
		s.local.next += transcript.ID(s.local.by)
	}
	return p.commands.Tasks.Send(localSearchMsg{generation})
}
