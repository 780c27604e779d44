//go:build unix

package shellview

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/request"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// run returns the page of a command that has ended.
func run(t *testing.T, command string) *Page {
	t.Helper()
	tasks := task.NewRunner(t.Context())
	t.Cleanup(tasks.Close)
	p, cmd := Run(Config{
		Styles: ui.NewStyles(time.UTC, ""), Runner: &request.Runner{Tasks: tasks},
		After: func(time.Duration, tea.Msg) tea.Cmd { return nil },
	}, command, "")
	for _, msg := range tuitest.Messages(cmd) {
		done := msg.(request.DoneMsg)
		done.Then(done.Err)
	}
	if p.Done() == nil {
		t.Fatalf("the command did not start: %s", p.failed)
	}
	<-p.Done()
	p.Update(readMsg{p})
	return p
}

func TestTheOutputOfAShellCommandCannotEndItsBlock(t *testing.T) {
	p := run(t, "printf '```\\nx'; exit 3")
	lines, _ := p.View(80, 10)
	if !strings.Contains(strings.Join(lines, "\n"), "exit 3") {
		t.Errorf("got lines %q, want the exit code", lines)
	}
	want := "````\n$ printf '```\\nx'; exit 3\n```\nx\n[exit 3]\n````\n"
	r := p.Update(tuitest.KeyPress("enter"))
	if got, _ := r.Intent.(TakeIntent); got.Text != want || !r.Close {
		t.Errorf("got %+v, want the text %q", r, want)
	}
}
