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
)

// chatty is an agent that speaks, uses tools and asks at random, and heeds interrupts.
type chatty struct{ resumes bool }

func (c chatty) Open(Spec, Host) (Agent, error) { return c, nil }
func (c chatty) Names() []string                { return []string{"chatty"} }
func (c chatty) Capabilities() Capabilities     { return Capabilities{Resumes: c.resumes} }
func (c chatty) Close() error                   { return nil }

func (c chatty) Run(ctx context.Context, _ Turn, out Output) (End, error) {
	for range rand.IntN(8) {
		_ = out.Emit(speech.Example(rand.IntN(1 << 20)))
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
			return End{}, ctx.Err()
		}
	}
	return End{Reason: protocol.ReasonCompleted}, nil
}

func TestACrowdOfClientsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		store.latency = time.Millisecond
		open := func() *Hub {
			h, err := NewHub(t.Context(), Config{
				Store: store, Agents: chatty{rand.IntN(2) == 0}, DefaultAgent: "chatty", UnloadAfter: 20 * time.Millisecond, EditHold: 10 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		hub := open()
		names := []string{"one", "two", "three"}
		for _, name := range names {
			create := command(protocol.DoCreate, "", protocol.CreateData{Name: name})
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
							hub.Attach(t.Context(), name, &listener{name: who.Conn}, &protocol.SubscribeData{}, func(*Attachment, error) { answered.Add(1) })
							id, _ := hub.Resolve(name)
							defer hub.Detach(id, who.Conn, "")
							continue
						}
						c := anything(name)
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
				newAudit(t).follow(decodeLines(t, raw))
				folded, _ := s.read(0, s.rec.Head, true, 1<<40, nil)
				if transcript(t, decodeLines(t, raw)) != transcript(t, decodeLines(t, folded)) {
					t.Errorf("the folds of %s say something else", id)
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

// anything is a random command to a session.
func anything(session string) protocol.Command {
	decisions := []protocol.Decision{protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop}
	queues := []string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear}
	switch rand.IntN(10) {
	case 0:
		return command(protocol.DoInterrupt, session, protocol.InterruptData{Queue: queues[rand.IntN(3)]})
	case 1:
		return command(protocol.DoQueueHold, session, protocol.QueueHoldData{})
	case 2, 3:
		return command(protocol.DoQueueRelease, session, protocol.QueueReleaseData{})
	case 4, 5:
		return command(protocol.DoApprove, session, protocol.ApproveData{Decision: decisions[rand.IntN(4)]})
	case 6:
		return command(protocol.DoSnapshot, session, protocol.Empty{})
	default:
		c := command(protocol.DoSend, session, protocol.SendData{Text: "go", Front: rand.IntN(2) == 0})
		c.Key = fmt.Sprint("k", rand.IntN(1<<30))
		return c
	}
}
