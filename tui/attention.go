package tui

import (
	"cmp"
	"strings"

	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// attention calls a person who looks elsewhere: when a request arrives and when
// a turn ends. It knows that from the terminal's focus reports; where there are
// none it stays silent. One that is told of everything once calls nobody twice,
// and never for what was there when it was told first.
type attention struct {
	terminal terminal
	silent   bool // it calls nobody
	away     bool // the terminal has lost the focus
	seen     map[string]standing
}

// standing is what a session asked and did when it was last looked at.
type standing struct {
	turn string // under way
	last string // that ended
	asks map[string]bool
}

func newAttention(t terminal) attention { return attention{terminal: t, seen: map[string]standing{}} }

// focus takes the terminal's reports.
func (a *attention) focus(msg tea.Msg) {
	switch msg.(type) {
	case tea.FocusMsg:
		a.away = false
	case tea.BlurMsg:
		a.away = true
	}
}

// follow looks at a session that is caught up, and calls for what is new in it.
func (a *attention) follow(s *protocol.State) tea.Cmd {
	now := standing{asks: make(map[string]bool, len(s.Approvals))}
	if s.Last != nil {
		now.last = s.Last.Turn
	}
	before, known := a.seen[s.Session]
	what := ""
	if now.last != before.last && s.Last != nil {
		what = "turn " + string(s.Last.Reason)
	}
	for i := range s.Approvals {
		r := &s.Approvals[i]
		now.asks[r.Request] = true
		if !before.asks[r.Request] {
			what = "approval: " + cmp.Or(r.Title, r.Command, r.Kind)
		}
	}
	a.seen[s.Session] = now
	if !known {
		return nil
	}
	return a.call(remote.SessionName(s), what)
}

// glance does the same with all that is known of a session that is not followed.
func (a *attention) glance(s *protocol.Summary) tea.Cmd {
	if s.Deleted {
		delete(a.seen, s.Session)
		return nil
	}
	now := standing{turn: s.Turn, asks: map[string]bool{}}
	if s.Asked != nil {
		now.asks[s.Asked.String()] = true
	}
	before, known := a.seen[s.Session]
	what := ""
	switch {
	case s.Status == protocol.Waiting && s.Asked != nil && !before.asks[s.Asked.String()]:
		what = count(s.Approvals, "approval")
		if s.Approvals == 1 && s.Doing != "" {
			what = "approval: " + s.Doing
		}
	case before.turn != "" && before.turn != s.Turn && s.Turn == "":
		what = "turn " + cmp.Or(string(s.Reason), "ended")
	case before.turn != "" && before.turn != s.Turn:
		what = "turn ended, the next one runs"
	}
	a.seen[s.Session] = now
	if !known {
		return nil
	}
	return a.call(cmp.Or(s.Name, s.Title, short(s.Session)), what)
}

func (a *attention) call(name, what string) tea.Cmd {
	if a.silent || !a.away || what == "" {
		return nil
	}
	notice := a.terminal.notify(name + ": " + what)
	if notice == "" {
		return nil
	}
	return tea.Raw(notice)
}

// onlyText is text of which nothing is left that could steer a terminal.
func onlyText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, oneLine(transcript.Clean(s)))
}
