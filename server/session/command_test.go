package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// failOnce makes the next commit fail.
func (r *rig) failOnce() {
	r.store.set(func() {
		r.store.failCommit = func([]*Batch) error {
			r.store.failCommit = nil
			return fmt.Errorf("disk full")
		}
	})
}

func keyed(c protocol.Command, key string) protocol.Command {
	c.Key = key
	return c
}

func TestACommandSentAgainReturnsTheFirstAnswer(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		name := "box"
		must[protocol.Empty](r, r.do(anna, command(protocol.DoRename, id, protocol.RenameData{Name: &name})))
		c := keyed(command(protocol.DoSend, id, protocol.SendData{Text: "one"}), "k1")
		first := must[protocol.SendResult](r, r.do(anna, c))
		c.Session = name
		for range 2 {
			if again := must[protocol.SendResult](r, r.do(anna, c)); again != first {
				t.Errorf("sent again: %+v, first %+v", again, first)
			}
			r.restart()
		}
		refused(r, r.do(anna, keyed(command(protocol.DoSend, id, protocol.SendData{Text: "two"}), "k1")), protocol.CodeKeyReused)
		if st := r.state(id); st.Turns != 1 || len(st.Queue) != 0 {
			t.Errorf("%d turns, %d queued", st.Turns, len(st.Queue))
		}
	})
}

func TestAnAnswerThatIsNotDurableYetIsNotForgotten(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "turn")
		r.store.set(func() { r.store.latency = time.Second })
		send := func(i int) *call {
			return r.start(anna, keyed(command(protocol.DoSend, id, protocol.SendData{Text: "x"}), fmt.Sprint("k", i)))
		}
		first := send(0)
		for i := range 2 * keepInMemory {
			send(i + 1)
		}
		again := send(0)
		r.settle()
		if a, b := must[protocol.SendResult](r, first), must[protocol.SendResult](r, again); a.MessageID != b.MessageID {
			t.Errorf("one key made two messages: %s, %s", a.MessageID, b.MessageID)
		}
	})
}

func TestACreateSentAgainIsAnsweredWhateverHappenedMeanwhile(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		dir := filepath.Join(t.TempDir(), "work")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c := keyed(command(protocol.DoCreate, "", protocol.CreateData{Name: "box", CWD: dir}), "k1")
		r.store.set(func() { r.store.latency = time.Second })
		a, b := r.start(anna, c), (*call)(nil)
		go func() { b = r.start(anna, c) }()
		r.settle()
		first := must[protocol.CreateResult](r, a)
		if must[protocol.CreateResult](r, b).Session != first.Session {
			t.Error("two sessions of one key")
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
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id, other := r.create(), r.create()
		rename := func(session, name string) protocol.Command {
			return command(protocol.DoRename, session, protocol.RenameData{Name: &name})
		}
		must[protocol.Empty](r, r.do(anna, keyed(rename(id, "x"), "k1")))
		must[protocol.Empty](r, r.do(anna, rename(id, "y")))
		must[protocol.Empty](r, r.do(anna, keyed(rename(id, "x"), "k1")))
		if got, err := r.hub.Resolve("y"); got != id {
			t.Errorf("y is %s, %v", got, err)
		}
		refused(r, r.do(anna, rename(other, "y")), protocol.CodeNameTaken)
		must[protocol.Empty](r, r.do(anna, rename(other, "x")))
		r.failOnce()
		refused(r, r.do(anna, rename(id, "z")), protocol.CodeStorage)
		must[protocol.Empty](r, r.do(anna, rename(other, "z")))
		if got, _ := r.hub.Resolve("y"); got != id {
			t.Error("the name was lost by a rename that was not kept")
		}
	})
}

func TestACloseThatWasNotKeptCanBeSentAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		c := keyed(command(protocol.DoClose, id, protocol.CloseData{Delete: true}), "k1")
		r.failOnce()
		refused(r, r.do(anna, c), protocol.CodeStorage)
		must[protocol.Empty](r, r.do(anna, c))
		refused(r, r.do(anna, c), protocol.CodeNoSession)
	})
}

