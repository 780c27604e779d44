package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
	"agentctl/server/policy"
)

const maxParallel = 8 // calls at the same time

// Texts for the model about calls that were not run, or not to the end.
const (
	deniedText  = "The user denied this call."
	deniedRule  = " Do not reach the same in another way."
	expiredText = "The call was not run: no user decided in time."
	unknownText = "The server stopped while this call ran. It is not known whether it took effect. It was not " +
		"repeated: check the state before you go on."
	voidText = "The call was not run: what it changes is not as it was when the user was asked. Read it again before " +
		"you call again."
	stoppedText = "The call was not run: the user stopped the turn."
)

// errDenyStop ends the turn: the user denied a call and stopped.
var errDenyStop = errors.New("denied and stopped")

// runCalls runs the calls of the last message that have no result. over: the turn ends.
func (t *turnRun) runCalls(ctx context.Context) (end agent.End, over bool, err error) {
	t.agent.mu.Lock()
	calls := slices.Clone(t.agent.state.Turn.Calls)
	t.agent.mu.Unlock()
	if len(calls) == 0 {
		return end, false, nil
	}
	for i := 0; i < len(calls) && err == nil && ctx.Err() == nil; {
		n := t.parallel(calls[i:])
		err = t.runGroup(ctx, i, calls[i:i+n])
		i += n
	}
	denied, stopped := errors.AsType[*deniedError](err)
	switch {
	case stopped:
		err = t.agent.update(t.out, func(s *state) { s.finishCalls(stoppedText) })
		return agent.End{Reason: protocol.ReasonDenied, Message: denied.reason}, true, err
	case err != nil:
		return end, false, err
	case ctx.Err() != nil:
		return end, false, ctx.Err()
	}
	return end, false, t.agent.update(t.out, func(s *state) { s.finishCalls(notRun) })
}

// deniedError is errDenyStop with the reason of the user.
type deniedError struct{ reason string }

func (e *deniedError) Error() string { return e.reason }
func (e *deniedError) Unwrap() error { return errDenyStop }

// parallel returns how many of the calls run together: reads, or one other call.
func (t *turnRun) parallel(calls []callState) int {
	n := 0
	for n < len(calls) && n < maxParallel && t.tools.named(calls[n].Call.Name).Parallel {
		n++
	}
	return max(1, n)
}

