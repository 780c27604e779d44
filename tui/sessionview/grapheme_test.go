package sessionview

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
)

const family = "👨\u200d👩\u200d👧\u200d👦"

func TestGraphemeClusters(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "we are "+family)
	j.CaughtUp()
	s := open(t, j, 60, 12)
	s.m.Styles.GraphemeWidths = false
	s.update(tea.WindowSizeMsg{Width: 60, Height: 12})
	s.mustShow("we are 👨")
	s.mustHide(family)
	s.update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
	s.mustShow("we are " + family)
}
