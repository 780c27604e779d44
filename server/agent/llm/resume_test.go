package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// story is the answer of a model that says two words at a time, before and after a call.
func story(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
	text, said := "one two three four five six ", ""
	for _, m := range r.Messages {
		switch {
		case m.Role == fakemodel.Tool:
			text, said = "seven eight nine ten ", ""
		case m.Role == fakemodel.Assistant && m.Call == "":
			said += m.Text
		}
	}
	rest, ok := strings.CutPrefix(text, said)
	if !ok {
		rest = fmt.Sprintf("[the model cannot continue %q]", said)
	}
	if text[0] == 'o' && said == "" {
		out.Reasoning("hm")
	}
	for words := range slices.Chunk(strings.SplitAfter(rest, " "), 2) {
		if s := strings.Join(words, ""); s != "" {
			out.Text(s)
		}
	}
	if text[0] == 'o' {
		out.Call("shell", x("ls"))
	}
}

// shown returns the texts of events as a session reads them from its log.
func shown(events []agent.Event) (all []agent.ShownText) {
	for _, e := range events {
		switch d := e.Data.(type) {
		case protocol.PartStartData:
			kind := protocol.KindText
			if e.Type == protocol.ReasoningStart {
				kind = protocol.KindReasoning
			}
			all = append(all, agent.ShownText{Part: d.Part, Kind: kind, Open: true})
		case protocol.PartDeltaData:
			for i := range all {
				if all[i].Part == d.Part {
					all[i].Text += d.Text
				}
			}
		case protocol.PartEndData:
			for i := range all {
				if all[i].Part == d.Part {
					all[i].Open = false
				}
			}
		}
	}
	return all
}

// visible returns the text of a turn and whether every part has ended.
func visible(events []agent.Event) (text string, ended bool) {
	ended = true
	for _, s := range shown(events) {
		if s.Kind == protocol.KindText {
			text += s.Text
		}
		ended = ended && !s.Open
	}
	return text, ended
}

// A server that dies after any event of a turn, and again after an event of the rest, doubles no
// text and leaves no part open.
func TestAKillAfterAnyEventDoublesNoText(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		whole := killed(t, api, name)
		for first := range whole {
			rest := killed(t, api, name, first)
			seconds := []int{1, rest / 2, rest - 1}
			if !thorough.All() { // another one of them after each event
				seconds = seconds[first%3:][:1]
			}
			for _, second := range seconds {
				killed(t, api, name, first, second)
			}
		}
	})
}

// killed plays a turn whose server dies after the given numbers of events of each run. It returns
// the number of events of the last run.
func killed(t *testing.T, api, name string, after ...int) int {
	t.Helper()
	r := newRig(t, api, name, story, echo("shell"))
	turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "go"}}
	var log []agent.Event // of the session
	var state []byte      // of the store
	for _, n := range append(slices.Clone(after), -1) {
		rec := &recorder{decide: r.decide}
		rec.state = state
		var kept []byte
		events := -1
		die := func(agent.Event) {
			if events < 0 && n >= 0 && len(rec.events) > n {
				events, kept = len(rec.events), rec.state
			}
		}
		rec.onEmit = die
		r.recorder = rec
		r.open(state)
		turn.Shown = shown(log)
		end, err := r.agent.Run(t.Context(), turn, rec)
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("killed after %v: %+v, %v", after, end, err)
		}
		if events < 0 { // the run ended before
			log, state = append(log, rec.events...), rec.state
			if n < 0 {
				checkStory(t, log, after)
				return len(rec.events)
			}
		} else {
			log, state = append(log, rec.events[:events]...), kept
		}
		turn.Resumed = true
	}
	return 0
}

func checkStory(t *testing.T, log []agent.Event, after []int) {
	t.Helper()
	const want = "one two three four five six seven eight nine ten "
	text, ended := visible(log)
	if text != want || !ended {
		t.Errorf("killed after %v: %q, ended %v", after, text, ended)
	}
}

// The server dies after the end of a turn was decided and before the session knew.
func TestATurnThatHadEndedIsNotRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", story, echo("shell"))
		r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
			return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.DenyStop, Reason: "no"}, nil
		}
		r.open(nil)
		first, err := r.send(t.Context(), "go")
		if err != nil || first.Reason != protocol.ReasonDenied {
			t.Fatalf("%+v, %v", first, err)
		}
		requests := len(r.fake.Requests())
		r.open(r.state)
		turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "go"}, Resumed: true}
		again, err := r.agent.Run(t.Context(), turn, r.recorder)
		if err != nil || again.Reason != first.Reason || again.Message != "no" {
			t.Errorf("%+v, %v", again, err)
		}
		if n := len(r.fake.Requests()); n != requests {
			t.Errorf("%d requests more", n-requests)
		}
	})
}
