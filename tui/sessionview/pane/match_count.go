package pane

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

// matchCount counts the matches of a local search in the loaded items, newest first.
type matchCount struct {
	last     transcript.ID // the newest item when the search began
	next     transcript.ID // next item to count
	items    []itemCount   // items with matches, newest first
	complete bool          // all items of the session are counted
}

// itemCount is the number of matches in an item.
type itemCount struct {
	id transcript.ID
	n  int
}

// startCount starts counting the matches of the query, unless that has been started.
func (s *search) startCount() tea.Cmd {
	last := s.view.List.Last()
	if s.count != nil {
		return nil
	}
	s.count = &matchCount{last: last, next: last}
	return s.countLater(s.count)
}

// countLater continues a count after the messages that wait.
func (s *search) countLater(c *matchCount) tea.Cmd {
	return s.Commands.Tasks.Send(searchStepMsg{func() tea.Cmd { return s.continueCount(c) }})
}

// continueCount counts the next items. It does nothing if the count is no longer current.
func (s *search) continueCount(c *matchCount) tea.Cmd {
	if c == nil || c != s.count {
		return nil
	}
	list := s.view.List
	for range localSearchStep {
		if c.next < list.First() {
			c.complete = s.view.OlderThan() == 0 && !s.view.Loading()
			return nil
		}
		if n := s.query.Count(transcriptview.Text(list.Item(c.next))); n > 0 {
			c.items = append(c.items, itemCount{c.next, n})
		}
		c.next--
	}
	return s.countLater(c)
}

// of returns the number of matches in an item.
func (c *matchCount) of(id transcript.ID) int {
	for _, it := range c.items {
		if it.id == id {
			return it.n
		}
	}
	return 0
}

// positionText returns the number of a match and the total, or "" if the match is not counted.
func (c *matchCount) positionText(m *match) string {
	if !m.valid || m.at.Item <= c.next || m.at.Item > c.last {
		return ""
	}
	newer, total := 0, 0
	for _, it := range c.items {
		if total += it.n; it.id > m.at.Item {
			newer += it.n
		}
	}
	text := strconv.Itoa(newer+min(m.newer+1, max(1, c.of(m.at.Item)))) + " of " + strconv.Itoa(total)
	if !c.complete {
		text += "+"
	}
	return text
}
