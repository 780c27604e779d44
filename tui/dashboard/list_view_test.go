package dashboard

import (
	"testing"

	"agentctl/tui/sessionlist"
)

func TestListLayoutFindsTheLinesOfSessions(t *testing.T) {
	sections := []sessionlist.Section{
		{First: 0, Count: 2}, {Group: 1, First: 2, Count: 1}, {Group: 2, First: 3, Count: 4},
	}
	for _, each := range []int{1, 2} {
		for rows, gap := range map[int]int{3 + 7*each + 1: 0, 3 + 7*each + 2: 1} {
			l := listLayout{sections: sections, sessions: 7, each: each}.spaced(rows)
			if l.gap != gap {
				t.Fatalf("%d rows: a gap of %d lines, want %d", rows, l.gap, gap)
			}
			sessions, heads, empty := 0, 0, 0
			for n := range l.lines() {
				switch line := l.at(n); {
				case line.isSession():
					sessions++
					if got := l.lineOf(line.index) + line.row; got != n {
						t.Errorf("line %d is that of session %d, whose line is %d", n, line.index, got)
					}
				case line.empty:
					empty++
				default:
					heads++
				}
			}
			if sessions != 7*each || heads != 3 || empty != 2*gap {
				t.Errorf("%d lines of sessions, %d headings, %d empty lines", sessions, heads, empty)
			}
		}
	}
}
