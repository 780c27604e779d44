package dashboard

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

func TestPreviewReloadsAfterChange(t *testing.T) {
	d := newTestDashboard(t, 140, 30, tuitest.Summaries()...)
	d.server.SetPending()
	loads := func() int { subscriptions, _ := d.server.Requests(); return len(subscriptions) }
	d.press("p")
	d.want(
		"preview · release",
		"edit pkg/store/store.go",
		"Push the tags.",
		"They are right.",
		"Tidy the module",
	)
	loaded, commands := d.server.Requests()
	if len(loaded) != 1 || !slices.Equal(commands, []string{"s3 history"}) {
		t.Errorf("got previews %v, commands %v, want 1 preview and s3 history", loaded, commands)
	}
	changed := tuitest.Summaries()[2]
	d.put(changed)
	changed.Seq = 7
	d.put(changed)
	if loads() != 1 {
		t.Errorf("got %d previews, want 1 within 500 ms", loads())
	}
	now = now.Add(500 * time.Millisecond)
	d.put(changed)
	// The last turn is known: it needs no second history command.
	if loaded, commands = d.server.Requests(); len(loaded) != 2 || len(commands) != 1 {
		t.Errorf("got previews %v, commands %v, want 2 and 1", loaded, commands)
	}
	d.press("down")
	d.want("preview · s5xyz7")
	now = now.Add(500 * time.Millisecond)
	d.press("down")
	d.want("preview · fix-tests")
	if got, _ := d.server.Requests(); !slices.Equal(got, []string{"s3", "s3", "s5xyz789", "s2"}) {
		t.Errorf("got previews %v, want s3, s3, s5xyz789, s2", got)
	}
	now = now.Add(2 * time.Second)
	d.send(struct{}{})
	if loads() != 5 {
		t.Errorf("got %d previews, want 5 after 2 s of a running turn", loads())
	}
	d.press("p", "down")
	if loads() != 5 {
		t.Errorf("got %d previews, want 5 with the preview closed", loads())
	}
	if got := d.server.Subscribed(); len(got) != 0 {
		t.Errorf("got subscriptions to %v, want none", got)
	}
}

func TestPreviewShowsError(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.server.Journal = func(string) *tuitest.Journal {
		j := &tuitest.Journal{}
		j.Conn(remote.Conn{State: remote.Offline, Reason: "no such session"})
		return j
	}
	d.press("p")
	d.want("no such session")
	d.server.SetPending()
	d.send(ConnMsg{State: remote.Connected})
	d.want("Tidy the module")
}

// previewOf returns a dashboard whose preview shows the first of the sessions, with these events.
func previewOf(t *testing.T, size [2]int, s protocol.Summary, events func(*tuitest.Journal)) *testDashboard {
	t.Helper()
	d := newTestDashboard(t, size[0], size[1], s)
	d.server.SetPending(tuitest.CommandApproval())
	d.server.Journal = func(string) *tuitest.Journal {
		j := tuitest.NewJournal()
		events(j)
		j.CaughtUp()
		return j
	}
	d.press("p")
	return d
}

// The preview ends with what the session asks, why it failed, or what it does.
func TestThePreviewEndsWithWhatMatters(t *testing.T) {
	for _, size := range listSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			all := everyState()
			d := previewOf(t, size, all[0], func(j *tuitest.Journal) {
				j.UserMessage(tuitest.Ada, "m1", "Install it")
				a := tuitest.CommandApproval()
				a.Command = "curl -sSfL https://example.com/install.sh | sudo sh"
				j.RequestApproval(a)
			})
			d.want("▏ curl -sSfL https://example.com/inst", "─ y decides ─")
			d.wantNo("1 Allow once")
			d.press("y")
			d.wantNo("y decides") // the dialog shows it
			d.press("esc")
			d = previewOf(t, size, all[4], func(j *tuitest.Journal) {
				j.UserMessage(tuitest.Ada, "m1", "Lint")
				j.Add(protocol.TurnEnded, protocol.TurnEndedData{
					Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "provider is overloaded (529)",
				})
			})
			d.want(" ✗ provider is overloaded (529)\n", "enter opens it, /repeat gives the agent")

			d = previewOf(t, size, all[6], func(j *tuitest.Journal) {
				j.UserMessage(tuitest.Ada, "m1", "Test")
				j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "t1", Name: "shell", Kind: "execute", Title: "go test ./..."})
				j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "t1", Text: "ok pkg/first\nok pkg/last\n"})
			})
			d.want("shell go test ./...", "ok pkg/last")
		})
	}
}
