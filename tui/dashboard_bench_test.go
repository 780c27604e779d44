package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
)

// BenchmarkDashboard measures a dashboard of 10,000 sessions: opening it, applying a summary,
// drawing a frame and typing into the filter.
func BenchmarkDashboard(b *testing.B) {
	const n = 10_000
	at := func(i int) time.Time { return tuitest.Start.Add(time.Duration(i) * time.Second) }
	session := func(i int) protocol.Summary {
		s := protocol.Summary{
			Session: fmt.Sprintf("s%05d", i),
			Name:    fmt.Sprint("session ", i),
			Agent:   "gemini",
			Status:  protocol.Running,
			Turn:    "t",
			Updated: at(i),
		}
		if i%3 == 0 {
			asked := at(i)
			s.Status, s.Asked, s.Approvals = protocol.Waiting, &asked, 1
		}
		return s
	}
	open := func() *program {
		p := testDashboardModel(context.Background(), Options{}, fixedClock(tuitest.Start), tuitest.NewServer())
		p.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		all := make(dashboard.SummariesMsg, n)
		for i := range all {
			all[i].Summary = session(i)
		}
		p.Update(all)
		return p
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			open().View()
		}
	})
	b.Run("change", func(b *testing.B) {
		p := open()
		for i := 0; b.Loop(); i++ {
			s := session(i * 7 % n)
			s.Updated = at(n + i)
			p.Update(dashboard.SummariesMsg{{Summary: s}})
		}
	})
	b.Run("frame", func(b *testing.B) {
		p := open()
		for b.Loop() {
			p.dashboard.Invalidate()
			p.View()
		}
	})
	b.Run("filter", func(b *testing.B) {
		p := open()
		for i := 0; b.Loop(); i++ {
			p.Update(tuitest.KeyPress("/"))
			p.Update(tea.PasteMsg{Content: fmt.Sprint("session ", i%10)})
			p.Update(tuitest.KeyPress("esc"))
		}
	})
}
