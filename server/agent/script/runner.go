package script

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"agentctl/server/session"
)

// A round is one turn being played.
type turnRun struct {
	agent  *agent
	turn   session.Turn
	out    session.Output
	number int          // the message's number
	prior  turnProgress // what was done before a restart
}

// A lane is a sequence of steps that one goroutine plays: the turn's own, or a task's attempt.
type runner struct {
	*turnRun
	key  string // "" for the turn's own
	task string

	skip, done int // events to pass over, events emitted or passed over
	partCount  int // ids given
	toolCount  int
	askCount   int
	verdict    session.Verdict // of the last ask
}

func (t *turnRun) newRunner(key, task string, done int) *runner {
	return &runner{turnRun: t, key: key, task: task, skip: done, done: done}
}

// emit appends an event, unless it was emitted before a restart. Then apply notes with it what else it changes.
func (r *runner) emit(ctx context.Context, e session.Event, apply ...func(*agentState)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.skip > 0 {
		r.skip--
		return nil
	}
	if e.Task == "" {
		e.Task = r.task
	}
	r.done++
	return r.agent.record(r, e, append(apply, func(s *agentState) { s.count(&e) })...)
}

// A beat is an event and the delay before it.
type timedEvent struct {
	delay time.Duration
	event session.Event
}

func (r *runner) emitTimed(ctx context.Context, e timedEvent) error {
	if err := r.sleep(ctx, e.delay); err != nil {
		return err
	}
	return r.emit(ctx, e.event)
}

func (r *runner) emitAll(ctx context.Context, events iter.Seq[timedEvent]) error {
	for e := range events {
		if err := r.emitTimed(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits, unless what follows was done before a restart.
func (r *runner) sleep(ctx context.Context, d time.Duration) error {
	if r.skip > 0 || d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// partID names a part: as the script does, or in the lane's order.
func (r *runner) partID(id string) string {
	if id != "" {
		return r.expand(id)
	}
	r.partCount++
	return r.prefix() + "p" + strconv.Itoa(r.partCount)
}

// toolID names a tool call; unlike a part's, the name is unique within the session.
func (r *runner) toolID(id string) string {
	if id != "" {
		return r.expand(id)
	}
	r.toolCount++
	return fmt.Sprintf("%s.%st%d", r.turn.ID, r.prefix(), r.toolCount)
}

// approvalID names an approval, unique within the session.
func (r *runner) approvalID(id string) string {
	if id != "" {
		return r.expand(id)
	}
	r.askCount++
	return fmt.Sprintf("%s.%sa%d", r.turn.ID, r.prefix(), r.askCount)
}

func (r *runner) prefix() string {
	if r.key == "" {
		return ""
	}
	return r.key + "."
}

// expand puts what is known into a text.
func (r *runner) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	v := &r.verdict
	var patch, answers, titles string
	if in := v.Input; in != nil {
		patch, answers, titles = in.Patch, joinAnswers(in.Answers), joinTitles(in.Tasks)
	}
	var by string
	if v.By != nil {
		by = v.By.Name
	}
	known := []string{
		"{message}", r.turn.Message.Text, "{n}", strconv.Itoa(r.number), "{turn}", r.turn.ID,
		"{outcome}", string(v.Outcome), "{decision}", string(v.Decision), "{option}", v.Option, "{reason}", v.Reason,
		"{by}", by, "{patch}", patch, "{answers}", answers, "{tasks}", titles,
	}
	for _, s := range r.agent.settings() {
		known = append(known, "{"+s.ID+"}", s.Value)
	}
	return strings.NewReplacer(known...).Replace(text)
}
