package sessionview

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/tuitest"
)

const family = "👨\u200d👩\u200d👧\u200d👦"

func TestAnEmojiOfManyRunesShowsWholeWhereTheTerminalKnowsThem(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "we are "+family)
	j.CaughtUp()
	s := open(t, j, 60, 12)
	s.m.Styles.GraphemeWidths = false
	s.give(tea.WindowSizeMsg{Width: 60, Height: 12})
	s.shows("we are 👨")
	s.hides(family)
	s.give(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
	s.shows("we are " + family)
}
