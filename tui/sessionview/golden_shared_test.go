package sessionview

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// importedSession is a session whose past was imported from a file, with one new turn.
func importedSession() *tuitest.Journal {
	j := tuitest.NewJournal()
	j.Add(protocol.Notice, protocol.NoticeData{
		Level:   protocol.LevelInfo,
		Message: "imported 3 turns of the log of session s1; its authors, times and decisions are as told in it",
	})
	j.UserMessage(protocol.Actor{Name: "bob (imported)"}, "m1", "Find the flaky test.")
	j.Text("p1", "It is `TestWorkers`.")
	j.EndTurn(protocol.ReasonCompleted)
	j.UserMessage(tuitest.Ada, "m2", "Fix it here.")
	j.Text("p2", "Fixed: the counter is read under its lock.")
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

// manyReaders opens a session that two others have open too.
func manyReaders(t *testing.T, width, height int) *testScreen {
	j := tuitest.NewJournal()
	for _, text := range []string{"one", "two", "three"} {
		j.UserMessage(tuitest.Ada, "m"+text, text)
		j.Text("p"+text, strings.Repeat(text+"\n\n", 30))
		j.EndTurn(protocol.ReasonCompleted)
	}
	j.CaughtUp()
	s := open(t, j, width, 24)
	eve := protocol.Actor{Name: "eve"}
	s.journal.Ephemeral(protocol.ClientAttached, protocol.Client{Client: "c3", By: eve})
	s.applyJournal()
	s.update(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// agentStarts has an agent that starts.
func agentStarts(t *testing.T, width, height int) *testScreen {
	j := tuitest.NewJournal()
	j.CaughtUp()
	s := open(t, j, width, height)
	since := s.now.Add(-12 * time.Second)
	step := since.Add(4 * time.Second)
	s.journal.Ephemeral(protocol.AgentProcessChanged, protocol.AgentProcess{
		Phase: protocol.ProcessStarting, Since: &since, Step: protocol.StepSession, StepAt: &step,
	})
	s.applyJournal()
	return s
}

// clickedChoice clicks on a choice of a request.
func clickedChoice(t *testing.T, width, height int) *testScreen {
	s := open(t, tuitest.Scenes["approval"](), width, height)
	s.waitGrace()
	s.click("3 Deny", 0)
	s.click("1 Allow once", 0)
	s.waitGrace()
	return s
}

// scheduledMessages has the focus on a scheduled message.
func scheduledMessages(t *testing.T, width, height int) *testScreen {
	s := openScheduled(t, tuitest.Bob, width)
	s.update(tea.WindowSizeMsg{Width: width, Height: height})
	s.now = scheduledAt.Add(-time.Hour)
	return s
}

// askedToFork pressed esc twice.
func askedToFork(t *testing.T, width, height int) *testScreen {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "fix the parser")
	j.Text("p1", "answer")
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	j.Add(protocol.AgentOptions, protocol.Options{Features: []string{protocol.FeatureFork}})
	s := open(t, j, width, height)
	s.m.Sessions, s.m.input.Sessions = true, true
	s.press("esc", "esc")
	return s
}

// sharedScenes show sessions that several users read, or that have their past from another.
var sharedScenes = []goldenScene{
	{
		name: "people", heights: screenHeights,
		open: func(t *testing.T, width, height int) *testScreen {
			s := manyReaders(t, width, height)
			s.press("alt+p")
			return s
		},
		shows: []string{"people 3", "● ada (you)", "● bob", "● eve"},
	},
	{
		name: "agent_starts", heights: screenHeights, open: agentStarts,
		shows: []string{"◌ the agent starts: session 8s"},
	},
	{
		name: "clicked_choice", heights: screenHeights, open: clickedChoice,
		shows: []string{"command ▏ go mod tidy", "▸ 1 Allow once", "2 Always allow"},
	},
	{
		name: "imported", heights: [3]int{32, 24, 60}, open: fromJournal(importedSession),
		shows: []string{
			"imported 3 turns of the log", "bob (imported) 09:41", "Find the flaky test.", "Fix it here.",
			"under its lock",
		},
		status: []string{"idle"},
	},
	{
		name: "scheduled", heights: screenHeights, open: scheduledMessages,
		shows: []string{"queue · 1 message · 1 scheduled", "1 one", "▸ ◷ update", "2026-03-02 07:30"},
	},
	{
		name: "fork", heights: screenHeights, open: askedToFork,
		shows: []string{"fix the parser", "edit your last message here", "▸ Edit here"},
	},
}

func TestGoldenSharedSessions(t *testing.T) { testGoldenScenes(t, sharedScenes) }