func TestCommandsAfterAFailedCommitFindTheTurnEnded(t *testing.T) {
	for _, verb := range []protocol.Verb{protocol.DoApprove, protocol.DoInterrupt, protocol.DoClose} {
		t.Run(string(verb), func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *rig) {
				id := asking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
				r.failOnce()
				refused(r, r.do(anna, command(protocol.DoSend, id, protocol.SendData{Text: "two"})), protocol.CodeStorage)
				switch verb {
				case protocol.DoApprove:
					k := r.do(anna, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.DenyStop}))
					if e := refused(r, k, protocol.CodeConflict); e.Winner == nil || e.Winner.Outcome != protocol.Cancelled {
						t.Errorf("winner: %+v", e.Winner)
					}
				case protocol.DoInterrupt:
					if must[protocol.InterruptResult](r, r.do(anna, command(verb, id, protocol.InterruptData{}))).Interrupted {
						t.Error("interrupted a turn that was over")
					}
				case protocol.DoClose:
					must[protocol.Empty](r, r.do(anna, command(verb, id, protocol.CloseData{})))
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
	bubble(t, Config{InterruptGrace: time.Minute}, func(t *testing.T, r *rig) {
		r.agents.traits, r.agents.deaf = Traits{Resumes: true}, true
		id := r.create()
		r.send(id, "one")
		k := r.do(anna, command(protocol.DoInterrupt, id, protocol.InterruptData{}))
		r.restart()
		if !must[protocol.InterruptResult](r, k).Interrupted {
			t.Error("not interrupted")
		}
		if st := r.state(id); st.Turn != nil || st.Last.Reason != protocol.ReasonInterrupted {
			t.Errorf("turn %v, last %+v", st.Turn, st.Last)
		}
	})
}

func TestAMessageInFrontOfAnEditedOneStartsAtOnce(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "one")
		two := r.send(id, "two")
		must[protocol.QueueHoldResult](r, r.do(anna, command(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two.MessageID})))
		r.agents.run().finish(End{}, nil)
		r.settle()
		if st := r.state(id); st.Turn != nil || len(st.Queue) != 1 {
			t.Fatalf("turn %v, %d queued", st.Turn, len(st.Queue))
		}
		if s := r.send(id, "three"); s.Status != protocol.SendQueued {
			t.Errorf("behind the edited one: %+v", s)
		}
		front := must[protocol.SendResult](r, r.do(anna, command(protocol.DoSend, id, protocol.SendData{Text: "four", Front: true})))
		if front.Status != protocol.SendStarted {
			t.Errorf("in front of the edited one: %+v", front)
		}
	})
}

// follower of the log, as a connection is.
type listener struct {
	name  string
	woken int
}

func (l *listener) Wake()                        { l.woken++ }
func (l *listener) ID() string                   { return l.name }
func (l *listener) Actor() protocol.Actor        { return protocol.Actor{Name: l.name} }
func (l *listener) Program() string              { return "test" }
func (l *listener) Tell(string, []byte)          {}
func (l *listener) Acked(string) (uint64, int64) { return 0, 0 }

func TestAnAttachmentTellsNothingThatIsNotVisible(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "one")
		r.store.set(func() { r.store.latency = time.Second })
		send := r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "two"}))
		synctest.Wait() // its commit is under way
		var got *Attachment
		r.hub.Attach(context.Background(), id, &listener{name: "c1"}, &protocol.SubscribeData{}, func(a *Attachment, err error) {
			if err != nil {
				t.Error(err)
				return
			}
			now := a.Log.Position().Seq
			if a.Result.After.Seq > now || a.Result.Snapshot.State.Seq > now {
				t.Errorf("snapshot at %d, events after %d, visible %d", a.Result.Snapshot.State.Seq, a.Result.After.Seq, now)
			}
			got = a
		})
		r.agents.run().finish(End{}, nil)
		synctest.Wait() // its end waits for the next commit
		r.settle()
		if got == nil || send.replies != 1 {
			t.Error("not attached")
		}
	})
}

func TestADetachedConnectionIsNotWoken(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.store.set(func() { r.store.latency = time.Second })
		r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "one"}))
		l := &listener{name: "c1"}
		for range 2 {
			r.hub.Attach(context.Background(), id, l, &protocol.SubscribeData{}, func(*Attachment, error) {})
		}
		r.settle()
		r.hub.Detach(id, "c1", "gone")
		r.settle()
		woken := l.woken
		r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "two"}))
		r.settle()
		if l.woken != woken {
			t.Error("woken after it left")
		}
	})
}

func TestACommandThatComesWhileTheSessionUnloadsIsCarriedOut(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *rig) {
		id := r.create()
		for range 20 {
			time.Sleep(time.Minute)
			done := make(chan *call)
			go func() { done <- r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "x"})) }()
			k := <-done
			r.settle()
			if must[protocol.SendResult](r, k).Status != protocol.SendStarted {
				t.Fatal("queued behind nothing")
			}
			r.agents.run().finish(End{}, nil)
			r.settle()
		}
	})
}
