package codec

import (
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
)

func TestATimeThatCannotBeWrittenIsNow(t *testing.T) {
	now := time.Unix(1, 0).UTC()
	early := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{{}, early, early.AddDate(10_000, 0, 0), early.AddDate(33_658, 0, 0)} {
		out := &Output{}
		l := NewLog("s", "e1")
		l.Attach(out, &Responder{}, &protocol.Command{Session: "s"}, now)
		out.Native = nil
		l.Add(out, now, Entry{Type: protocol.Notice, Time: at, Data: protocol.NoticeData{Message: "x"}})
		var e protocol.Event
		if err := json.Unmarshal(out.Native[0], &e); err != nil || !e.Time.Equal(now) {
			t.Errorf("%v became %v: %v", at, e.Time, err)
		}
	}
}
