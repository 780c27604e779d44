package dashboard

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/ui"
)

// listed returns a dashboard of n sessions. It sends no commands.
func listed(n int) *Dashboard {
	styles := ui.NewStyles(time.UTC, "")
	styles.Now = func() time.Time { return now }
	d := New(Config{
		Server: &fakeServer{}, Styles: styles, Now: func() time.Time { return now }, Open: noSessions{},
		After: func(time.Duration, tea.Msg) tea.Cmd { return nil },
	})
	d.preview.chosen = true // off: it would ask the server
	d.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	all := make(SummariesMsg, n)
	for i, s := range sessions(n) {
		all[i].Summary = s
	}
	d.Update(all)
	return d
}

// BenchmarkStart measures the first screen with so many sessions.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				listed(n).View()
			}
		})
	}
}

// BenchmarkDraw measures a redraw with so many sessions.
func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{60, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := listed(n)
			for b.Loop() {
				d.Invalidate()
				d.View()
			}
		})
	}
}

// Drawing costs the rows on the screen, whatever the number of sessions.
func TestDrawingCostsTheRowsOnTheScreen(t *testing.T) {
	allocations := func(n int) float64 {
		d := listed(n)
		d.Select("s001")
		return testing.AllocsPerRun(10, func() {
			d.Invalidate()
			d.View()
		})
	}
	few, many := allocations(400), allocations(8000)
	if many > few*1.1 {
		t.Errorf("%.0f allocations with 8000 sessions, %.0f with 400", many, few)
	}
}

// A change of one session costs no more with many sessions.
func TestAChangeCostsTheSameWithManySessions(t *testing.T) {
	allocations := func(n int) float64 {
		d := listed(n)
		s := sessions(9)[8]
		return testing.AllocsPerRun(100, func() {
			s.Seq++
			d.Update(SummariesMsg{SummaryUpdate{Summary: s}})
		})
	}
	few, many := allocations(20), allocations(8000)
	if many > 2*few {
		t.Errorf("%.0f allocations with 8000 sessions, %.0f with 20", many, few)
	}
}
