package sessionview

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
)

func TestExpandItems(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 60)
	s.mustShow("▸ thought · 3 lines")
	s.mustHide("Likely a race.")
	s.mustHide("» command:")
	s.press("tab")
	for range 20 {
		s.press("up")
	}
	s.press("down", "enter")
	s.mustShow("▾ thought", "Likely a race.")
	s.press("down", "down", "enter")
	s.mustShow("» command: go test -race -count=100 ./pkg/store", "store_test.go:42: got 3, want 4")
	s.press("v")
	s.mustShow("=== RUN   TestStore", "esc back")
	s.press("q", "enter")
	s.mustHide("» command:")
	s.press("esc")
	s.typeText("x")
	s.mustShow("> x")
}

func TestStreamedTextInPlace(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.mustShow(" ▏ I look at the imports\n")
	s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " of every package"})
	s.applyJournal()
	s.mustShow(" ▏ I look at the imports of every package\n")
	if n := s.m.transcript.View.List.Len(); n == 0 || strings.Count(s.text(), "I look") != 1 {
		t.Errorf("the text is not exactly once in %d items", n)
	}
}

func TestScrollPositionKept(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("pgup")
	before := s.text()
	s.mustShow("below · ctrl+end")
	s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " and on"})
	s.applyJournal()
	if after := s.text(); strings.Split(after, "\n")[0] != strings.Split(before, "\n")[0] {
		t.Errorf("the screen moved from\n%s\nto\n%s", before, after)
	}
	s.update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	s.press("pgdown", "pgdown", "pgdown")
	s.mustShow("and on")
	s.mustHide("below · ctrl+end")
}

func TestCatchUpNotDrawn(t *testing.T) {
	j := tuitest.Conversation()
	s := open(t, j, 80, 24)
	s.mustShow("catching up")
	draws := 0
	for range 50 {
		j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " more"})
		s.m.Update(j.Take())
		if s.m.canvas.Dirty {
			draws++
		}
		s.m.View()
	}
	if draws != 0 {
		t.Errorf("got %d draws during the catch-up, want none", draws)
	}
	j.CaughtUp()
	s.applyJournal()
	s.mustShow("I look at the imports more more")
	s.mustHide("catching up")
}

func TestHistoryPageCutsToolCall(t *testing.T) {
	s := openAtEnd(t, 600)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb != protocol.DoHistory {
			return nil, nil
		}
		j := &tuitest.Journal{At: tuitest.Start}
		j.UserMessage(tuitest.Bob, "m1", "build it")
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "build"})
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "a line\n"})
		page := protocol.HistoryResult{Epoch: "k3f9ab", First: 1}
		for _, u := range j.Pending {
			if u.Event != nil {
				page.Events = append(page.Events, json.RawMessage(u.Event.AppendJSON(nil)))
			}
		}
		return page, nil
	}
	s.now = s.now.Add(time.Hour)
	s.applyJournal()
	s.mustShow("build", "continues below", "a line")
	s.mustHide("running")
}

func TestReplacedLogReloads(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 30)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Mode: protocol.ModeReset, Reason: protocol.ResetEpoch, After: protocol.Position{Epoch: "zz", Seq: 0},
		Snapshot: &protocol.Snapshot{Epoch: "zz", State: &protocol.State{Name: "fix-tests"}},
	}})
	s.journal.Conn(remote.Conn{State: remote.Connected, Connection: "c9", By: tuitest.Ada})
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustShow("the session's log was replaced")
	s.mustHide("release notes")
	s.mustHide("I look at the imports")
}

func TestResumedSession(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 30)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Retry: s.now})
	s.applyJournal()
	s.mustShow("reconnecting")
	s.journal.Pending = append(s.journal.Pending, remote.Update{
		Attached: &protocol.SubscribeResult{
			Mode:    protocol.ModeResume,
			Clients: []protocol.Client{{Client: "c1", By: tuitest.Ada}},
		},
	})
	s.journal.Conn(remote.Conn{State: remote.Connected, Connection: "c3", By: tuitest.Ada})
	s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " of it"})
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustShow("I look at the imports of it", "◐ running")
	s.mustHide("reconnecting")
}

