package tui

import (
	"context"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/split"
	"agentctl/tui/task"
)

// openBenchPanes returns a program with a number of sessions side by side on a screen of 200x60,
// and a function that makes the agent of one session write and draws the screen.
func openBenchPanes(sessions int) (p *program, write func(session int)) {
	p = testDashboardModel(context.Background(), Options{}, fixedClock(tuitest.Start), tuitest.NewServer())
	p.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	l := split.New("s0")
	for i := range sessions - 1 {
		l = l.Split(fmt.Sprint("s", i+1), i%2 == 1)
	}
	p.panes.layout = l
	p.show()
	journals := make([]*tuitest.Journal, sessions)
	update := func(i int) {
		p.Update(task.Message{To: p.sessions.find(fmt.Sprint("s", i)), Msg: journals[i].Take()})
	}
	for i := range journals {
		journals[i] = tuitest.MixedSession(100)
		journals[i].CaughtUp()
		update(i)
	}
	p.View()
	return p, func(i int) {
		journals[i].Add(protocol.TextDelta, protocol.PartDeltaData{Part: "live", Text: "some words "})
		update(i)
		p.View()
	}
}

// BenchmarkPanes measures a frame of one session and of four side by side: if one of them writes,
// and if all do.
func BenchmarkPanes(b *testing.B) {
	for _, sessions := range []int{1, 4} {
		b.Run(fmt.Sprint("sessions=", sessions, "/one"), func(b *testing.B) {
			_, write := openBenchPanes(sessions)
			for b.Loop() {
				write(0)
			}
		})
		b.Run(fmt.Sprint("sessions=", sessions, "/all"), func(b *testing.B) {
			_, write := openBenchPanes(sessions)
			for b.Loop() {
				for i := range sessions {
					write(i)
				}
			}
		})
		b.Run(fmt.Sprint("sessions=", sessions, "/key"), func(b *testing.B) {
			p, _ := openBenchPanes(sessions)
			for b.Loop() {
				p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
				p.Update(tuitest.KeyPress("backspace"))
				p.View()
			}
		})
	}
}
