package tui

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
)

// panicEnv is where the program of TestPanicRestoresTerminal breaks; it
// is in the environment of the process that runs it.
const panicEnv = "AGENTCTL_TEST_BREAKS"

// panicModel is a session's model that panics when a key tells it to.
type panicModel struct {
	*program
	where       string
	panicInView bool
}

func (m *panicModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "!" {
		switch m.where {
		case "update":
			panic("broken in update")
		case "view":
			m.panicInView = true
		case "errand":
			return m, m.sessions.shown.tasks.Run(func(context.Context) tea.Msg { panic("broken in errand") })
		}
	}
	_, cmd := m.program.Update(msg)
	return m, cmd
}

func (m *panicModel) View() tea.View {
	if m.panicInView {
		panic("broken in view")
	}
	return m.program.View()
}

// runPanicProcess is the process that panics.
func runPanicProcess(in string) int {
	r := tuitest.NewRecording()
	j := tuitest.Conversation()
	j.CaughtUp()
	for _, u := range j.Take() {
		r.Feed <- u
	}
	o := Options{Mouse: true}
	build := testBuilder(context.Background(), o, time.Now, func() string { return "id" })
	m := &panicModel{program: build.newSession(r), where: in}
	if err := build.runModel(m.program, m, o.programOptions()...); err != nil {
		fmt.Fprintln(os.Stderr, "ended:", err)
		return 1
	}
	return 0
}