// runGroup runs calls at the same time and returns the first error.
func (t *turnRun) runGroup(ctx context.Context, first int, calls []callState) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(calls))
	var group sync.WaitGroup
	for i := range calls {
		if calls[i].Result != nil {
			continue
		}
		group.Go(func() {
			if errs[i] = t.runCall(ctx, first+i, &calls[i]); errs[i] != nil {
				cancel()
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if errors.Is(err, errDenyStop) {
			return err
		}
	}
	return errors.Join(errs...)
}

// runCall runs one call and records its result.
func (t *turnRun) runCall(ctx context.Context, i int, c *callState) error {
	began := time.Now()
	result, err := t.call(ctx, i, c)
	if err != nil && !errors.Is(err, errDenyStop) {
		return err
	}
	end := protocol.ToolEndedData{
		Tool: c.Tool, Status: result.status, Output: result.Output, Error: result.failure, ExitCode: result.ExitCode,
		DurationMS: time.Since(began).Milliseconds(),
	}
	if len(result.Content) > 0 {
		err := t.emit(protocol.ToolOutput, protocol.ToolOutputData{Tool: c.Tool, Content: result.Content})
		if err != nil {
			return err
		}
	}
	if err := t.emitSteps(result.Tasks); err != nil {
		return err
	}
	var left []string
	r := &model.Result{
		ID: c.Call.ID, Name: c.Call.Name, Text: result.Text, Files: result.Files,
		Error: result.status != protocol.ToolCompleted,
	}
	r, _ = editResult(r, fitImages(context.WithoutCancel(ctx), &left)) // also of a call that was stopped
	failed := t.agent.record(t.out, agent.Event{Type: protocol.ToolEnded, Data: end}, func(s *state) {
		changed := isChange(t.tools.named(c.Call.Name).Kind)
		s.touch(result.files, changed)
		s.see(result.Seen)
		if most := t.agent.measure(s, t.toolbox).resultRoom(t.backend); most > 0 {
			r.Text = compaction.Cut(r.Text, most)
		}
		if s.Turn.Recent.add(s.Turn.Requests, &c.Call, r, changed) >= toldRepeats {
			r.Text += repeatedNote
		}
		s.Turn.Calls[i].Result = r
	})
	if failed == nil {
		failed = t.reportLeft(left)
	}
	return errors.Join(err, failed)
}

// A callResult is the result of a call with its status.
type callResult struct {
	ToolResult
	status  protocol.ToolStatus
	failure string              // for people
	files   []protocol.Location // of a call that ran
}

// refused returns the result of a call that was not run.
func refused(status protocol.ToolStatus, format string, args ...any) callResult {
	text := fmt.Sprintf(format, args...)
	return callResult{ToolResult: ToolResult{Text: text}, status: status, failure: text}
}

// forbidden returns the result of a call that users or the policy denied. It adds a rule for the
// model.
func forbidden(text string) callResult {
	r := refused(protocol.ToolDenied, "%s", text)
	r.Text += deniedRule
	return r
}

// call checks a call, asks if it must, and runs it. An error ends the turn.
func (t *turnRun) call(ctx context.Context, i int, c *callState) (callResult, error) {
	if c.Started {
		t.withdrawQuestions(ctx, c)
		return refused(protocol.ToolUnknown, unknownText), t.endBelow(ctx, c)
	}
	tool, known := t.tools[c.Call.Name]
	switch {
	case !known:
		return refused(protocol.ToolFailed, "There is no tool %q. The tools are %s.", c.Call.Name, t.tools.names()), nil
	case c.Call.Invalid:
		return refused(protocol.ToolFailed, "The arguments are not a JSON object. Call the tool again."), nil
	}
	call := &ToolCall{ID: c.Tool, Turn: t.turn.ID, Input: c.Call.Input, out: t.out}
	preview, err := tool.Preview(ctx, call)
	if err != nil {
		if c.Basis != "" { // users were asked before a restart
			t.withdrawRequest(ctx, c.Tool)
		}
		return t.failed(ctx, ToolResult{}, err)
	}
	started := protocol.ToolStartedData{
		Tool: c.Tool, Name: c.Call.Name, Kind: tool.Kind, Title: preview.Title, Input: call.Input,
		Locations: preview.Locations,
	}
	if err := t.emit(protocol.ToolStarted, started); err != nil {
		return callResult{}, err
	}
	denied, err := t.judge(ctx, i, &tool, call, &preview)
	if err != nil || denied.status != "" {
		return denied, err
	}
	if err := t.agent.update(t.out, func(s *state) { s.Turn.Calls[i].Started = true }); err != nil {
		return callResult{}, err
	}
	if !tool.Parallel { // a killed server would run it again
		if err := t.agent.host.Sync(ctx); err != nil {
			return callResult{}, err
		}
	}
	call.Asking = t.asker(i, call)
	result, err := preview.Run(ctx, func(text string) {
		// It fails when the turn is over.
		_ = t.emit(protocol.ToolOutput, protocol.ToolOutputData{Tool: c.Tool, Text: text})
	})
	result.Text = call.described() + result.Text
	if err != nil {
		return t.failed(ctx, result, err)
	}
	status := protocol.ToolCompleted
	if result.Failed {
		status = protocol.ToolFailed
	}
	return callResult{ToolResult: result, status: status, files: preview.Locations}, nil
}

// failed returns the result of a call that failed or was interrupted.
func (t *turnRun) failed(ctx context.Context, r ToolResult, err error) (callResult, error) {
	status := protocol.ToolFailed
	text := err.Error()
	if ctx.Err() != nil {
		status, text = protocol.ToolCancelled, "The user interrupted the call."
	}
	if errors.Is(err, errDenyStop) { // of a call of a task
		return refused(protocol.ToolDenied, "%s", deniedText), err
	}
	r.Text = strings.TrimSpace(r.Text + "\n\n" + text)
	return callResult{ToolResult: r, status: status, failure: text}, nil
}

// judge returns the result of the call with an index if it is denied; with an empty status it may
// run.
func (t *turnRun) judge(ctx context.Context, i int, tool *Tool, c *ToolCall, p *Preview) (callResult, error) {
	judged := policy.Call{
		Kind: tool.Kind, Safe: p.Safe, Contained: p.Contained, Plan: p.Request.Kind == protocol.ApprovePlan,
		Question: p.Request.Kind == protocol.ApproveQuestion,
	}
	ruling := t.agent.policy().Judge(judged)
	if ruling.Action != policy.Allow && p.Confined {
		judged.Confined = true
		confined := t.agent.policy().Judge(judged)
		if c.Confined = confined.Action == policy.Allow; c.Confined {
			ruling = confined
		}
	}
	switch ruling.Action {
	case policy.Refuse:
		reason := strings.TrimSpace("The policy denies this call. " + ruling.Reason)
		return forbidden(reason), nil
	case policy.Allow:
		return callResult{}, nil
	}
	a := p.Request
	a.Request, a.Tool, a.Name = c.ID, c.ID, tool.Name
	if a.Kind == "" {
		a.Kind = protocol.ApproveTool
	}
	switch a.Kind {
	case protocol.ApprovePatch, protocol.ApprovePlan, protocol.ApproveQuestion: // they show all arguments
	default:
		a.Input = c.Input
	}
	if a.Title == "" {
		a.Title = p.Title
	}
	if a.Content == nil {
		a.Content = p.Content
	}
	if void, err := t.isVoid(i, p.Basis); void || err != nil {
		t.withdrawRequest(ctx, a.Request)
		return refused(protocol.ToolFailed, voidText), err
	}
	v, err := t.out.Ask(ctx, a)
	if err != nil {
		return callResult{}, err
	}
	if v.Outcome == protocol.Allowed {
		c.Edits = editsOf(&a, v.Input)
	}
	if a.Kind == protocol.ApproveQuestion && v.Outcome == protocol.Denied && v.Decision != protocol.DenyStop {
		return refused(protocol.ToolDenied, "%s %s", skippedText, v.Reason), nil
	}
	return t.denial(ctx, v)
}

// denial returns the result of a call that users did not allow.
func (t *turnRun) denial(ctx context.Context, v agent.Verdict) (callResult, error) {
	reason := ""
	if v.Reason != "" {
		reason = " Reason: " + v.Reason
		if !strings.HasSuffix(reason, ".") && !strings.HasSuffix(reason, "!") && !strings.HasSuffix(reason, "?") {
			reason += "."
		}
	}
	switch {
	case v.Outcome == protocol.Allowed:
		return callResult{}, nil
	case v.Decision == protocol.DenyStop:
		return refused(protocol.ToolDenied, "%s%s", deniedText, reason), &deniedError{v.Reason}
	case v.Outcome == protocol.Expired:
		return refused(protocol.ToolDenied, expiredText), nil
	case v.Outcome == protocol.Cancelled:
		if err := ctx.Err(); err != nil {
			return callResult{}, err
		}
		return callResult{}, context.Canceled
	}
	return forbidden(deniedText + reason), nil
}

// Texts for the model about edits by the user.
const (
	editedPatch   = "The user edited the patch before it was applied. Applied was:\n"
	editedCommand = "The user edited the command before it ran. Run was:\n"
)

// editsOf returns the changes of a request by an answer.
func editsOf(a *protocol.Approval, in *protocol.ApprovalInput) (e Edits) {
	if in == nil {
		return e
	}
	e.Answers = in.Answers
	if e.Tasks = in.Tasks; in.Patch != a.Patch {
		e.Patch = in.Patch
	}
	if in.Command != a.Command {
		e.Command = in.Command
	}
	return e
}

// described describes the edits to the model; empty: no edits.
func (e *Edits) described() string {
	switch {
	case e.Patch != "":
		return editedPatch + e.Patch + "\n\n"
	case e.Command != "":
		return editedCommand + e.Command + "\n\n"
	}
	return ""
}
