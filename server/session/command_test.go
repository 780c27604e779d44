package session

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// failOnce makes the next commit fail.
func (r *testHub) failOnce() {
	r.store.set(func() {
		r.store.failCommit = func([]*eventlog.Batch) error {
			r.store.failCommit = nil
			return errors.New("disk full")
		}
	})
}

func keyed(c protocol.Command, key string) protocol.Command {
	c.Key = key
	return c
}

func TestACommandSentAgainReturnsTheFirstAnswer(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		name := "box"
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoRename, id, protocol.RenameData{Name: &name})))
		c := keyed(newCommand(protocol.DoSend, id, protocol.SendData{Text: "one"}), "k1")
		first := must[protocol.SendResult](r, r.do(anna, c))
		c.Session = name
		for range 2 {
			if again := must[protocol.SendResult](r, r.do(anna, c)); again != first {
				t.Errorf("sent again: %+v, first %+v", again, first)
			}
			r.restart()
		}
		refused(
			r,
			r.do(anna, keyed(newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"}), "k1")),
			protocol.CodeKeyReused,
		)
		if st := r.state(id); st.Turns != 1 || len(st.Queue) != 0 {
			t.Errorf("%d turns, %d queued", st.Turns, len(st.Queue))
		}
	})
}

func TestACommandThatWasNotKeptActsWhenItIsSentAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		c := keyed(newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"}), "k1")
		r.failOnce()
		refused(r, r.do(anna, c), protocol.CodeStorage)
		sent := must[protocol.SendResult](r, r.do(anna, c))
		if st := r.state(id); st.Turn == nil || st.Turn.Message.MessageID != sent.MessageID ||
			st.Turn.Message.Text != "two" {
			t.Errorf("answer %+v, state %s", sent, encodeState(st))
		}
	})
}

func TestAKeyOfACreateIsOfItAlone(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		c := keyed(newCommand(protocol.DoCreate, "", protocol.CreateData{Title: "one"}), "k1")
		first := must[protocol.CreateResult](r, r.do(anna, c))
		if again := must[protocol.CreateResult](r, r.do(anna, c)); again != first {
			t.Errorf("created %+v, then %+v", first, again)
		}
		refused(
			r,
			r.do(anna, keyed(newCommand(protocol.DoCreate, "", protocol.CreateData{Title: "two"}), "k1")),
			protocol.CodeKeyReused,
		)
		refused(
			r,
			r.do(anna, keyed(newCommand(protocol.DoSend, first.Session, protocol.SendData{Text: "x"}), "k1")),
			protocol.CodeKeyReused,
		)
		if n := len(r.hub.Sessions().List(true)); n != 1 {
			t.Errorf("%d sessions", n)
		}
		other := r.create()
		c = keyed(newCommand(protocol.DoSend, first.Session, protocol.SendData{Text: "x"}), "k2")
		must[protocol.SendResult](r, r.do(anna, c))
		r.restart() // only the store has the keys now
		c.Session = other
		refused(r, r.do(anna, c), protocol.CodeKeyReused)
	})
}

// A create sent again makes no second session, even if the first one was removed in between.
func TestTheKeyOfACreationOutlivesItsSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		create := keyed(newCommand(protocol.DoCreate, "", protocol.CreateData{Name: "one"}), "k1")
		first := must[protocol.CreateResult](r, r.do(anna, create))
		remove := newCommand(protocol.DoClose, first.Session, protocol.CloseData{Delete: true})
		must[protocol.Empty](r, r.do(anna, remove))
		for range 2 {
			if again := must[protocol.CreateResult](r, r.do(anna, create)); again.Session != first.Session {
				t.Errorf("created %s, then %s", first.Session, again.Session)
			}
			r.restart()
		}
		if n := len(r.hub.Sessions().List(true)); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestACreateSentAgainIsAnsweredWhateverHappenedMeanwhile(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		dir := filepath.Join(t.TempDir(), "work")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c := keyed(newCommand(protocol.DoCreate, "", protocol.CreateData{Name: "box", CWD: dir}), "k1")
		r.store.set(func() { r.store.latency = time.Second })
		a, b := r.start(anna, c), (*testCall)(nil)
		go func() { b = r.start(anna, c) }()
		r.waitIdle()
		first := must[protocol.CreateResult](r, a)
		if must[protocol.CreateResult](r, b).Session != first.Session {
			t.Error("one key, two sessions")
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if again := must[protocol.CreateResult](r, r.do(anna, c)); again.Session != first.Session {
			t.Errorf("sent again: %s, first %s", again.Session, first.Session)
		}
	})
}

func TestARenameSentAgainTakesNoNameAndFreesNone(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id, other := r.create(), r.create()
		rename := func(session, name string) protocol.Command {
			return newCommand(protocol.DoRename, session, protocol.RenameData{Name: &name})
		}
		must[protocol.Empty](r, r.do(anna, keyed(rename(id, "x"), "k1")))
		must[protocol.Empty](r, r.do(anna, rename(id, "y")))
		must[protocol.Empty](r, r.do(anna, keyed(rename(id, "x"), "k1")))
		if got, err := r.hub.Sessions().Resolve("y"); got != id {
			t.Errorf("y is %s, %v", got, err)
		}
		refused(r, r.do(anna, rename(other, "y")), protocol.CodeNameTaken)
		must[protocol.Empty](r, r.do(anna, rename(other, "x")))
		r.failOnce()
		refused(r, r.do(anna, rename(id, "z")), protocol.CodeStorage)
		must[protocol.Empty](r, r.do(anna, rename(other, "z")))
		if got, _ := r.hub.Sessions().Resolve("y"); got != id {
			t.Error("a rename that failed to commit lost the name")
		}
	})
}

