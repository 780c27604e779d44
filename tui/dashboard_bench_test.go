package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
)

// A change of one of 10,000 sessions, a frame drawn with it, and a letter of the filter.
func BenchmarkDesk(b *testing.B) {
	const n = 10_000
	at := func(i int) time.Time { return tuitest.Start.Add(time.Duration(i) * time.Second) }
	session := func(i int) protocol.Summary {
		s := protocol.Summary{Session: fmt.Sprintf("s%05d", i), Name: fmt.Sprint("session ", i), Agent: "gemini", Status: protocol.Running, Turn: "t", Updated: at(i)}
		if i%3 == 0 {
			asked := at(i)
			s.Status, s.Asked, s.Approvals = protocol.Waiting, &asked, 1
		}
		return s
	}
	open := func() *program {
		d := testBuilder(context.Background(), Options{}, func() time.Time { return tuitest.Start }, func() string { return "" }).dashboard(newPort(), "")
		noTimers(d)
		d.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		all := make(dashboard.SummariesMsg, n)
		for i := range all {
			all[i].Summary = session(i)
		}
		d.Update(all)
		return d
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			open().View()
		}
	})
	b.Run("change", func(b *testing.B) {
		d := open()
		for i := 0; b.Loop(); i++ {
			s := session(i * 7 % n)
			s.Updated = at(n + i)
			d.Update(dashboard.SummariesMsg{{Summary: s}})
		}
	})
	b.Run("frame", func(b *testing.B) {
		d := open()
		for b.Loop() {
			d.dashboard.Invalidate()
			d.View()
		}
	})
	b.Run("filter", func(b *testing.B) {
		d := open()
		for i := 0; b.Loop(); i++ {
			d.Update(tuitest.KeyPress("/"))
			d.Update(tea.PasteMsg{Content: fmt.Sprint("session ", i%10)})
			d.Update(tuitest.KeyPress("esc"))
		}
	})
}
