package tui

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
)

// breaks is where the program of TestAPanicLeavesTheTerminalAsItWas breaks; it
// is in the environment of the process that runs it.
const breaks = "AGENTCTL_TEST_BREAKS"

// broken is a session's model that panics when a key tells it to.
type broken struct {
	*program
	in   string
	view bool
}

func (b *broken) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "!" {
		switch b.in {
		case "update":
			panic("broken in update")
		case "view":
			b.view = true
		case "errand":
			return b, b.sessions.shown.tasks.Run(func(context.Context) tea.Msg { panic("broken in errand") })
		}
	}
	_, cmd := b.program.Update(msg)
	return b, cmd
}

func (b *broken) View() tea.View {
	if b.view {
		panic("broken in view")
	}
	return b.program.View()
}

// breakDown is the process that panics.
func breakDown(in string) int {
	r := tuitest.NewFakeSession()
	j := tuitest.Conversation()
	j.CaughtUp()
	for _, u := range j.Take() {
		r.Feed <- u
	}
	o := Options{Mouse: true}
	build := testBuilder(context.Background(), o, time.Now, func() string { return "id" })
	b := &broken{program: build.session(r), in: in}
	if err := build.runModel(b.program, b, o.program()...); err != nil {
		fmt.Fprintln(os.Stderr, "ended:", err)
		return 1
	}
	return 0
}
