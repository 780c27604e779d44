package dialect

import (
	"encoding/json"
	"strings"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A clientView is what a client sees of the session over all connections.
type clientView struct {
	t          *rapid.T
	failed     bool // subscribe got no answer of the server in time: the client connects again
	position   *protocol.Position
	transcript protocol.Transcript
	resumed    bool                      // the turn: the client did not see its beginning
	ended      map[string]*protocol.Turn // by message
}

// attach handles the answer to subscribe. Only a dialect whose connections share no positions
// begins again.
func (v *clientView) attach(a *protocol.Answer) {
	var r protocol.SubscribeResult
	if v.failed = a.Error != nil; v.failed {
		return
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		v.t.Fatal(err)
	}
	switch resumed := r.Mode == protocol.ModeResume; {
	case !resumed:
		v.transcript = protocol.Transcript{}
	case r.After != *v.position:
		v.t.Fatalf("resumed after %v instead of %v", r.After, *v.position)
	}
	v.position = &r.After
}

func (v *clientView) apply(e *protocol.Event) {
	if v.position == nil || e.First() != v.position.Seq+1 {
		v.t.Fatalf("event %d..%d at %v", e.First(), e.Seq, v.position)
	}
	v.position.Seq = e.Seq
	if _, err := v.transcript.Apply(e); err != nil {
		v.t.Fatal(err)
	}
	if e.Type == protocol.TurnStarted {
		var d protocol.TurnStartedData
		if err := e.Decode(&d); err != nil {
			v.t.Fatal(err)
		}
		v.resumed = d.Resumed
	}
	if e.Type != protocol.TurnEnded {
		return
	}
	if turn := v.transcript.Current(); turn != nil && turn.Turn == e.Turn && turn.End != nil {
		v.end(turn)
	}
	v.transcript = protocol.Transcript{}
}

// end handles the end of a turn, whose text is the answer to its message, or the beginning of it.
func (v *clientView) end(turn *protocol.Turn) {
	if v.resumed {
		return
	}
	text := textOf(turn)
	message, _, whole := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	if !whole {
		message = turn.Message.Text
	}
	switch {
	case message == "": // not known in every dialect
		return
	case v.ended[message] != nil:
		v.t.Fatalf("the turn of %q ends twice", message)
	case !strings.HasPrefix(answerTo(message), text):
		v.t.Fatalf("the turn of %q has the text %q", message, text)
	}
	v.ended[message] = turn
}

func textOf(turn *protocol.Turn) string {
	var b strings.Builder
	for _, it := range turn.Items {
		if it.Kind == protocol.ItemText {
			b.Write(it.Text)
		}
	}
	return b.String()
}
