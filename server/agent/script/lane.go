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
type round struct {
	agent  *agent
	turn   session.Turn
	out    session.Output
	n      int        // the message's number
	before progressed // what was done before a restart
}

// A lane is a sequence of steps that one goroutine plays: the turn's own, or a task's attempt.
type lane struct {
	*round
	key  string // "" for the turn's own
	task string

	skip, done int // events to pass over, events emitted or passed over
	parts      int // ids given
	tools      int
	asks       int
	verdict    session.Verdict // of the last ask
}

func (r *round) lane(key, task string, done int) *lane {
	return &lane{round: r, key: key, task: task, skip: done, done: done}
}

// emit appends an event, unless it was emitted before a restart. Then apply notes with it what else it changes.
func (l *lane) emit(ctx context.Context, e session.Event, apply ...func(*memory)) error {
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
	return l.agent.note(l, e, append(apply, func(m *memory) { m.heard(&e) })...)
}

// A beat is an event and the delay before it.
type beat struct {
	delay time.Duration
	event session.Event
}

func (l *lane) play(ctx context.Context, b beat) error {
	if err := l.pause(ctx, b.delay); err != nil {
		return err
	}
	return l.emit(ctx, b.event)
}

func (l *lane) playAll(ctx context.Context, beats iter.Seq[beat]) error {
	for b := range beats {
		if err := l.play(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// pause waits, unless what follows was done before a restart.
func (l *lane) pause(ctx context.Context, d time.Duration) error {
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

// part names a part: as the script does, or in the lane's order.
func (l *lane) part(id string) string {
	if id != "" {
		return l.fill(id)
	}
	l.parts++
	return l.prefix() + "p" + strconv.Itoa(l.parts)
}

// call names a tool call; unlike a part's, the name is unique within the session.
func (l *lane) call(id string) string {
	if id != "" {
		return l.fill(id)
	}
	l.tools++
	return fmt.Sprintf("%s.%st%d", l.turn.ID, l.prefix(), l.tools)
}

// request names an approval, unique within the session.
func (l *lane) request(id string) string {
	if id != "" {
		return l.fill(id)
	}
	l.asks++
	return fmt.Sprintf("%s.%sa%d", l.turn.ID, l.prefix(), l.asks)
}

func (l *lane) prefix() string {
	if l.key == "" {
		return ""
	}
	return l.key + "."
}

// fill puts what is known into a text.
func (l *lane) fill(text string) string {
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
		"{message}", l.turn.Message.Text, "{n}", strconv.Itoa(l.n), "{turn}", l.turn.ID,
		"{outcome}", string(v.Outcome), "{decision}", string(v.Decision), "{option}", v.Option, "{reason}", v.Reason,
		"{by}", by, "{patch}", patch, "{answers}", answers, "{tasks}", titles,
	}
	for _, s := range l.agent.settings() {
		known = append(known, "{"+s.ID+"}", s.Value)
	}
	return strings.NewReplacer(known...).Replace(text)
}
