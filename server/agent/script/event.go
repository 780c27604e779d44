package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

// An emit is any durable event, told as it stands.
type emit struct {
	Type   protocol.Type   `json:"emit"`
	Data   json.RawMessage `json:"data"`
	Task   string          `json:"task"`
	Parent string          `json:"parent"`

	data any // Data in the type of the event
}

func (e *emit) check() error {
	for _, t := range protocol.EventTypes {
		if t.Type != e.Type {
			continue
		}
		if t.Ephemeral {
			return fmt.Errorf("%s has no place in the log", e.Type)
		}
		data := t.New()
		if len(e.Data) > 0 {
			if err := protocol.DecodeStrict(e.Data, data); err != nil {
				return fmt.Errorf("data of %s: %w", e.Type, err)
			}
		}
		e.data = reflect.ValueOf(data).Elem().Interface()
		return nil
	}
	return fmt.Errorf("there is no event %.40q", string(e.Type))
}

func (e *emit) run(ctx context.Context, r *runner) error {
	return r.emit(ctx, session.Event{Type: e.Type, Task: e.Task, Parent: e.Parent, Data: e.data})
}

type notice struct {
	Text  string        `json:"notice"`
	Level string        `json:"level"`
	Code  protocol.Code `json:"code"`
}

func (n *notice) check() error {
	switch n.Level {
	case "":
		n.Level = protocol.LevelInfo
	case protocol.LevelInfo, protocol.LevelWarning:
	default:
		return fmt.Errorf("level: %.40q is none", n.Level)
	}
	return nil
}

func (n *notice) run(ctx context.Context, r *runner) error {
	return r.emitData(ctx, protocol.Notice, protocol.NoticeData{Level: n.Level, Code: n.Code, Message: r.expand(n.Text)})
}

// emitData emits an event that has nothing but data.
func (r *runner) emitData(ctx context.Context, typ protocol.Type, data any, apply ...func(*agentState)) error {
	return r.emit(ctx, session.Event{Type: typ, Data: data}, apply...)
}

// contextStep sets the context's numbers until the next compaction.
type contextStep struct {
	Context protocol.ContextInfo `json:"context"`
}

func (f *contextStep) run(ctx context.Context, r *runner) error {
	return r.emitData(ctx, protocol.ContextUpdated, f.Context, func(s *agentState) {
		info := f.Context
		s.Context, s.Tokens = &info, info.Tokens
	})
}

type usage struct {
	Usage protocol.Usage `json:"usage"`
}

func (u *usage) run(ctx context.Context, r *runner) error {
	return r.emitData(ctx, protocol.UsageUpdated, u.Usage, func(s *agentState) {
		used := u.Usage
		s.Usage = &used
	})
}

// A retry is attempts that fail, with the wait after each.
type retry struct {
	Cause string        `json:"retry"`
	Times int           `json:"times"`
	Limit int           `json:"limit"`
	Delay duration      `json:"delay"`
	Code  protocol.Code `json:"code"`
}

func (r *retry) check() error {
	r.Times = max(1, r.Times)
	r.Limit = max(r.Times, r.Limit)
	if r.Times > 100 {
		return errors.New("times: from 1 to 100")
	}
	return nil
}

func (r *retry) run(ctx context.Context, l *runner) error {
	for i := range r.Times {
		err := l.emitData(ctx, protocol.RetryScheduled, protocol.RetryData{
			Attempt: i + 1, Limit: r.Limit, DelayMS: time.Duration(r.Delay).Milliseconds(), Cause: r.Cause, Code: r.Code,
		})
		if err != nil {
			return err
		}
		if err := l.sleep(ctx, time.Duration(r.Delay)); err != nil {
			return err
		}
	}
	return nil
}

// A recovery takes its delay and succeeds, unless it has a failure.
type recovery struct {
	Action  string        `json:"recover"`
	Cause   string        `json:"cause"`
	Delay   duration      `json:"delay"`
	Failure string        `json:"failure"`
	Code    protocol.Code `json:"code"`
}

func (r *recovery) run(ctx context.Context, l *runner) error {
	took := time.Duration(r.Delay).Milliseconds()
	d := protocol.RecoveryData{Action: r.Action, Attempt: 1, Limit: 1, Cause: r.Cause, Code: r.Code, EstimateMS: took}
	if err := l.emitData(ctx, protocol.RecoveryStarted, d); err != nil {
		return err
	}
	if err := l.sleep(ctx, time.Duration(r.Delay)); err != nil {
		return err
	}
	d.EstimateMS, d.DurationMS, d.Failure = 0, took, r.Failure
	if r.Failure != "" {
		return l.emitData(ctx, protocol.RecoveryFailed, d)
	}
	return l.emitData(ctx, protocol.RecoverySucceeded, d)
}
