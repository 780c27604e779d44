package pane

import (
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// match is the matching line shown last.
type match struct {
	valid bool
	at    transcript.Point
	count int // matches on the line
	newer int // matches in the item below the line
}

// matcher returns a function that reports whether a line contains all words, and a pointer to the
// number of matches on the line passed last.
func (s *search) matcher() (matches func(line string) bool, count *int) {
	count = new(int)
	return func(line string) bool {
		*count = s.query.Count(ansi.Strip(line))
		return *count > 0
	}, count
}

// next moves to the next matching line: an older one (by < 0) or a newer one, in the same item
// or the next.
func (s *search) next(by int) tea.Cmd {
	status := s.Commands.Status
	switch {
	case s.query == nil:
		return nil
	case s.nextInItem(by):
		return nil
	case s.local != nil:
		id, ok := s.view.List.Selected()
		if !ok {
			id = s.view.List.Last() + 1
		}
		return s.searchLocally(id+transcript.ID(by), by)
	case s.current-by < 0 && s.Replica.State.Seq > s.startSeq:
		cmd, _ := s.begin(s.query.String()) // there may be newer hits by now
		return cmd
	case s.current-by < 0:
		status.Text = "that is the newest match"
	case s.current-by >= len(s.hits) && len(s.hits) > 0:
		status.Text = "that is the oldest match"
		if s.cursor != "" {
			status.Text = "that is the oldest match so far"
		}
	case len(s.hits) > 0:
		return s.goToHit(s.current-by, by)
	}
	return nil
}

// nextInItem moves to the next matching line of the item shown last. It returns false
// without one, or if the selection has moved since.
func (s *search) nextInItem(by int) bool {
	list := s.view.List
	id, ok := list.Selected()
	if !ok || !s.match.valid || id != s.match.at.Item {
		return false
	}
	matches, count := s.matcher()
	line, ok := list.FindLine(id, s.match.at.Line+by, by, matches)
	if !ok && transcriptview.RevealNext(s.view.List, id, s.query, by) {
		line, ok = list.FindLine(id, farEnd(by), by, matches)
	}
	if !ok {
		return false
	}
	if by < 0 {
		s.match.newer += s.match.count
	} else {
		s.match.newer = max(0, s.match.newer-*count)
	}
	s.match.at.Line, s.match.count = line, *count
	list.SelectLine(id, line)
	return true
}

// goToHit shows a hit, coming from a newer one (by < 0) or an older one. It requests older turns if
// needed.
func (s *search) goToHit(i, by int) tea.Cmd {
	s.current = i
	h := &s.hits[i]
	return s.history.start(&jump{
		oldest: h.First, notFound: turnGone,
		show: func() bool {
			id, ok := s.itemOfHit(h)
			if !ok && s.view.OlderThan() <= h.First {
				id, ok = s.view.List.Find(h.First)
			}
			if ok {
				s.showMatch(id, by)
			}
			return ok
		},
	})
}

// itemOfHit returns the item of a hit. Of a long item that is loaded from its end, the part that is
// loaded is returned once it has the words.
func (s *search) itemOfHit(h *protocol.Hit) (transcript.ID, bool) {
	id, ok := s.view.FindHit(h)
	whole := s.view.OlderThan() <= h.Seq
	return id, ok && (whole || s.query.Match(transcriptview.Text(s.view.List.Item(id))))
}

// showMatch shows the last matching line of an item (by < 0) or the first. It opens an item that hides
// matches.
func (s *search) showMatch(id transcript.ID, by int) {
	list := s.view.List
	s.reveal(id, by)
	matches, count := s.matcher()
	anyWord := func(line string) bool { return s.query.Index(ansi.Strip(line)) >= 0 }
	line, ok := list.FindLine(id, farEnd(by), by, matches)
	s.match = match{}
	if !ok { // the words are on several lines
		if line, ok = list.FindLine(id, 0, 1, anyWord); !ok {
			s.Commands.Status.Text = "the match is not shown here" +
				ui.Prefixed(keymap.Separator, s.Styles.Keys.Hint(keymap.ViewWhole, "view"))
		}
	} else {
		s.match = match{valid: true, at: transcript.Point{Item: id, Line: line}, count: *count}
		if by > 0 && len(s.hits) > 0 { // after a step to a newer item the line is its oldest match
			s.match.newer = max(0, s.counts[s.current]-s.newerCount(s.current)-*count)
		}
	}
	list.SelectLine(id, line)
}

// farEnd returns the line of an item at which a search in a direction starts.
func farEnd(by int) int {
	if by < 0 {
		return math.MaxInt
	}
	return 0
}

// reveal expands an item that shows fewer matches than it has, and then shows what it leaves out.
func (s *search) reveal(id transcript.ID, by int) {
	list := s.view.List
	total := s.textMatches(id)
	if s.shownMatches(id) >= total {
		return
	}
	if list.Collapsed(id) {
		list.SetCollapsed(id, false)
		if s.typing {
			s.expanded = append(s.expanded, id)
		}
		if s.shownMatches(id) >= total {
			return
		}
	}
	transcriptview.Reveal(s.view.List, id, s.query, by)
}

// textMatches returns the number of matches on the lines of an item's results, or 1 if its words are on
// several lines.
func (s *search) textMatches(id transcript.ID) (n int) {
	for line := range strings.Lines(transcriptview.Results(s.view.List.Item(id))) {
		n += s.query.Count(line)
	}
	return max(n, 1)
}

// shownMatches returns the number of matches on the lines of an item.
func (s *search) shownMatches(id transcript.ID) (n int) {
	matches, count := s.matcher()
	for line, ok := s.view.List.FindLine(id, 0, 1, matches); ok; {
		n += *count
		line, ok = s.view.List.FindLine(id, line+1, 1, matches)
	}
	return n
}
