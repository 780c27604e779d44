package session

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

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

func TestAnEditHoldOutlivesItsConnectionForAWhile(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		attach := func(conn string) {
			r.hub.Attach(t.Context(), id, &listener{name: conn}, &protocol.SubscribeData{}, func(*Attachment, error) {})
			synctest.Wait()
		}
		attach("c1")
		r.send(id, "one")
		two := r.send(id, "two")
		hold := func(who Caller) *call {
			return r.do(who, command(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two.MessageID}))
		}
		first := must[protocol.QueueHoldResult](r, hold(anna)).Hold
		refused(r, hold(bert), protocol.CodeConflict)
		refused(r, r.do(bert, command(protocol.DoQueueRemove, id, protocol.QueueRemoveData{MessageID: two.MessageID})), protocol.CodeConflict)
		r.agents.run().finish(End{}, nil)
		time.Sleep(time.Hour)
		if st := r.state(id); st.Turn != nil {
			t.Fatal("ran while it was edited")
		}
		r.hub.Detach(id, "c1", "")
		time.Sleep(29 * time.Second)
		again := anna
		again.Conn = "c9"
		attach("c9")
		if h := must[protocol.QueueHoldResult](r, hold(again)).Hold; h != first {
			t.Errorf("a second hold %s of one person", h)
		}
		time.Sleep(time.Minute)
		if st := r.state(id); st.Turn != nil {
			t.Fatal("ran while it was edited from the new connection")
		}
		must[protocol.QueueReleaseResult](r, r.do(bert, command(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})))
		if st := r.state(id); st.Turn != nil || len(st.Holds) != 1 {
			t.Fatal("somebody else's release lifted the edit hold")
		}
		r.hub.Detach(id, "c9", "")
		time.Sleep(31 * time.Second)
		r.settle()
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "two" || len(st.Holds) != 0 {
			t.Errorf("after the hold's end: %s", encodeState(st))
		}
	})
}
