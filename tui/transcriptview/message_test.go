package transcriptview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestProseIsAtMost100ColumnsWide(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", strings.Repeat("question ", 60))
	j.Text("t1", strings.Repeat("answer ", 60)+"\n\n```\n"+strings.Repeat("x", 150)+"\n```\n")
	j.CaughtUp()
	s := open(t, j, 200, 40)
	for line := range strings.Lines(s.text()) {
		prose := strings.Contains(line, "question") || strings.Contains(line, "answer")
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); prose && n > 103 {
			t.Errorf("a line of prose ends at column %d: %q", n, line)
		}
	}
	s.mustShow(strings.Repeat("x", 150))
}

// A turn that an agent began itself shows the files of its message, also without a text.
func TestWorkWithFilesAlone(t *testing.T) {
	j := tuitest.NewJournal()
	j.Add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
		MessageID: "m1", Work: true, Parts: []protocol.Part{{Type: "file", Text: "x", Name: "b.go"}},
	}})
	j.CaughtUp()
	open(t, j, 80, 10).mustShow("b.go")
}

func TestConsecutiveNotesSpacing(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go on")
	j.Add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: "slow"})
	j.Add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: "slower"})
	j.Text("t1", "here I am")
	j.Add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: "careful"})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	open(t, j, 60, 30).mustShow(
		"\n\n   ! slow\n   ! slower\n\n",
		"here I am\n\n   ! careful\n\n   ── completed",
	)
}

func TestMessageWithoutAuthor(t *testing.T) {
	j := tuitest.NewJournal()
	j.Turn = "turn-1"
	j.Add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{Text: "what is it?"}})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.mustShow(" user 09:41", "what is it?")
	s.mustHide(" you 09:41")
}

func TestTaskTextShowsTitle(t *testing.T) {
	j := tuitest.Conversation()
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "t9", Title: "Read the imports"}}})
	j.Text("p9", "nothing here yet")
	j.Pending[len(j.Pending)-2].Event.Task = "t9"
	j.CaughtUp()
	s := open(t, j, 80, 40)
	s.mustShow("Read the imports 09:41")
}

// Retries that follow each other are one row, which counts down.
func TestARetryCountsDownOnOneRow(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go on")
	retry := func(attempt int) {
		j.Add(protocol.RetryScheduled, protocol.RetryData{Attempt: attempt, Limit: 5, DelayMS: 20_000, Cause: "overloaded"})
	}
	s := open(t, j, 60, 30)
	now := tuitest.Start
	s.view.styles.Now = func() time.Time { return now }
	for attempt := 1; attempt <= 3; attempt++ {
		retry(attempt)
		s.applyJournal()
		now = j.At
		s.view.Tick()
		s.mustShow(fmt.Sprintf("↻ retry %d of 5 in 20s: overloaded", attempt))
	}
	s.mustHide("retry 1")
	s.mustHide("retry 2")
	now = now.Add(8 * time.Second)
	s.view.Tick()
	s.mustShow("↻ retry 3 of 5 in 12s: overloaded")
	j.Text("t1", "here I am")
	s.applyJournal()
	now = now.Add(12 * time.Second)
	s.view.Tick()
	s.mustShow("↻ retry 3 of 5: overloaded")
	retry(1)
	s.applyJournal()
	s.mustShow("↻ retry 3 of 5: overloaded", "↻ retry 1 of 5 in")
}
