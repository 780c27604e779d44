package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// An emit step emits any durable event.
type emit struct {
	Type   protocol.Type   `json:"emit"`
	Data   json.RawMessage `json:"data"`
	Task   string          `json:"task"`
	Parent string          `json:"parent"`

	data any // Data as the Go type of the event
}

func (e *emit) check() error {
	for _, t := range protocol.EventTypes {
		if t.Type != e.Type {
			continue
		}
		if t.Ephemeral {
			return fmt.Errorf("%s is ephemeral", e.Type)
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
	return fmt.Errorf("unknown event %.40q", string(e.Type))
}

func (e *emit) run(ctx context.Context, r *runner) error {
	return r.emit(ctx, agent.Event{Type: e.Type, Task: e.Task, Parent: e.Parent, Data: e.data})
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
		return fmt.Errorf("level: unknown value %.40q", n.Level)
	}
	return nil
}

func (n *notice) run(ctx context.Context, r *runner) error {
	data := protocol.NoticeData{Level: n.Level, Code: n.Code, Message: r.expand(n.Text)}
	return r.emitData(ctx, protocol.Notice, data)
}

// emitData emits an event that has only a type and data.
func (r *runner) emitData(ctx context.Context, typ protocol.Type, data any, apply ...func(*agentState)) error {
	return r.emit(ctx, agent.Event{Type: typ, Data: data}, apply...)
}

// contextStep sets the context usage until the next compaction.
type contextStep struct {
	Context protocol.ContextInfo `json:"context"`
}

func (f *contextStep) run(ctx context.Context, r *runner) error {
	return r.emitData(ctx, protocol.ContextUpdated, f.Context, func(s *agentState) {
		s.Context, s.Tokens = new(f.Context), f.Context.Tokens
	})
}

type usage struct {
	Usage protocol.Usage `json:"usage"`
}

func (u *usage) run(ctx context.Context, r *runner) error {
	return r.emitData(ctx, protocol.UsageUpdated, u.Usage, func(s *agentState) {
		s.Usage = new(u.Usage)
	})
}

// A retry step emits failed attempts, with a delay after each.
type retry struct {
	Cause string        `json:"retry"`
	Times int           `json:"times"`
	Limit int           `json:"limit"`
	Delay duration      `json:"delay"`
	Code  protocol.Code `json:"code"`
}

func (s *retry) check() error {
	s.Times = max(1, s.Times)
	s.Limit = max(s.Times, s.Limit)
	if s.Times > 100 {
		return errors.New("times: from 1 to 100")
	}
	return nil
}

func (s *retry) run(ctx context.Context, r *runner) error {
	for i := range s.Times {
		err := r.emitData(ctx, protocol.RetryScheduled, protocol.RetryData{
			Attempt: i + 1, Limit: s.Limit, DelayMS: time.Duration(s.Delay).Milliseconds(),
			Cause: s.Cause, Code: s.Code,
		})
		if err != nil {
			return err
		}
		if err := r.sleep(ctx, time.Duration(s.Delay)); err != nil {
			return err
		}
	}
	return nil
}

// A recovery step succeeds after its delay, unless failure is set.
type recovery struct {
	Action  string        `json:"recover"`
	Cause   string        `json:"cause"`
	Delay   duration      `json:"delay"`
	Failure string        `json:"failure"`
	Code    protocol.Code `json:"code"`
}

func (s *recovery) run(ctx context.Context, r *runner) error {
	took := time.Duration(s.Delay).Milliseconds()
	d := protocol.RecoveryData{Action: s.Action, Attempt: 1, Limit: 1, Cause: s.Cause, Code: s.Code, EstimateMS: took}
	if err := r.emitData(ctx, protocol.RecoveryStarted, d); err != nil {
		return err
	}
	if err := r.sleep(ctx, time.Duration(s.Delay)); err != nil {
		return err
	}
	d.EstimateMS, d.DurationMS, d.Failure = 0, took, s.Failure
	if s.Failure != "" {
		return r.emitData(ctx, protocol.RecoveryFailed, d)
	}
	return r.emitData(ctx, protocol.RecoverySucceeded, d)
}
