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
	f := &p.search
	f.stop()
	f.running, f.local = true, &localSearch{next: from, by: by}
	return p.continueSearch(f.generation)
}

// continueSearch searches the next items.
func (p *transcriptPane) continueSearch(generation int) tea.Cmd {
	f, list := &p.search, p.view.List
	if !f.running || f.local == nil || generation != f.generation {
		return nil
	}
	for range localSearchStep {
		if f.local.next < list.First() && f.local.by < 0 && (p.view.HasOlder() || p.view.Loading()) {
			f.local.paging = true
			return p.requestOlder()
		}
		if f.local.next < list.First() || f.local.next > list.Last() {
			f.stop()
			p.commands.status.Text = "“" + f.text + "” is not there"
			return nil
		}
		if f.query.Match(transcriptview.Text(list.Item(f.local.next))) {
			f.stop()
			p.showMatch(f.local.next, f.local.by)
			return nil
		}
		f.local.next += transcript.ID(f.local.by)
	}
	return p.commands.tasks.Send(localSearchMsg{generation})
}
