package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

// localSearchStep is how many items are searched before other messages are handled.
const localSearchStep = 200

// localSearch is a search through the items in memory. It pages older turns in as it reaches them.
type localSearch struct {
	next   transcript.ID // item to search
	by     int           // -1: towards older items
	paging bool          // it continues when the older turns are there
}

// localSearchMsg continues the search of a generation.
type localSearchMsg struct{ generation int }

// searchLocally searches the items from one on, because the server cannot search.
func (p *transcriptPane) searchLocally(from transcript.ID, by int) tea.Cmd {
	s := &p.search
	s.stop()
	s.running, s.local = true, &localSearch{next: from, by: by}
	return p.continueSearch(s.generation)
}

// continueSearch searches the next items.
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
			p.commands.status.Text = "“" + s.text + "” is not there"
			return nil
		}
		if s.query.Match(transcriptview.Text(list.Item(s.local.next))) {
			s.stop()
			p.showMatch(s.local.next, s.local.by)
			return nil
		}
		s.local.next += transcript.ID(s.local.by)
	}
	return p.commands.tasks.Send(localSearchMsg{generation})
}
