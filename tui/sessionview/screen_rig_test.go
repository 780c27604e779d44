package sessionview

import (
	"context"
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/tuitest"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/sidecolumn"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

func TestMain(m *testing.M) {
	memory.Use()
	os.Exit(m.Run())
}

// viewRig is a view that keeps its last intent.
type viewRig struct {
	*rigView
	asked ui.Intent
}

type rigView = View // embedded as View, it would hide the method View

// Update passes a message to the view.
func (r *viewRig) Update(msg tea.Msg) tea.Cmd {
	cmd, intent := r.rigView.Update(msg)
	r.asked = intent
	return cmd
}

// testView returns a view of a session that starts no timers.
func testView(ctx context.Context, s remote.Session, now func() time.Time, newID func() string) *View {
	styles := ui.NewStyles(time.UTC, "")
	styles.Now = now
	return New(Config{
		Session: s, Tasks: task.NewRunner(ctx), Styles: styles, Now: now, NewID: newID,
		After: func(time.Duration, tea.Msg) tea.Cmd { return nil }, Exec: tea.Exec, Editor: "vi",
		Side: hiddenSide(),
	})
}

// hiddenSide hides the side column, so that the main column has the width of the screen.
func hiddenSide() sidecolumn.Options {
	hidden := true
	return sidecolumn.Options{Hidden: &hidden}
}

// benchmarkView returns a view of a fake session at a fixed time.
func benchmarkView(b *testing.B) *View {
	start := func() time.Time { return tuitest.Start }
	return testView(b.Context(), tuitest.NewFakeSession(), start, func() string { return "" })
}
