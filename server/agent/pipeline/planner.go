package pipeline

import (
	"cmp"
	"context"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/agent"
)

const invalidAnswer = "the planner's answer is not a valid plan"

// maxReplans bounds the plans that a user can send back in a turn.
const maxReplans = 20

// A plan is a question with its tasks.
type plan struct {
	question string
	summary  string
	tasks    []protocol.Task
	answer   string // of a planner that needs no tasks
}

// plan returns the plan of the turn: given, or of the planner and confirmed; nil: the turn is over.
func (r *run) plan(ctx context.Context) (*plan, agent.End, error) {
	switch {
	case r.continued:
		return r.continuedPlan(), agent.End{}, nil
	case r.turn.Plan == nil && r.turn.Resumed:
		return nil, agent.End{}, errPlanLost
	case r.turn.Plan != nil:
		p, err := r.givenPlan()
		return p, agent.End{}, err
	}
	started := protocol.PlanStartedData{Question: r.turn.Message.Text}
	if err := r.emit(protocol.PlanStarted, started); err != nil {
		return nil, agent.End{}, err
	}
	name, _, _ := r.agent.options.Config.Roles()
	planner, err := r.openInner(plannerRole, name, protocol.Task{}, "plan", &Limits{}, r.stop)
	if err != nil {
		return nil, agent.End{}, err
	}
	defer planner.close()
	message, err := r.planMessage(ctx)
	if err != nil {
		return nil, agent.End{}, err
	}
	for n := 1; ; n++ {
		p := &plan{question: r.turn.Message.Text}
		err := r.timed(ctx, func(ctx context.Context) error { return r.request(ctx, planner, message, p) })
		if err != nil {
			return nil, agent.End{}, err
		}
		if p.answer != "" {
			return nil, agent.End{}, r.answerDirectly(p)
		}
		decision, err := r.confirm(ctx, p, n)
		switch {
		case err != nil:
			return nil, agent.End{}, err
		case decision.replan != "":
			message = protocol.Message{Text: replanPrompt(decision.replan)}
			if err := r.emit(protocol.PlanStarted, started); err != nil {
				return nil, agent.End{}, err
			}
			continue
		case decision.cancelled != "":
			err := r.emit(protocol.PlanCancelled, protocol.PlanErrorData{Message: decision.cancelled})
			return nil, decision.end, err
		}
		completed := protocol.PlanTasksData{Tasks: p.tasks, Summary: p.summary}
		return p, agent.End{}, r.emit(protocol.PlanCompleted, completed)
	}
}

// givenPlan returns the plan of the message. Tasks that are given as completed and whose results
// are saved are kept.
func (r *run) givenPlan() (*plan, error) {
	given := r.turn.Plan
	p := &plan{
		question: cmp.Or(given.Question, r.turn.Message.Text), summary: given.Summary, tasks: resetTasks(given.Tasks),
	}
	if err := r.emit(protocol.PlanStarted, protocol.PlanStartedData{Question: p.question}); err != nil {
		return nil, err
	}
	if problems := checkTasks(p.tasks, maxTasks); problems != nil {
		return nil, r.invalidPlan(problems, protocol.CodeInvalidMessage)
	}
	r.agent.mu.Lock()
	for i := range p.tasks {
		saved := r.agent.state.find(&p.tasks[i])
		if saved.Status == protocol.StatusCompleted && given.Tasks[i].Status == protocol.StatusCompleted {
			p.tasks[i].Status = protocol.StatusCompleted
		}
	}
	r.agent.mu.Unlock()
	return p, r.emit(protocol.PlanCompleted, protocol.PlanTasksData{Tasks: p.tasks, Summary: p.summary})
}

