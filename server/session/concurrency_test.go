package session

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// randomAgent emits random events and requests, and stops when interrupted.
type randomAgent struct{ resumes bool }

func (c randomAgent) Open(agent.Spec, agent.Host) (agent.Agent, error) { return c, nil }
func (c randomAgent) Names() []string                                  { return []string{"chatty"} }
func (c randomAgent) Capabilities() agent.Capabilities                 { return agent.Capabilities{Resumes: c.resumes} }
func (c randomAgent) Close() error                                     { return nil }

func (c randomAgent) Run(ctx context.Context, _ agent.Turn, out agent.Output) (agent.End, error) {
	for range rand.IntN(8) {
		_ = out.Emit(randomEvent.Example(rand.IntN(1 << 20)))
		if rand.IntN(3) == 0 {
			_ = out.Save([]byte("memory"))
		}
		if rand.IntN(3) == 0 {
			asking, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(20))*time.Millisecond)
			_, _ = out.Ask(asking, protocol.Approval{Kind: protocol.ApproveTool, Name: "sh", Title: "run"})
			cancel()
		}
		select {
		case <-time.After(time.Duration(rand.IntN(3)) * time.Millisecond):
		case <-ctx.Done():
			return agent.End{}, ctx.Err()
		}
	}
	return agent.End{Reason: protocol.ReasonCompleted}, nil
}

func TestACrowdOfClientsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		store.latency = time.Millisecond
		open := func() *Hub {
			h, err := NewHub(t.Context(), Config{
				Store:        store,
				Agents:       randomAgent{rand.IntN(2) == 0},
				DefaultAgent: "chatty",
				UnloadAfter:  20 * time.Millisecond,
				EditHold:     10 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		hub := open()
		names := []string{"one", "two", "three"}
		for _, name := range names {
			create := newCommand(protocol.DoCreate, "", protocol.CreateData{Name: name})
			hub.Do(t.Context(), &create, anna, func(_ json.RawMessage, err error) {
				if err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		for range 3 {
			var asked, answered atomic.Int64
			var clients sync.WaitGroup
			for i := range 6 {
				clients.Go(func() {
					who := Caller{By: protocol.Actor{Name: fmt.Sprint("client ", i)}, Conn: fmt.Sprint("c", i)}
					for range 60 {
						time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
						name := names[rand.IntN(len(names))]
						asked.Add(1)
						if rand.IntN(6) == 0 {
							hub.Attach(
								t.Context(),
								name,
								&testSubscriber{name: who.Conn},
								&protocol.SubscribeData{},
								func(*Attachment, error) { answered.Add(1) },
							)
							id, _ := hub.Sessions().Resolve(name)
							defer hub.Detach(id, who.Conn, "")
							continue
						}
						c := randomCommand(name)
						hub.Do(t.Context(), &c, who, func(json.RawMessage, error) { answered.Add(1) })
					}
				})
			}
			if rand.IntN(2) == 0 { // close under load
				time.Sleep(40 * time.Millisecond)
				if err := hub.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			clients.Wait()
			if err := hub.Close(t.Context()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if asked.Load() != answered.Load() {
				t.Fatalf("%d commands, %d answers", asked.Load(), answered.Load())
			}
			for id, s := range store.sessions {
				raw, _ := s.read(0, s.rec.Head, false, 1<<40, nil)
				newLogChecker(t).apply(decodeLines(t, raw))
				folded, _ := s.read(0, s.rec.Head, true, 1<<40, nil)
				if transcript(t, decodeLines(t, raw)) != transcript(t, decodeLines(t, folded)) {
					t.Errorf("the folds of %s differ from the raw events", id)
				}
			}
			if len(store.faults) > 0 {
				t.Fatal(store.faults)
			}
			hub = open()
		}
		if err := hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// randomCommand returns a random command to a session.
func randomCommand(session string) protocol.Command {
	decisions := []protocol.Decision{protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop}
	queues := []string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear}
	switch rand.IntN(10) {
	case 0:
		return newCommand(protocol.DoInterrupt, session, protocol.InterruptData{Queue: queues[rand.IntN(3)]})
	case 1:
		return newCommand(protocol.DoQueueHold, session, protocol.QueueHoldData{})
	case 2, 3:
		return newCommand(protocol.DoQueueRelease, session, protocol.QueueReleaseData{})
	case 4, 5:
		return newCommand(protocol.DoApprove, session, protocol.ApproveData{Decision: decisions[rand.IntN(4)]})
	case 6:
		return newCommand(protocol.DoSnapshot, session, protocol.Empty{})
	default:
		c := newCommand(protocol.DoSend, session, protocol.SendData{Text: "go", Front: rand.IntN(2) == 0})
		c.Key = fmt.Sprint("k", rand.IntN(1<<30))
		return c
	}
}
