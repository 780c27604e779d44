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

func (r *turnRun) newRunner(key, task string, done int) *runner {
	return &runner{turnRun: r, key: key, task: task, skip: done, done: done}
}

// emit appends an event, unless it was emitted before a restart. Then apply notes with it what else it changes.
func (l *runner) emit(ctx context.Context, e session.Event, apply ...func(*agentState)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.skip > 0 {
		l.skip--
		return nil
	}
	if e.Task == "" {
		e.Task = l.task
	}
	l.done++
	return l.agent.record(l, e, append(apply, func(m *agentState) { m.count(&e) })...)
}

// A beat is an event and the delay before it.
type timedEvent struct {
	delay time.Duration
	event session.Event
}

func (l *runner) emitTimed(ctx context.Context, b timedEvent) error {
	if err := l.sleep(ctx, b.delay); err != nil {
		return err
	}
	return l.emit(ctx, b.event)
}

func (l *runner) emitAll(ctx context.Context, beats iter.Seq[timedEvent]) error {
	for b := range beats {
		if err := l.emitTimed(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits, unless what follows was done before a restart.
func (l *runner) sleep(ctx context.Context, d time.Duration) error {
	if l.skip > 0 || d <= 0 {
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
func (l *runner) partID(id string) string {
	if id != "" {
		return l.expand(id)
	}
	l.partCount++
	return l.prefix() + "p" + strconv.Itoa(l.partCount)
}

// toolID names a tool call; unlike a part's, the name is unique within the session.
func (l *runner) toolID(id string) string {
	if id != "" {
		return l.expand(id)
	}
	l.toolCount++
	return fmt.Sprintf("%s.%st%d", l.turn.ID, l.prefix(), l.toolCount)
}

// approvalID names an approval, unique within the session.
func (l *runner) approvalID(id string) string {
	if id != "" {
		return l.expand(id)
	}
	l.askCount++
	return fmt.Sprintf("%s.%sa%d", l.turn.ID, l.prefix(), l.askCount)
}

func (l *runner) prefix() string {
	if l.key == "" {
		return ""
	}
	return l.key + "."
}

// expand puts what is known into a text.
func (l *runner) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	v := &l.verdict
	var patch, answers, titles string
	if in := v.Input; in != nil {
		patch, answers, titles = in.Patch, joinAnswers(in.Answers), joinTitles(in.Tasks)
	}
	var by string
	if v.By != nil {
		by = v.By.Name
	}
	known := []string{
		"{message}", l.turn.Message.Text, "{n}", strconv.Itoa(l.number), "{turn}", l.turn.ID,
		"{outcome}", string(v.Outcome), "{decision}", string(v.Decision), "{option}", v.Option, "{reason}", v.Reason,
		"{by}", by, "{patch}", patch, "{answers}", answers, "{tasks}", titles,
	}
	for _, s := range l.agent.settings() {
		known = append(known, "{"+s.ID+"}", s.Value)
	}
	return strings.NewReplacer(known...).Replace(text)
}
