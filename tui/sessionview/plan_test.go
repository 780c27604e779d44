package sessionview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

var planScenes = []goldenScene{
	{
		name:    "pipeline",
		open:    fromScene("pipeline"),
		heights: [3]int{36, 36, 36},
		shows: []string{
			"Which of our tests are flaky?", "• plan list, run, read, su", "1 of 4 done",
			"▸ List the tests 09:41 · 2 lines", "▸ Run each a hundred times 09:41 · 2", "TestStore …",
			"plan · 1 of 4 done · tab", "✓ List the tests 1.2s", "▸ Run each a hundred tim", "running 48s",
			"▸ 讀紀錄 attempt 2 · running 44s", "· Sum up", ">",
		},
		wide: []string{
			"• plan list, run, read, sum up 1 of 4 done",
			"▸ Run each a hundred times: 40 of 212 running 48s",
		},
		status: []string{"◐ running 58s", "fix-tests", "F1 help"},
	},
	{
		name: "interrupted", open: fromScene("cut"), heights: [3]int{36, 36, 36},
		shows: []string{
			"Go on.", "▸ thought · interrupted · 1 line", "⊘ shell sleep 60 interrupted", "waiting",
			"I was about to", "⊘ interrupted", "── interrupted · 12s · 12.3k tokens in · 678 out",
			"And now?", "Now I", "⊘ cut off: the server restarted", "── the server restarted",
			"Once more.", "Done.", "── completed · 12s · 12.3k tokens in · 678 out", ">",
		},
		status: []string{"● idle", "fix-tests", "F1 help"},
	},
}

func TestGoldenPlans(t *testing.T) { testGoldenScenes(t, planScenes) }

func TestPlanItemUpdatesInPlace(t *testing.T) {
	s := open(t, tuitest.Scenes["pipeline"](), 80, 40)
	s.mustShow(
		"• plan list, run, read, sum up",
		"1 of 4 done",
		"✓ List the tests",
		"1.2s",
		"▸ Run each a hundred times: 40 of 212",
		"attempt 2 · running 4",
	)
	s.mustHide("With the race detector.")
	s.mustShow("▸ List the tests 09:41 · 2 lines")
	s.mustHide("in 40 packages.")
	items := s.m.transcript.View.List.Len()
	s.journal.Task("b", protocol.TaskCompleted, protocol.TaskData{Result: "3 are flaky"})
	s.journal.Task("c", protocol.TaskCancelled, protocol.TaskData{})
	s.journal.Add(protocol.AggregateStarted, protocol.AggregateData{Tasks: 2})
	s.applyJournal()
	s.mustShow("2 of 4 done", "⊘ 讀紀錄", "cancelled", "putting the results together")
	if n := s.m.transcript.View.List.Len(); n != items {
		t.Errorf("got %d items, want %d", n, items)
	}
	s.press("tab", "tab", "g", "down", "enter")
	s.mustShow("With the race detector.", "3 are flaky", "212 tests in 40 packages")
	s.journal.Add(protocol.PipelineCompleted, protocol.AggregateData{})
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.applyJournal()
	s.mustHide("putting the results together")
}

func TestTaskItemsNameTask(t *testing.T) {
	s := open(t, tuitest.Scenes["pipeline"](), 80, 40)
	s.journal.Add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "Hm."})
	s.journal.Pending[len(s.journal.Pending)-1].Event.Task = "b"
	s.journal.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "go test"}, "")
	s.journal.Pending[len(s.journal.Pending)-1].Event.Task = "c"
	s.applyJournal()
	s.mustShow("▸ Run each a hundred times · thinking", "◐ 讀紀錄 › shell go test")
}

func TestTaskClock(t *testing.T) {
	s := open(t, tuitest.Scenes["pipeline"](), 80, 40)
	s.now = s.now.Add(10 * time.Minute)
	s.tick()
	s.mustShow("running 10m")
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.applyJournal()
	s.mustHide("running 10m")
	s.mustShow("cut off", "⊘ interrupted")
}

