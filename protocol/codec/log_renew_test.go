package codec

import (
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
)

func TestARenewedLogKeepsThePastAndNothingThatWaits(t *testing.T) {
	now := time.Unix(1, 0)
	out := &Output{}
	d := &Responder{Dialect: "test"}
	l := NewLog("s", "e1")
	l.Add(out, now, Entry{
		Type: protocol.MessageUser, Turn: "t1",
		Data: protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "x"}},
	})
	l.Add(out, now, Entry{
		Type: protocol.TurnEnded, Turn: "t1",
		Data: protocol.TurnEndedData{Reason: protocol.ReasonCompleted},
	})
	l.Add(out, now, Entry{
		Type: protocol.QueueAdded,
		Data: protocol.QueueAddedData{Message: protocol.Message{MessageID: "m2"}},
	})
	l.Renew("e2")
	if l.Following() || l.State.Seq != 3 || l.State.Turns != 1 || len(l.State.Queue) != 0 ||
		len(l.History(protocol.HistoryData{}).Events) != 2 {
		t.Errorf("renewed: %s", protocol.MustEncode(l.State))
	}
	at := protocol.MustEncode(protocol.SubscribeData{Position: &protocol.Position{Epoch: "e1", Seq: 3}})
	l.Attach(out, d, &protocol.Command{ID: "1", Session: "s", Data: at}, now)
	var a protocol.Answer
	var r protocol.SubscribeResult
	if json.Unmarshal(out.Native[0], &a) != nil || json.Unmarshal(a.Result, &r) != nil ||
		r.Mode != protocol.ModeReset || r.After != (protocol.Position{Epoch: "e2", Seq: 3}) {
		t.Errorf("attached: %s", out.Native[0])
	}
}
