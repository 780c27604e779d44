package codec

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestUnsupportedVerbsAreNamedInWords(t *testing.T) {
	d := &Responder{Dialect: "d", Reasons: map[protocol.Verb]string{protocol.DoQueueHold: "it has none"}}
	for _, c := range protocol.Commands {
		switch c.Verb {
		case protocol.DoHello, protocol.DoPing, protocol.DoAck, protocol.DoUnsubscribe: // not answered so
			continue
		}
		e := d.Unsupported(string(c.Verb))
		if c.Words == "" || strings.HasSuffix(e.Message, "support "+string(c.Verb)) {
			t.Errorf("%s: got %q, want words for a user", c.Verb, e.Message)
		}
	}
	want := "the dialect d does not support holding the queue: it has none"
	if got := d.Unsupported(string(protocol.DoQueueHold)).Message; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