// request asks the planner for a plan, and again after an invalid one.
func (r *run) request(ctx context.Context, planner *inner, m protocol.Message, p *plan) error {
	c := &r.agent.options.Config
	attempts := cmp.Or(c.Attempts, defaultAttempts)
	for n := 1; ; n++ {
		text, err := planner.prompt(ctx, m, true)
		if err != nil {
			return stageError(plannerRole, err)
		}
		problems := p.parse(text, cmp.Or(c.MaxTasks, defaultTasks))
		if problems == nil {
			return nil
		}
		if n == attempts {
			return r.invalidPlan(problems, protocol.CodeAgentFailed)
		}
		err = r.emit(protocol.PlanInvalid, protocol.PlanErrorData{
			Message: fmt.Sprintf("%s (attempt %d of %d): asking again", invalidAnswer, n, attempts),
			Code:    protocol.CodeAgentFailed, Details: problems,
		})
		if err != nil {
			return err
		}
		m = protocol.Message{Text: invalidPrompt(problems)}
	}
}

// invalidPlan records that the plan is not valid, and returns the error that ends the turn.
func (r *run) invalidPlan(problems []string, code protocol.Code) error {
	message := "the tasks of the plan are not valid"
	if r.turn.Plan == nil {
		message = invalidAnswer
	}
	err := r.emit(protocol.PlanInvalid, protocol.PlanErrorData{Message: message, Code: code, Details: problems})
	if err != nil {
		return err
	}
	return protocol.Errorf(code, "%s: %s", message, problems[0])
}

// answerDirectly ends the turn with the answer of a planner that needs no tasks.
func (r *run) answerDirectly(p *plan) error {
	if err := r.emit(protocol.PlanCompleted, protocol.PlanTasksData{Summary: p.summary}); err != nil {
		return err
	}
	part := r.turn.ID + "/answer"
	if err := r.emit(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: p.answer}); err != nil {
		return err
	}
	return r.emit(protocol.TextEnd, protocol.PartEndData{Part: part})
}

// A planDecision is the decision of the user about a plan; the zero value confirms it.
type planDecision struct {
	replan    string // the reason for which another plan is wanted
	cancelled string // reason for no plan
	end       agent.End
}

// confirm asks the user about a plan, unless plans are not confirmed. Edited tasks replace the
// plan's tasks. If they are invalid, it asks again.
func (r *run) confirm(ctx context.Context, p *plan, number int) (planDecision, error) {
	if !r.agent.confirms() {
		return planDecision{}, nil
	}
	title := "Plan: " + cmp.Or(p.summary, p.question)
	why := ""
	for try := 1; ; try++ {
		err := r.emit(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: p.tasks, Summary: p.summary})
		if err != nil {
			return planDecision{}, err
		}
		v, err := r.out.Ask(ctx, protocol.Approval{
			Request: fmt.Sprintf("%s/plan/%d.%d", r.turn.ID, number, try), Kind: protocol.ApprovePlan,
			Title: shorten(title, 200), Why: why, Tasks: p.tasks,
		})
		switch {
		case ctx.Err() != nil:
			return planDecision{}, context.Cause(ctx)
		case err != nil:
			return planDecision{}, err
		case v.Outcome != protocol.Allowed:
			return refusal(&v, number), nil
		case v.Input == nil || len(v.Input.Tasks) == 0:
			return planDecision{}, nil
		}
		problems := p.edit(v.Input.Tasks)
		if problems == nil {
			return planDecision{}, nil
		}
		err = r.emit(protocol.PlanInvalid, protocol.PlanErrorData{
			Message: "the edited tasks are not valid", Code: protocol.CodeInvalidMessage, Details: problems,
		})
		if err != nil {
			return planDecision{}, err
		}
		why = "The edited tasks are not valid: " + problems[0]
	}
}

// refusal returns the decision for a plan that was not allowed.
func refusal(v *agent.Verdict, number int) planDecision {
	switch {
	case v.Decision == protocol.DenyStop:
		return planDecision{
			cancelled: cmp.Or(v.Reason, "the plan was denied"), end: agent.End{Reason: protocol.ReasonDenied},
		}
	case v.Input != nil && v.Input.Replan && v.Reason != "" && number <= maxReplans:
		return planDecision{replan: v.Reason}
	case v.Outcome == protocol.Expired:
		return planDecision{cancelled: "no user decided about the plan in time"}
	}
	return planDecision{cancelled: cmp.Or(v.Reason, "the plan was "+string(v.Outcome))}
}
