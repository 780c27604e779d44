package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A one-shot client must not get an answer from state that only the codec holds: that state ends
// with the client.
func TestABriefClientIsPromisedNothingThatOnlyItKeeps(t *testing.T) {
	here := map[string][]protocol.Verb{ // an AgentLoop server reports its only session unasked
		"agentloop": {protocol.DoList, protocol.DoSnapshot},
	}
	for _, name := range Names() {
		d, _ := Find(name)
		for _, command := range protocol.Commands {
			verb := command.Verb
			if command.Connection {
				continue
			}
			t.Run(fmt.Sprint(name, " ", verb), func(t *testing.T) {
				ids := 0
				c := d.Client(codec.ClientOptions{
					URL: "ws://x/s", Resume: new(codec.ClientState), OneShot: true,
					ID: func(prefix string) string { ids++; return fmt.Sprint(prefix, ids) },
				})
				now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
				c.Open(now)
				cmd := protocol.Command{ID: "1", Command: verb}
				if example := command.Examples[0]; example != "" {
					cmd.Data = json.RawMessage(example)
				}
				if command.Session {
					cmd.Session = "s"
				}
				out := c.Native(now, protocol.MustEncode(cmd))
				sent, answers := len(out.Foreign) > 0, answersIn(t, out)
				for range 100 {
					if out.Wake.IsZero() || len(answers) > 0 || out.Close != nil {
						break
					}
					now = out.Wake
					out = c.Wake(now)
					sent = sent || len(out.Foreign) > 0
					answers = append(answers, answersIn(t, out)...)
				}
				for _, a := range answers {
					if a.Error == nil && !sent && !slices.Contains(here[name], verb) {
						t.Errorf("answered %s without a request to the server", a.Result)
					}
				}
			})
		}
	}
}

func answersIn(t *testing.T, out codec.Output) (list []protocol.Answer) {
	for _, line := range out.Native {
		_, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if a != nil && a.ID == "1" {
			list = append(list, *a)
		}
	}
	return list
}

// A client that stays connected can use the queue that its codec holds.
func TestAClientThatStaysHasItsQueue(t *testing.T) {
	d, _ := Find("multiagent")
	for _, oneShot := range []bool{false, true} {
		c := d.Client(codec.ClientOptions{
			Resume: new(codec.ClientState), OneShot: oneShot,
			ID: func(prefix string) string { return prefix },
		})
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		c.Open(now)
		c.Foreign(now, codec.Frame{Data: []byte(`{"type":"PONG"}`)})
		out := c.Native(now, protocol.MustEncode(protocol.Command{
			ID: "1", Command: protocol.DoHello,
			Data: protocol.MustEncode(protocol.HelloData{Version: protocol.Version}),
		}))
		var h protocol.HelloResult
		if a := answersIn(t, out); len(a) != 1 || json.Unmarshal(a[0].Result, &h) != nil {
			t.Fatalf("hello: %v", a)
		}
		if slices.Contains(h.Commands, protocol.DoQueueHold) == oneShot {
			t.Errorf("one-shot %t: it supports %v", oneShot, h.Commands)
		}
		out = c.Native(now, []byte(`{"id":"1","command":"queue.hold","session":"s","key":"k"}`))
		if a := answersIn(t, out); len(a) != 1 || (a[0].Error != nil) != oneShot || oneShot &&
			a[0].Error.Code != protocol.CodeUnsupported {
			t.Errorf("one-shot %t: hold is answered %+v", oneShot, a)
		}
	}
}
