package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
)

// A step is a line of a turn. It is immutable: agents share it.
type step interface {
	run(ctx context.Context, l *runner) error
}

// A checker is a step with options to check beyond their types.
type checker interface{ check() error }

var stepTypes = map[string]func() step{
	"think":    func() step { return new(think) },
	"say":      func() step { return new(say) },
	"bytes":    func() step { return new(rawBytes) },
	"burst":    func() step { return new(burst) },
	"tool":     func() step { return new(tool) },
	"ask":      func() step { return new(ask) },
	"plan":     func() step { return new(plan) },
	"progress": func() step { return new(progress) },
	"emit":     func() step { return new(emit) },
	"notice":   func() step { return new(notice) },
	"context":  func() step { return new(contextStep) },
	"usage":    func() step { return new(usage) },
	"retry":    func() step { return new(retry) },
	"recover":  func() step { return new(recovery) },
	"sleep":    func() step { return new(sleep) },
	"wait":     func() step { return new(wait) },
	"spawn":    func() step { return new(spawn) },
	"steer":    func() step { return new(steer) },
	"fail":     func() step { return new(fail) },
	"end":      func() step { return new(end) },
}

// firstKey returns the verb of a line.
func firstKey(line []byte) (string, error) {
	if !json.Valid(line) || line[0] != '{' {
		return "", errors.New("not a JSON object on one line")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	_, _ = d.Token()
	key, _ := d.Token()
	verb, ok := key.(string)
	if !ok {
		return "", errors.New("empty object")
	}
	return verb, nil
}

func parseStep(verb string, line []byte) (step, error) {
	newStep := stepTypes[verb]
	if newStep == nil {
		return nil, fmt.Errorf("unknown step %.40q", verb)
	}
	st := newStep()
	if err := protocol.DecodeStrict(line, st); err != nil {
		return nil, fmt.Errorf("%s: %w", verb, err)
	}
	if c, ok := st.(checker); ok {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", verb, err)
		}
	}
	return st, nil
}

// steps run in order.
type steps []step

// UnmarshalJSON decodes steps inside a step.
func (s *steps) UnmarshalJSON(b []byte) error {
	var lines []json.RawMessage
	if err := json.Unmarshal(b, &lines); err != nil {
		return err
	}
	*s = make(steps, 0, len(lines))
	for _, line := range lines {
		verb, err := firstKey(line)
		if err != nil {
			return err
		}
		st, err := parseStep(verb, line)
		if err != nil {
			return err
		}
		*s = append(*s, st)
	}
	return nil
}

func (s steps) run(ctx context.Context, r *runner) error {
	for _, st := range s {
		if err := st.run(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

type duration time.Duration

// UnmarshalText parses the syntax of time.ParseDuration, from 0 to one hour.
func (s *duration) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "%.40q is not a duration", b)
	}
	if d < 0 || d > time.Hour {
		return protocol.Errorf(protocol.CodeInvalidMessage, "%s is not between 0 and an hour", d)
	}
	*s = duration(d)
	return nil
}
