package tui

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
)

// panicEnv is the environment variable that makes the test binary run runPanicProcess. Its value is
// the place of the panic: update, view or task.
const panicEnv = "AGENTCTL_TEST_BREAKS"

// panicModel is a session program that panics when it receives the key "!".
type panicModel struct {
	*program
	where       string // place of the panic
	panicInView bool   // View must panic
}

func (m *panicModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "!" {
		switch m.where {
		case "update":
			panic("broken in update")
		case "view":
			m.panicInView = true
		case "task":
			return m, m.sessions.shown.tasks.Run(func(context.Context) tea.Msg { panic("broken in task") })
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

// runPanicProcess runs a program that panics at the given place on the key "!". It returns the exit
// code of the process.
func runPanicProcess(where string) int {
	r := tuitest.NewFakeSession()
	j := tuitest.Conversation()
	j.CaughtUp()
	for _, u := range j.Take() {
		r.Feed <- u
	}
	o := Options{Mouse: true}
	build := testBuilder(context.Background(), o, time.Now, func() string { return "id" })
	m := &panicModel{program: build.newSession(r), where: where}
	if err := build.run(m.program, m, o.programOptions(nil)...); err != nil {
		fmt.Fprintln(os.Stderr, "ended:", err)
		return 1
	}
	return 0
}
