package script

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentctl/server/agent"
)

// A runner runs the steps of a turn, or of one attempt at a task, in order on one goroutine.
type runner struct {
	*turnRun
	key  string // "" for the steps of the turn
	task string

	skip, done int // events left to skip; events emitted or skipped
	partCount  int // ids assigned
	toolCount  int
	askCount   int
	verdict    agent.Verdict // of the last ask
}

// emit emits an event and changes the state, unless the event was emitted before a restart.
func (r *runner) emit(ctx context.Context, e agent.Event, apply ...func(*agentState)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.skip > 0 {
		r.skip--
		return nil
	}
	e.Task = cmp.Or(e.Task, r.task)
	r.done++
	return r.agent.record(r, func(state []byte) error {
		e.Save = state
		return r.out.Emit(e)
	}, append(apply, func(s *agentState) { s.count(&e) })...)
}

// sleep waits for d. It does not wait before a skipped event.
func (r *runner) sleep(ctx context.Context, d time.Duration) error {
	if r.skip > 0 || d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// partID returns the part id of the script, or the next one of this runner.
func (r *runner) partID(id string) string {
	if id != "" {
		return r.expand(id)
	}
	r.partCount++
	return r.prefix() + "p" + strconv.Itoa(r.partCount)
}

// toolID returns the tool id of the script, or the next one of this runner, unique in the session.
func (r *runner) toolID(id string) string { return r.sessionID(id, "t", &r.toolCount) }

// approvalID is toolID for a request.
func (r *runner) approvalID(id string) string { return r.sessionID(id, "a", &r.askCount) }

func (r *runner) sessionID(id, kind string, count *int) string {
	if id != "" {
		return r.expand(id)
	}
	*count++
	return fmt.Sprintf("%s.%s%s%d", r.turn.ID, r.prefix(), kind, *count)
}

func (r *runner) prefix() string {
	if r.key == "" {
		return ""
	}
	return r.key + "."
}

// expand replaces the variables in a text.
func (r *runner) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	v := &r.verdict
	var patch, by, answers, titles string
	if in := v.Input; in != nil {
		patch, answers, titles = in.Patch, joinAnswers(in.Answers), joinTitles(in.Tasks)
	}
	if v.By != nil {
		by = v.By.Name
	}
	r.agent.mu.Lock()
	steered := ""
	if t := r.agent.state.Turn; t != nil {
		steered = t.Steered
	}
	r.agent.mu.Unlock()
	pairs := []string{
		"{message}", r.turn.Message.Text, "{n}", strconv.Itoa(r.number), "{turn}", r.turn.ID,
		"{outcome}", string(v.Outcome), "{decision}", string(v.Decision), "{option}", v.Option, "{reason}", v.Reason,
		"{by}", by, "{steered}", steered, "{patch}", patch, "{answers}", answers, "{tasks}", titles,
	}
	for _, s := range r.agent.settings() {
		pairs = append(pairs, "{"+s.ID+"}", s.Value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
