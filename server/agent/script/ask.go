package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// An ask requests a decision and runs the steps for it.
type ask struct {
	Of string `json:"ask"`
	protocol.Approval
	Because string           `json:"explain"` // answer to explain
	When    map[string]steps `json:"when"`    // by option, decision or outcome; the most specific wins
	Then    steps            `json:"then"`    // after approval
	Else    steps            `json:"else"`    // after denial, expiry or cancellation
}

func (a *ask) check() error {
	switch a.Of {
	case protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApproveTool, protocol.ApprovePlan,
		protocol.ApproveQuestion:
	default:
		return fmt.Errorf("unknown approval kind %.40q", a.Of)
	}
	if a.Kind != "" || a.Turn != "" || a.Explained != nil || !a.Asked.IsZero() || a.Expires != nil {
		return errors.New("kind, turn, asked, explained and expires cannot be set")
	}
	return nil
}

func (a *ask) run(ctx context.Context, r *runner) error {
	req := a.Approval
	req.Kind = a.Of
	req.Request = r.approvalID(a.Request)
	req.Title, req.Command = r.expand(a.Title), r.expand(a.Command)
	v, err := r.ask(ctx, req, r.expand(a.Because))
	if err != nil {
		return err
	}
	for _, key := range []string{v.Option, string(v.Decision), string(v.Outcome)} {
		if branch, ok := a.When[key]; ok && key != "" {
			return branch.run(ctx, r)
		}
	}
	if v.Outcome == protocol.Allowed {
		return a.Then.run(ctx, r)
	}
	return a.Else.run(ctx, r)
}

// ask waits for a decision. An error means that the turn has ended, by deny_stop or otherwise.
func (r *runner) ask(ctx context.Context, req protocol.Approval, why string) (agent.Verdict, error) {
	req.Task = cmp.Or(req.Task, r.task)
	r.agent.setExplanation(req.Request, why)
	defer r.agent.setExplanation(req.Request, "")
	v, err := r.out.Ask(ctx, req)
	switch {
	case err != nil:
		return v, err
	case v.Decision == protocol.DenyStop:
		return v, endError{Reason: protocol.ReasonDenied, Message: v.Reason}
	case v.Outcome == protocol.Cancelled:
		if err := ctx.Err(); err != nil {
			return v, err
		}
		return v, endError{Reason: protocol.ReasonInterrupted}
	}
	r.verdict = v
	return v, nil
}

func joinAnswers(answers map[string][]string) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		all = append(all, answers[id]...)
	}
	return strings.Join(all, ", ")
}

func joinTitles(tasks []protocol.Task) string {
	var all []string
	for _, t := range tasks {
		all = append(all, t.Title)
	}
	return strings.Join(all, ", ")
}
