package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/tour"
	"agentctl/tui/ui"
)

func TestTheTourTakesItsRowsAndTheirMouse(t *testing.T) {
	size := tea.WindowSizeMsg{Width: 80, Height: 24}
	none := tourPanel{styles: ui.NewStyles(time.UTC, "")}
	if msg, taken := none.filter(size); taken || msg != tea.Msg(size) {
		t.Errorf("without a tour: got %v", msg)
	}
	panel := tourPanel{styles: none.styles, guide: tour.NewGuide(nil)}
	rows := tour.Rows(size.Height)
	if msg, taken := panel.filter(size); taken || msg.(tea.WindowSizeMsg).Height != size.Height-rows {
		t.Errorf("got the size %v, want it without %d rows", msg, rows)
	}
	for y, want := range map[int]bool{0: false, 23 - rows: false, 24 - rows: true, 23: true} {
		if _, taken := panel.filter(tea.MouseClickMsg{Y: y}); taken != want {
			t.Errorf("a click in row %d is taken: %v", y, taken)
		}
	}
	if _, taken := panel.filter(tuitest.KeyPress("a")); taken {
		t.Error("the panel takes a key of the screens")
	}
}
