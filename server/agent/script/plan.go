package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// maxReplans is the maximum number of new plans after denials.
const maxReplans = 20

// A plan step makes a plan, has it confirmed if required, solves the tasks, aggregates the results.
type plan struct {
	Question  string     `json:"plan"` // default: the message
	Summary   string     `json:"summary"`
	Tasks     []taskSpec `json:"tasks"`
	Confirm   bool       `json:"confirm"`
	Why       string     `json:"explain"`
	Parallel  int        `json:"parallel"`
	Delay     duration   `json:"delay"` // before the plan is complete
	Aggregate string     `json:"aggregate"`
	Else      steps      `json:"else"` // after a denial

	planned bool // the tasks come from plan.run
}

// A taskSpec describes a task of a plan. The aggregate includes its result.
type taskSpec struct {
	protocol.Task
	Steps  steps  `json:"steps"`
	Result string `json:"result"`
}

func (p *plan) check() error {
	if len(p.Tasks) == 0 {
		return errors.New("tasks: at least one is required")
	}
	if p.Parallel < 0 {
		return errors.New("parallel: must be at least 1")
	}
	seen := map[string]bool{}
	for _, t := range p.Tasks {
		if t.ID == "" || t.Title == "" {
			return errors.New("tasks: id and title are required")
		}
		if seen[t.ID] {
			return fmt.Errorf("tasks: duplicate id %.40q", t.ID)
		}
		seen[t.ID] = true
	}
	return nil
}

// planFor returns the plan of plan.run. A task with the id of one in the script gets its steps.
func (s *Script) planFor(given *protocol.PlanRunData) *plan {
	p := &plan{Question: given.Question, Summary: given.Summary, planned: true}
	for _, part := range s.sections {
		for _, st := range part.steps {
			if of, ok := st.(*plan); ok {
				p.Tasks = append(p.Tasks, of.Tasks...)
			}
		}
	}
	p.Tasks = p.mergeTasks(given.Tasks)
	return p
}

// mergeTasks returns the given tasks with the steps and results of the plan.
func (p *plan) mergeTasks(tasks []protocol.Task) []taskSpec {
	all := make([]taskSpec, len(tasks))
	for i, t := range tasks {
		if known := slices.IndexFunc(p.Tasks, func(k taskSpec) bool { return k.ID == t.ID }); known >= 0 {
			all[i] = p.Tasks[known]
		}
		all[i].Task = t
	}
	return all
}

func (p *plan) run(ctx context.Context, r *runner) error {
	tasks, ok, err := p.propose(ctx, r)
	if err != nil {
		return err
	}
	if !ok {
		return p.Else.run(ctx, r)
	}
	s := r.newScheduler(tasks, p.Parallel)
	if err := s.solve(ctx); err != nil {
		return err
	}
	var results []string
	for _, t := range s.tasks {
		if t.Status == protocol.StatusCompleted {
			results = append(results, t.Title+": "+t.result)
		}
	}
	if len(results) == 0 {
		return r.emitData(ctx, protocol.PlanFailed, protocol.PlanErrorData{
			Message: "no task was completed", Code: protocol.CodeAgentFailed,
		})
	}
	return p.aggregate(ctx, r, results)
}

// propose emits the plan and asks for confirmation if required.
func (p *plan) propose(ctx context.Context, r *runner) (_ []taskSpec, ok bool, err error) {
	question := cmp.Or(r.expand(p.Question), r.turn.Message.Text)
	tasks, summary := p.Tasks, p.Summary
	for try := 0; ; try++ {
		if err := r.emitData(ctx, protocol.PlanStarted, protocol.PlanStartedData{Question: question}); err != nil {
			return nil, false, err
		}
		if p.planned {
			break
		}
		if err := r.sleep(ctx, time.Duration(p.Delay)); err != nil {
			return nil, false, err
		}
		data := protocol.PlanTasksData{Tasks: pendingTasks(tasks), Summary: summary}
		if err := r.emitData(ctx, protocol.PlanUpdated, data); err != nil {
			return nil, false, err
		}
		if !p.Confirm {
			break
		}
		v, err := r.ask(ctx, protocol.Approval{
			Request: r.approvalID(""), Kind: protocol.ApprovePlan, Title: question, Why: summary,
			Tasks: pendingTasks(tasks),
		}, r.expand(p.Why))
		if err != nil {
			return nil, false, err
		}
		if v.Outcome == protocol.Allowed {
			if v.Input != nil && len(v.Input.Tasks) > 0 {
				tasks = p.mergeTasks(v.Input.Tasks)
			}
			break
		}
		if v.Input == nil || !v.Input.Replan || v.Reason == "" || try == maxReplans {
			message := cmp.Or(v.Reason, "the plan was "+string(v.Outcome))
			return nil, false, r.emitData(ctx, protocol.PlanCancelled, protocol.PlanErrorData{Message: message})
		}
		summary = "Planned again: " + v.Reason
	}
	data := protocol.PlanTasksData{Tasks: pendingTasks(tasks), Summary: summary}
	return tasks, true, r.emitData(ctx, protocol.PlanCompleted, data)
}

func (p *plan) aggregate(ctx context.Context, r *runner, results []string) error {
	if err := r.emitData(ctx, protocol.AggregateStarted, protocol.AggregateData{Tasks: len(results)}); err != nil {
		return err
	}
	text := cmp.Or(r.expand(p.Aggregate), strings.Join(results, "\n"))
	if err := new(textOptions).streamText(ctx, r, protocol.KindText, text); err != nil {
		return err
	}
	data := protocol.AggregateData{Tasks: len(results), Text: text}
	if err := r.emitData(ctx, protocol.AggregateCompleted, data); err != nil {
		return err
	}
	return r.emitData(ctx, protocol.PipelineCompleted, data)
}

func pendingTasks(tasks []taskSpec) []protocol.Task {
	all := make([]protocol.Task, len(tasks))
	for i, t := range tasks {
		all[i] = t.Task
		all[i].Status = protocol.StatusPending
	}
	return all
}

type progress struct {
	Text string `json:"progress"`
	Task string `json:"task"` // default: the enclosing task
}

func (p *progress) run(ctx context.Context, r *runner) error {
	d := protocol.TaskData{Task: cmp.Or(p.Task, r.task), Message: r.expand(p.Text)}
	return r.emit(ctx, taskEvent(protocol.TaskProgress, d))
}
