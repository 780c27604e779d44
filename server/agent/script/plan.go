package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// maxReplans bounds how often a denied plan is made again.
const maxReplans = 20

// A plan is made, confirmed where it asks for that, solved by a crew and summed up.
type plan struct {
	Question  string `json:"plan"` // empty: the message
	Summary   string `json:"summary"`
	Tasks     []task `json:"tasks"`
	Confirm   bool   `json:"confirm"`
	Why       string `json:"explain"`
	Parallel  int    `json:"parallel"`
	Delay     span   `json:"delay"` // until the plan is there
	Aggregate string `json:"aggregate"`
	Else      steps  `json:"else"` // when it is denied

	given bool // by plan.run: it was planned elsewhere
}

// A task says how a task of a plan is done. Its result goes into the aggregate.
type task struct {
	protocol.Task
	Steps  steps  `json:"steps"`
	Result string `json:"result"`
}

func (p *plan) check() error {
	if len(p.Tasks) == 0 {
		return errors.New("tasks: none")
	}
	if p.Parallel < 0 {
		return errors.New("parallel: at least 1")
	}
	seen := map[string]bool{}
	for _, t := range p.Tasks {
		if t.ID == "" || t.Title == "" {
			return errors.New("tasks: each has an id and a title")
		}
		if seen[t.ID] {
			return fmt.Errorf("tasks: %.40q is there twice", t.ID)
		}
		seen[t.ID] = true
	}
	return nil
}

// solving returns the plan that plan.run asks for. Tasks that a plan of the script has are done as that says.
func (s *Script) solving(given *protocol.PlanRunData) *plan {
	p := &plan{Question: given.Question, Summary: given.Summary, given: true}
	for _, part := range s.turns {
		for _, st := range part.steps {
			if of, ok := st.(*plan); ok {
				p.Tasks = append(p.Tasks, of.Tasks...)
			}
		}
	}
	p.Tasks = p.edited(given.Tasks)
	return p
}

// edited returns the tasks to solve: steps and results of known ones are kept.
func (p *plan) edited(tasks []protocol.Task) []task {
	all := make([]task, len(tasks))
	for i, t := range tasks {
		if known := slices.IndexFunc(p.Tasks, func(k task) bool { return k.ID == t.ID }); known >= 0 {
			all[i] = p.Tasks[known]
		}
		all[i].Task = t
	}
	return all
}

func (p *plan) run(ctx context.Context, l *lane) error {
	tasks, ok, err := p.agree(ctx, l)
	if err != nil {
		return err
	}
	if !ok {
		return p.Else.run(ctx, l)
	}
	c := l.crew(tasks, p.Parallel)
	if err := c.solve(ctx); err != nil {
		return err
	}
	var results []string
	for _, j := range c.jobs {
		if j.Status == protocol.StatusCompleted {
			results = append(results, j.Title+": "+j.result)
		}
	}
	if len(results) == 0 {
		return l.tell(ctx, protocol.PlanFailed, protocol.PlanErrorData{
			Message: "no task was completed", Code: protocol.CodeAgentFailed,
		})
	}
	return p.aggregate(ctx, l, results)
}

// agree makes the plan and has it confirmed.
func (p *plan) agree(ctx context.Context, l *lane) (_ []task, ok bool, err error) {
	question := l.fill(p.Question)
	if question == "" {
		question = l.turn.Message.Text
	}
	tasks, summary := p.Tasks, p.Summary
	for try := 0; ; try++ {
		if err := l.tell(ctx, protocol.PlanStarted, protocol.PlanStartedData{Question: question}); err != nil {
			return nil, false, err
		}
		if p.given {
			break
		}
		if err := l.pause(ctx, time.Duration(p.Delay)); err != nil {
			return nil, false, err
		}
		data := protocol.PlanTasksData{Tasks: pending(tasks), Summary: summary}
		if err := l.tell(ctx, protocol.PlanUpdated, data); err != nil {
			return nil, false, err
		}
		if !p.Confirm {
			break
		}
		v, err := l.ask(ctx, protocol.Approval{
			Request: l.request(""), Kind: protocol.ApprovePlan, Title: question, Why: summary, Tasks: pending(tasks),
		}, l.fill(p.Why))
		if err != nil {
			return nil, false, err
		}
		if v.Outcome == protocol.Allowed {
			if v.Input != nil && len(v.Input.Tasks) > 0 {
				tasks = p.edited(v.Input.Tasks)
			}
			break
		}
		if v.Input == nil || !v.Input.Replan || v.Reason == "" || try == maxReplans {
			message := v.Reason
			if message == "" {
				message = "the plan was " + string(v.Outcome)
			}
			return nil, false, l.tell(ctx, protocol.PlanCancelled, protocol.PlanErrorData{Message: message})
		}
		summary = "Planned again: " + v.Reason
	}
	return tasks, true, l.tell(ctx, protocol.PlanCompleted, protocol.PlanTasksData{Tasks: pending(tasks), Summary: summary})
}

func (p *plan) aggregate(ctx context.Context, l *lane, results []string) error {
	if err := l.tell(ctx, protocol.AggregateStarted, protocol.AggregateData{Tasks: len(results)}); err != nil {
		return err
	}
	text := l.fill(p.Aggregate)
	if text == "" {
		text = strings.Join(results, "\n")
	}
	if err := new(speech).speak(ctx, l, protocol.KindText, text); err != nil {
		return err
	}
	data := protocol.AggregateData{Tasks: len(results), Text: text}
	if err := l.tell(ctx, protocol.AggregateCompleted, data); err != nil {
		return err
	}
	return l.tell(ctx, protocol.PipelineCompleted, data)
}

func pending(tasks []task) []protocol.Task {
	all := make([]protocol.Task, len(tasks))
	for i, t := range tasks {
		all[i] = t.Task
		all[i].Status = protocol.StatusPending
	}
	return all
}

// progress tells how far a task is.
type progress struct {
	Text string `json:"progress"`
	Task string `json:"task"` // the one it stands in, unless named
}

func (p *progress) run(ctx context.Context, l *lane) error {
	name := p.Task
	if name == "" {
		name = l.task
	}
	return l.emit(ctx, taskEvent(protocol.TaskProgress, protocol.TaskData{Task: name, Message: l.fill(p.Text)}))
}
