package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A tool is a tool call. With open it is the start of one, which a step with the same id continues.
type tool struct {
	Name      string              `json:"tool"`
	ID        string              `json:"id"`
	Kind      string              `json:"kind"`
	Title     string              `json:"title"`
	Input     json.RawMessage     `json:"input"`
	Stream    bool                `json:"stream"` // stream the input as text first
	Locations []protocol.Location `json:"locations"`
	Output    string              `json:"output"`
	Content   []protocol.Content  `json:"content"`
	Replace   bool                `json:"replace"`
	Result    json.RawMessage     `json:"result"`
	Status    protocol.ToolStatus `json:"status"`
	Error     string              `json:"error"`
	Exit      *int                `json:"exit"`
	Task      string              `json:"task"`
	Parent    string              `json:"parent"`
	Times     int                 `json:"times"`
	Open      bool                `json:"open"`
	rate
}

func (t *tool) check() error {
	switch t.Status {
	case "", protocol.ToolCompleted, protocol.ToolFailed, protocol.ToolCancelled, protocol.ToolDenied,
		protocol.ToolUnknown:
	default:
		return fmt.Errorf("status: unknown value %.40q", string(t.Status))
	}
	if t.Open && (t.Status != "" || t.Exit != nil || t.Result != nil || t.Error != "") {
		return errors.New("open: not allowed with status, exit, result or error")
	}
	if t.Times < 0 || t.Times > maxTimes {
		return fmt.Errorf("times: from 1 to %d", maxTimes)
	}
	return t.rate.check()
}

func (t *tool) run(ctx context.Context, r *runner) error {
	id := r.toolID(t.ID)
	events := t.events(r, id)
	if r.skip > 0 {
		all := 0
		for range events {
			all++
		}
		if r.skip < all { // running at the restart: the session ends the call
			r.done += all - r.skip
			r.skip = 0
			return ctx.Err()
		}
	}
	for e, delay := range events {
		if err := r.sleep(ctx, delay); err != nil {
			return err
		}
		if err := r.emit(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// events yields the call's events, each with the delay before it. Their number is always the same.
func (t *tool) events(r *runner, id string) iter.Seq2[agent.Event, time.Duration] {
	textRate := t.withDefaults(r.agent.script.rate)
	started := protocol.ToolStartedData{
		Tool: id, Name: t.Name, Kind: t.Kind, Title: r.expand(t.Title), Input: t.Input, Locations: t.Locations,
	}
	if t.Stream {
		started.Input = nil
	}
	output := r.expand(t.Output)
	return func(yield func(agent.Event, time.Duration) bool) {
		send := func(delay time.Duration, typ protocol.Type, data any) bool {
			return yield(agent.Event{Type: typ, Task: t.Task, Parent: t.Parent, Data: data}, delay)
		}
		if !send(0, protocol.ToolStarted, started) {
			return
		}
		if t.Stream {
			for chunk, delay := range textRate.stream(string(t.Input), 1) {
				if !send(delay, protocol.ToolInput, protocol.ToolInputData{Tool: id, Text: chunk}) {
					return
				}
			}
			if !send(0, protocol.ToolInput, protocol.ToolInputData{Tool: id, Input: t.Input}) {
				return
			}
		}
		for chunk, delay := range textRate.stream(output, t.Times) {
			if !send(delay, protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: chunk}) {
				return
			}
		}
		if len(t.Content) > 0 || t.Replace {
			data := protocol.ToolOutputData{Tool: id, Content: t.Content, Replace: t.Replace}
			if !send(0, protocol.ToolOutput, data) {
				return
			}
		}
		if !t.Open {
			send(0, protocol.ToolEnded, t.endData(id))
		}
	}
}

func (t *tool) endData(id string) protocol.ToolEndedData {
	d := protocol.ToolEndedData{Tool: id, Status: t.Status, Output: t.Result, Error: t.Error, ExitCode: t.Exit}
	if d.Status == "" {
		d.Status = protocol.ToolCompleted
		if t.Error != "" || t.Exit != nil && *t.Exit != 0 {
			d.Status = protocol.ToolFailed
		}
	}
	return d
}
