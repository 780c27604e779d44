package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// discardStore commits nothing. A session that it holds cannot be loaded again.
type discardStore struct{ *memStore }

func (discardStore) Commit([]*eventlog.Batch) error { return nil }

// emitter is an agent, and the registry of agents with it, that emits events in its turn.
type emitter struct{ emit func(agent.Output) error }

func (a emitter) Open(agent.Spec, agent.Host) (agent.Agent, error) { return a, nil }
func (emitter) Names() []string                                    { return []string{"emitter"} }
func (emitter) Capabilities() agent.Capabilities                   { return agent.Capabilities{} }
func (emitter) Close() error                                       { return nil }

func (a emitter) Run(_ context.Context, _ agent.Turn, out agent.Output) (agent.End, error) {
	return agent.End{}, a.emit(out)
}

// BenchmarkEmit measures an event from the agent to the log, its folds and its batch included. A
// store that does nothing commits.
func BenchmarkEmit(b *testing.B) {
	text := strings.Repeat("token ", 14)
	for _, c := range []struct {
		name string
		data func(i int) agent.Event
	}{
		{"delta", func(int) agent.Event {
			return agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: text}}
		}},
		{"output", func(int) agent.Event {
			return agent.Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "c1", Text: text}}
		}},
		{"tool", func(i int) agent.Event {
			id := fmt.Sprint("c", i/2)
			if i%2 == 0 {
				return agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{
					Tool: id, Name: "shell", Title: "go test", Input: json.RawMessage(`{"command":"go test"}`),
				}}
			}
			return agent.Event{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{
				Tool: id, Status: protocol.ToolCompleted,
			}}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			ended := make(chan struct{})
			a := emitter{func(out agent.Output) error {
				defer close(ended)
				for i := range b.N {
					if err := out.Emit(c.data(i)); err != nil {
						return err
					}
				}
				return nil
			}}
			h, err := NewHub(b.Context(), Config{
				Store: discardStore{newMemStore()}, Agents: a, DefaultAgent: "emitter",
			})
			if err != nil {
				b.Fatal(err)
			}
			do := func(cmd protocol.Command) json.RawMessage {
				answer := make(chan json.RawMessage, 1)
				h.Do(b.Context(), &cmd, anna, func(body json.RawMessage, err error) {
					if err != nil {
						b.Error(err)
					}
					answer <- body
				})
				return <-answer
			}
			var created protocol.CreateResult
			body := do(newCommand(protocol.DoCreate, "", protocol.CreateData{}))
			if err := json.Unmarshal(body, &created); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			do(newCommand(protocol.DoSend, created.Session, protocol.SendData{Text: "go"}))
			<-ended
			b.StopTimer()
			if err := h.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