func TestStatusLagAndClients(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 120, 24)
	s.mustShow("2 clients", "context 38%")
	s.journal.Ephemeral(protocol.ClientLag, protocol.Client{Client: "c2", By: tuitest.Bob, LagEvents: 340})
	s.applyJournal()
	s.mustShow("bob lags 340")
	s.journal.Ephemeral(protocol.ClientLag, protocol.Client{Client: "c1", By: tuitest.Ada, Acked: 10, LagEvents: 18})
	s.applyJournal()
	s.mustHide("lag 18") // the events have arrived since
	s.journal.Ephemeral(protocol.ClientLag, protocol.Client{Client: "c1", By: tuitest.Ada, Acked: 20, LagEvents: 100})
	s.applyJournal()
	s.mustShow("lag 92")
	s.journal.Ephemeral(protocol.ClientDetached, protocol.Client{Client: "c2", By: tuitest.Bob})
	s.applyJournal()
	s.mustHide("2 clients")
}

func TestStatusLagStable(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 120, 24)
	for _, id := range []string{"c6", "c5", "c4", "c3"} {
		s.journal.Ephemeral(protocol.ClientLag, protocol.Client{
			Client: id, By: protocol.Actor{Name: id}, LagEvents: 340,
		})
	}
	s.applyJournal()
	for range 10 {
		s.mustShow("c3 lags 340")
	}
}

func TestSelectedLinkIntact(t *testing.T) {
	s := open(t, tuitest.Scenes["prose"](), 60, 40)
	// The view searches locally.
	s.session.Reply = func(a tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
	for _, keys := range [][]string{{"/"}, {"enter"}, {"space"}, {"esc"}, {"esc"}} {
		if keys[0] == "enter" {
			s.typeText("site example")
		}
		s.press(keys...)
		checkStyles(t, s.m.View().Content)
		s.mustShow("See the site")
		for line := range strings.Lines(s.text()) {
			if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 60 {
				t.Errorf("after %v: got a line of %d cells, want at most 60: %q", keys, n, line)
			}
		}
	}
}

func TestHelpHintAt80Columns(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.mustShow("fix-tests", "· F1 help")
	s.press("f1")
	s.mustShow("Everywhere", "F2, ctrl+s")
	s.press("esc")
	s.typeText("why?")
	s.mustShow("· F1 help")
	s.press("f1")
	s.mustShow("Everywhere")
}

func TestHelpStartsAtFocus(t *testing.T) {
	for focus, want := range map[focus]keymap.Scope{
		onComposer: keymap.Composer, onApproval: keymap.Approval, onQueue: keymap.Queue, onPlan: keymap.Plan,
		onTranscript: keymap.Transcript,
	} {
		s := open(t, tuitest.Scenes["approval"](), 80, 24)
		s.m.setFocus(focus)
		s.press("f1")
		if lines := strings.Split(s.text(), "\n"); strings.TrimSpace(lines[1]) != string(want) {
			t.Errorf("focus %d: got first help line %q, want %q", focus, lines[1], want)
		}
	}
}

func TestTranscriptKeyHints(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 12)
	s.mustHide("enter folds")
	s.m.setFocus(onTranscript)
	s.update(tea.WindowSizeMsg{Width: 80, Height: 12})
	s.mustShow("─ c copy · [ previous turn · ] next turn · / find · esc back")
	s.press("pgup")
	s.mustShow("below · ctrl+end · c copy")
	s.press("K")
	s.mustShow("below · ctrl+end · enter expand/collapse · v view · c copy")
	s.press("esc")
	s.mustHide("enter folds")
	s.mustShow("below · ctrl+end ─")
}

func TestTheLineOfASubAgentOpensItsSession(t *testing.T) {
	s := open(t, tuitest.Scenes["sub-agents"](), 80, 40)
	s.press("shift+tab")
	s.mustHide("open the sub-agent")
	for range 2 {
		s.press("up")
	}
	s.mustShow("v open the sub-agent")
	s.press("v")
	if want := (panel.OpenIntent{Session: "s_c2"}); s.m.asked != want {
		t.Errorf("opens %+v, want %+v", s.m.asked, want)
	}
}
