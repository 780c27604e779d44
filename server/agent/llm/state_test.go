package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
)

// noise returns text that does not compress.
func noise(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('!' + rand.IntN(90))
	}
	return string(b)
}

func TestAStateThatIsTooLargeLosesOldOutputs(t *testing.T) {
	s := state{Format: stateFormat}
	s.add(model.Texts(model.User, "first question"))
	for range 6 {
		s.add(model.Texts(model.Assistant, "calling"))
		s.add(model.Message{Role: model.User, Parts: []model.Part{{
			Type: model.ToolResult, Result: &model.Result{ID: "c", Name: "read", Text: noise(300 << 10)},
		}}})
	}
	b, _, err := s.encode()
	if err != nil || len(b) > maxStored {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	got, err := decodeState(b)
	if err != nil || len(got.Conversation) != len(s.Conversation) {
		t.Fatalf("%d messages, %v", len(got.Conversation), err)
	}
	if first := got.Conversation[0].Text(); first != "first question" {
		t.Error(first)
	}
	last := got.Conversation[len(got.Conversation)-1].Parts[0].Result.Text
	if len(last) != 300<<10 || !strings.Contains(got.Conversation[2].Parts[0].Result.Text, "left out") {
		t.Errorf("the newest output has %d bytes", len(last))
	}
}

// Only new messages are encoded, and the result equals that of a complete encoding.
func TestAStateIsEncodedLikeAWhole(t *testing.T) {
	s := state{Format: stateFormat, Model: `"conversation":null`}
	check := func(what string) {
		t.Helper()
		got, err := s.plain()
		want, _ := json.Marshal(&s)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n%s\n%s", what, err, got, want)
		}
	}
	check("empty")
	for i := range 6 {
		s.add(model.Texts(model.User, fmt.Sprint("question ", i)))
		check("a question")
		s.add(model.Texts(model.User, noise(4<<10)))
		check("a longer question")
		s.add(model.Message{Role: model.Assistant, Parts: []model.Part{{
			Type: model.ToolCall, Call: &model.Call{ID: "c", Name: "read", Input: json.RawMessage(`{"x": 1}`)},
		}}})
		check("a call")
		s.add(model.Message{Role: model.User, Parts: []model.Part{{
			Type: model.ToolResult, Result: &model.Result{ID: "c", Name: "read", Text: noise(6 << 10)},
		}}})
		check("a result")
		s.add(model.Texts(model.Assistant, "answer"))
		check("an answer")
	}
	s.shorten()
	check("a shortened result")
	s.Conversation, _ = compaction.DropResults(s.Conversation, 0)
	check("dropped results")
	s.Conversation = s.Conversation[:3]
	check("an undone turn")
}

// What does not fit the stored state is cut, with notes in its place, and users are told.
func TestAConversationThatCannotBeStoredIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Text("ok")
		}))
		text := strings.Repeat("0123456789abcdef", 1<<16) + noise(2<<20)
		if _, err := r.send(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if stored := r.conversation(t); !strings.Contains(stored[0].Text(), "bytes were left out to save space") {
			t.Errorf("%.200q", stored[0].Text())
		}
		if !strings.Contains(r.lines(), "does not see all of it") {
			t.Error("users are not told")
		}
	})
}

func TestAStateOfAnotherAgentIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"session":"x"}`, `{"llm":2}`, "x", "\x1f\x8b", `{"llm":"1"}`, `{"llm":1,"conversation":[{}]}`,
	} {
		_, err := decodeState([]byte(text))
		if protocol.CodeOf(err) != protocol.CodeInvalidState {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzDecodeState(f *testing.F) {
	s := state{Format: stateFormat, Turn: &turnState{ID: "t", Calls: []callState{{Tool: "x"}}}}
	s.add(model.Texts(model.User, "hi"))
	b, _, err := s.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"llm":1,"conversation":[{"role":"user","parts":[{"type":"call"}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeState(b)
		if err != nil {
			return
		}
		s.finishCalls(notRun)
		if _, _, err := s.encode(); err != nil && protocol.CodeOf(err) != protocol.CodeTooLarge {
			t.Error(err)
		}
	})
}

// The conversation continues after a restart, and with another model.
func TestAConversationOutlivesItsAgentAndItsModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "anthropic", "claude-sonnet-5-5", fakemodel.Say("answer"))
		if err := r.agent.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.send(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		exported, err := r.agent.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.open(exported)
		if err := r.agent.Configure(t.Context(), "model", "test/other"); err != nil {
			t.Fatal(err)
		}
		if err := r.agent.Configure(t.Context(), "effort", "high"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.send(t.Context(), "second"); err != nil {
			t.Fatal(err)
		}
		last := r.fake.Requests()[1]
		if last.Model != "other" || !strings.Contains(string(last.Body), "first") ||
			!strings.Contains(string(last.Body), `"effort":"high"`) {
			t.Errorf("%s", last.Body)
		}
		info, _, err := r.agent.Context(t.Context())
		if err != nil || info.Tokens == 0 || info.TranscriptLength != 4 {
			t.Errorf("%+v, %v", info, err)
		}
	})
}

func TestSettingsAreToldAndChecked(t *testing.T) {
	r := newRig(t, "chat", "qwen", fakemodel.Say("x"))
	for i, want := range []protocol.Code{"", protocol.CodeInvalidMessage, protocol.CodeNotFound, ""} {
		set := [][2]string{{"model", "test/other"}, {"model", "gpt-9"}, {"mode", "x"}, {"effort", "default"}}[i]
		if err := r.agent.Configure(t.Context(), set[0], set[1]); protocol.CodeOf(err) != want {
			t.Errorf("%q: %v", set, err)
		}
	}
	last := r.events[len(r.events)-1].Data.(protocol.Options)
	values := []string{last.Settings[0].Value, last.Settings[1].Value}
	if last.Name != "coder" || !slices.Equal(values, []string{"test/other", "default"}) {
		t.Errorf("%+v", last)
	}
	_, undoes := agent.Agent(r.agent).(agent.Undoer)
	_, forks := agent.Agent(r.agent).(agent.Forker)
	if last.Has(protocol.FeatureUndo) != undoes || last.Has(protocol.FeatureFork) != forks || last.Has("fly") {
		t.Errorf("the features are %q", last.Features)
	}
}

// Without a key the agent does not start, and its error names what is missing.
func TestAnAgentWithoutAKeyDoesNotStart(t *testing.T) {
	r := newRig(t, "openai", "gpt-5.5", fakemodel.Say("x"))
	r.opts.Open = func(context.Context, string) (model.Backend, error) {
		return model.Backend{}, model.Errorf(model.Auth, "provider openai has no key: OPENAI_API_KEY is not set")
	}
	r.open(nil)
	err := r.agent.Start(t.Context())
	if protocol.CodeOf(err) != protocol.CodeAgentAuth || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Error(err)
	}
	_, err = r.send(t.Context(), "go")
	if protocol.CodeOf(err) != protocol.CodeAgentAuth {
		t.Error(err)
	}
}

func TestACountThatCannotBeOfTheConversationIsReplacedByAnEstimate(t *testing.T) {
	for count, want := range map[int64]int64{0: 10_000, 15: 10_000, 1999: 10_000, 2000: 2000, 12_000: 12_000} {
		var s state
		s.setContext(count, 40_000)
		if s.Context != want || s.tokens(80_000) != 2*want {
			t.Errorf("%d tokens: %d, of twice as much %d", count, s.Context, s.tokens(80_000))
		}
	}
}
