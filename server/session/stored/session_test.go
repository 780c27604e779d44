package stored

import (
	"encoding/json"
	"testing"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

func TestASessionIsLoadedFromItsLastSnapshot(t *testing.T) {
	rec := eventlog.Record{ID: "s", Head: 10, Snapshot: protocol.MustEncode(&protocol.State{Session: "s", Seq: 10, Turns: 3})}
	st, err := readState(t.Context(), nil, rec) // a call of the nil store would panic
	if err != nil || st.Seq != 10 || st.Turns != 3 {
		t.Errorf("loaded %+v, %v", st, err)
	}
	rec.Snapshot = json.RawMessage(`{`)
	if _, err := readState(t.Context(), nil, rec); err == nil {
		t.Error("an invalid snapshot was accepted")
	}
}