func TestLongPlanShowsRunningTasks(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	var tasks []protocol.Task
	for i := range 60 {
		tasks = append(tasks, protocol.Task{
			ID: fmt.Sprint(i), Title: fmt.Sprint("task number ", i), Status: protocol.StatusPending,
		})
		if i < 30 {
			tasks[i].Status = protocol.StatusCompleted
		}
	}
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: tasks})
	j.CaughtUp()
	s := open(t, j, 80, 40)
	s.mustShow("plan · 30 of 60 done · tab · 29 before · 23 after", "✓ task number 29", "· task number 30")
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.applyJournal()
	s.mustShow("… 26 tasks before", "✓ task number 29", "· task number 30", "… 22 more tasks")
}

func TestTasksListedOnce(t *testing.T) {
	for name, scene := range tuitest.Scenes {
		for _, height := range []int{24, 36, 60} {
			s := open(t, scene(), 100, height)
			twice := func(when string) {
				t.Helper()
				for _, task := range []string{
					"List the tests", "讀紀錄", "Sum up", "Read the imports", "Drop what is unused",
				} {
					n := 0
					for _, line := range strings.Split(s.text(), "\n") {
						for _, mark := range []string{"✓ ", "▸ ", "· ", "✗ ", "⊘ "} {
							if strings.HasPrefix(strings.TrimLeft(line, " "), mark+task) &&
								!strings.Contains(line, " 09:41") {
								n++
							}
						}
					}
					if n > 1 {
						t.Errorf("%s, %d rows, %s: %q %d times, want once:\n%s", name, height, when, task, n, s.text())
					}
				}
			}
			twice("at work")
			s.journal.Turn = "turn-m1"
			s.journal.EndTurn(protocol.ReasonInterrupted)
			s.applyJournal()
			twice("at the end")
		}
	}
}

func TestPlanApprovalListedOnce(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	tasks := []protocol.Task{{ID: "a", Title: "List the tests"}, {ID: "b", Title: "Sum up"}}
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: tasks})
	j.RequestApproval(protocol.Approval{Request: "r1", Kind: protocol.ApprovePlan, Title: "Two tasks", Tasks: tasks})
	j.CaughtUp()
	s := open(t, j, 100, 40)
	if n := strings.Count(s.text(), "List the tests"); n != 1 {
		t.Errorf("got the task %d times, want once:\n%s", n, s.text())
	}
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Allowed,
	})
	s.applyJournal()
	s.mustShow("plan · 0 of 2 done", "· List the tests")
}

// planItem returns the item of the plan.
func (s *testScreen) planItem() transcript.ID {
	list := s.m.transcript.View.List
	for id := list.First(); id <= list.Last(); id++ {
		if _, ok := list.Item(id).(*transcriptview.Checklist); ok {
			return id
		}
	}
	s.t.Fatal("no plan item")
	return 0
}

func TestTasksListedAtAnyScrollPosition(t *testing.T) {
	s := open(t, tuitest.Scenes["pipeline"](), 80, 40)
	list := s.m.transcript.View.List
	plan := s.planItem()
	if n := strings.Count(s.text(), "Sum up"); n != 1 {
		t.Errorf("got the task %d times", n)
	}
	s.mustShow("plan · 1 of 4 done · tab", "▸ Run each a hundred times: 40 of 212", "running 4")
	list.SetCollapsed(plan, false)
	s.tick()
	s.mustShow("With the race detector.") // expanded, the plan shows everything
	list.SetCollapsed(plan, true)
	s.journal.Add(protocol.PlanCancelled, protocol.PlanErrorData{Message: "by ada"})
	s.applyJournal()
	if s.m.Plan() == nil {
		s.mustShow("✓ List the tests", "cancelled: by ada")
	}
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.applyJournal()
	s.mustShow("✓ List the tests", "· Sum up")
}

func TestInterruptedItemsMarked(t *testing.T) {
	s := open(t, tuitest.Scenes["cut"](), 80, 50)
	s.mustShow(
		"thought · interrupted",
		"I was about to\n   ⊘ interrupted",
		"⊘ cut off: the server restarted",
		"── the server restarted",
	)
	if n := strings.Count(s.text(), "⊘"); n != 3 {
		t.Errorf("got %d marked texts", n)
	}
	for _, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "sleep 60") && !strings.HasSuffix(line, " interrupted") {
			t.Errorf("got tool line %q", line)
		}
	}
}