func TestACloseThatWasNotKeptCanBeSentAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		c := keyed(newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}), "k1")
		r.failOnce()
		refused(r, r.do(anna, c), protocol.CodeStorage)
		must[protocol.Empty](r, r.do(anna, c))
		refused(r, r.do(anna, c), protocol.CodeNoSession)
	})
}

func TestCommandsAfterAFailedCommitFindTheTurnEnded(t *testing.T) {
	for _, verb := range []protocol.Verb{protocol.DoApprove, protocol.DoInterrupt, protocol.DoClose} {
		t.Run(string(verb), func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
				r.failOnce()
				refused(
					r,
					r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"})),
					protocol.CodeStorage,
				)
				switch verb {
				case protocol.DoApprove:
					k := r.do(anna, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.DenyStop}))
					if e := refused(r, k, protocol.CodeConflict); e.Winner == nil ||
						e.Winner.Outcome != protocol.Cancelled {
						t.Errorf("winner: %+v", e.Winner)
					}
				case protocol.DoInterrupt:
					if must[protocol.InterruptResult](
						r,
						r.do(anna, newCommand(verb, id, protocol.InterruptData{})),
					).Interrupted {
						t.Error("interrupted a turn that was over")
					}
				case protocol.DoClose:
					must[protocol.Empty](r, r.do(anna, newCommand(verb, id, protocol.CloseData{})))
				}
				st := r.state(id)
				if st.Turn != nil || st.Last == nil || st.Last.Code != protocol.CodeStorage {
					t.Errorf("turn %v, last %+v", st.Turn, st.Last)
				}
			})
		})
	}
}

func TestAnInterruptAtShutdownEndsTheTurnAlsoOfAnAgentThatResumes(t *testing.T) {
	bubble(t, Config{InterruptGrace: time.Minute}, func(t *testing.T, r *testHub) {
		r.agents.capabilities, r.agents.ignoresInterrupt = agent.Capabilities{Resumes: true}, true
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		k := r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		r.close()
		if !must[protocol.InterruptResult](r, k).Interrupted {
			t.Error("not interrupted")
		}
		if st := reduce(t, id, r.events(id, false)); st.Turn != nil || st.Last.Reason != protocol.ReasonInterrupted ||
			len(st.Queue) != 1 || st.Turns != 1 {
			t.Errorf("state %s", encodeState(st))
		}
		r.open()
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "two" || st.Turns != 1 {
			t.Errorf("continues with %s", encodeState(st))
		}
	})
}

func TestACommandThatComesWhileTheSessionUnloadsIsCarriedOut(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		id := r.create()
		for range 20 {
			time.Sleep(time.Minute)
			done := make(chan *testCall)
			go func() { done <- r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x"})) }()
			k := <-done
			r.waitIdle()
			if must[protocol.SendResult](r, k).Status != protocol.SendStarted {
				t.Fatal("queued behind an empty queue")
			}
			r.agents.run().finish(agent.End{}, nil)
			r.waitIdle()
		}
	})
}

func TestWhatNoEventCanHoldIsRefused(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		huge := strings.Repeat("\x01", protocol.MaxEvent/4)
		r.send(id, "one")
		two := r.send(id, "two").MessageID
		head := r.state(id).Seq
		long := Caller{By: protocol.Actor{Name: "anna", Subject: huge}}
		for _, k := range []*testCall{
			r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: huge})),
			r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x", ClientMessageID: huge})),
			r.do(anna, newCommand(protocol.DoSend, id,
				protocol.SendData{Parts: []protocol.Part{{Type: "file", Name: huge}}})),
			r.do(anna, newCommand(protocol.DoQueueEdit, id, protocol.QueueEditData{MessageID: two, Text: huge})),
			r.do(anna, newCommand(protocol.DoCreate, "",
				protocol.CreateData{Agent: "acp:" + strings.Repeat("x", maxAgent)})),
			r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Prompt: huge, Name: "box"})),
			r.do(long, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x"})),
		} {
			refused(r, k, protocol.CodeTooLarge)
		}
		if st := r.state(id); st.Seq != head || len(r.hub.Sessions().List(true)) != 1 {
			t.Errorf("something was recorded: %v", types(r.events(id, false)[head:]))
		}
		must[protocol.CreateResult](
			r,
			r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Name: "box", Title: huge})),
		)
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoRename, id, protocol.RenameData{Title: &huge})))
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Reason: huge})))
		newLogChecker(t).apply(r.events(id, false))
		if r.state(id).Status() != protocol.Closed {
			t.Error("not closed")
		}
	})
}

// The stored hash of a command does not help to find out the answer to a secret question.
func TestTheHashOfAnAnswerNeedsTheKey(t *testing.T) {
	hash := func(body, key string) string {
		c := &protocol.Command{Command: protocol.DoApprove, Data: json.RawMessage(body)}
		data := new(protocol.ApproveData)
		if err := c.DecodeData(data); err != nil {
			t.Fatal(err)
		}
		return string(hashCommand(c, data, "", []byte(key)))
	}
	for _, body := range []string{
		`{"decision":"allow_once","input":{"answers":{"pw":["1234"]}}}`, `{"decision":"allow_once","input":{"secrets":{"pw":["1234"]}}}`,
	} {
		sum := sha256.Sum256([]byte("approve\x00" + body))
		if got := hash(body, "key"); got == string(sum[:]) || got == hash(body, "other") || got != hash(body, "key") ||
			got == hash(strings.Replace(body, "1234", "1235", 1), "key") {
			t.Errorf("%s: %x", body, got)
		}
	}
	if hash(`{"decision":"deny"}`, "key") != hash(`{"decision":"deny"}`, "") {
		t.Error("the hash of a command of an earlier release is another")
	}
}
