package archive

import (
	"encoding/json"
	"slices"
	"testing"

	"agentctl/protocol"
)

func TestAnInvalidLogIsNotImported(t *testing.T) {
	var log []json.RawMessage
	for _, e := range history() {
		log = append(log, protocol.MustEncode(protocol.Event{
			Session: "s", Seq: uint64(len(log) + 1), Turn: e.Turn, Time: e.Time, Type: e.Type, By: e.By, Data: e.Data,
		}))
	}
	for name, d := range map[string]protocol.ImportData{
		"none":        {},
		"unfinished":  {Events: log[:len(log)-1]},
		"no message":  {Events: log[1:]},
		"twice":       {Events: slices.Concat(log, log)},
		"no event":    {Events: []json.RawMessage{json.RawMessage(`7`)}},
		"no data":     {Events: []json.RawMessage{json.RawMessage(`{"type":"message.user","turn":"t","data":7}`)}},
		"less than 0": {Events: log, LeftOut: -1},
	} {
		if _, err := Import(&d, &anna); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if past, err := Import(&protocol.ImportData{Events: log}, &anna); err != nil || len(past.Turns) != len(log) {
		t.Errorf("%+v, %v", past, err)
	}
}
