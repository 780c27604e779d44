package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
	"agentctl/server/policy"
)

// cacheMarks are where Anthropic caches: they follow the end of the conversation.
var cacheMarks = regexp.MustCompile(`"cache_control":\{"type":"ephemeral"\},?`)

// split returns a request without its messages, and the messages.
func split(t *testing.T, body []byte) (rest string, messages []string) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(cacheMarks.ReplaceAll(body, nil), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "input", "contents"} {
		var list []json.RawMessage
		if fields[name] == nil {
			continue
		}
		if err := json.Unmarshal(fields[name], &list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			messages = append(messages, string(m))
		}
		delete(fields, name)
	}
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), messages
}

// Over turns, changes of the policy and of instructions, a summary of nothing, and a restart, each request begins with
// the one before, byte by byte: providers cache it. Changes are told in new messages.
func TestThePrefixOfRequestsIsStable(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		script := func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if q.N%2 == 0 {
				out.Call("look", x("ls"))
				return
			}
			out.Text("done")
		}
		look := echo("look")
		look.safe = true
		r := newRig(t, api, name, script, look)
		notes := []Note{{Of: "environment", Text: "today is Monday", Once: true}, {Of: "/AGENTS.md", Text: "be brief"}}
		r.opts.Toolbox = func(agent.Spec, agent.Host) (Toolbox, error) {
			return &fakeToolbox{tools: []toolMaker{look}, notes: notes}, nil
		}
		r.open(nil)
		send := func(text string) {
			t.Helper()
			if end, err := r.send(t.Context(), text); err != nil {
				t.Fatalf("%s: %+v, %v", text, end, err)
			}
		}
		set := func(to policy.Policy) {
			t.Helper()
			if err := r.agent.Configure(t.Context(), policySetting, string(to)); err != nil {
				t.Fatal(err)
			}
		}
		send("first text")
		set(policy.Plan)
		send("second text")
		notes[0].Text, notes[1].Text = "today is Tuesday", "be kind"
		r.open(r.state)
		send("third text")
		set(policy.Ask)
		notes = notes[:1]
		r.open(r.state)
		send("last text")

		requests := r.fake.Requests()
		rest, messages := split(t, requests[0].Body)
		for i, q := range requests[1:] {
			next, more := split(t, q.Body)
			if next != rest {
				t.Errorf("request %d has another prompt, tools or options:\n%s\n%s", i+1, rest, next)
			}
			if len(more) <= len(messages) || !slices.Equal(more[:len(messages)], messages) {
				t.Errorf("request %d does not begin with the one before:\n%s\n%s", i+1, messages, more)
			}
			messages = more
		}
		at, text := 0, strings.Join(messages, "\n")
		for _, want := range []string{
			"today is Monday", "be brief", "first text", "The policy is plan now", "second text", "be kind", "third text",
			"The policy is no longer plan", "/AGENTS.md does not exist any more", "last text",
		} {
			i := strings.Index(text[at:], want)
			if i < 0 || strings.Count(text, want) != 1 {
				t.Fatalf("%q is %d times in the conversation, or too early:\n%s", want, strings.Count(text, want), text)
			}
			at += i
		}
		if strings.Contains(text, "Tuesday") {
			t.Error("the environment was told twice")
		}
	})
}

// Notes that a summary has replaced, or that were undone, are told again.
func TestNotesThatAreMissingAreToldAgain(t *testing.T) {
	s := &state{}
	notes := []Note{{Of: "a", Text: "1", Once: true}, {Of: "b", Text: "2"}}
	s.add(model.Texts(model.User, "hello"))
	s.insert(missingNotes(s.Conversation, notes, true))
	if n := len(s.Conversation[0].Parts); n != 4 || s.Conversation[0].Parts[3].Text != "hello" {
		t.Fatalf("%d parts", n)
	}
	if again := missingNotes(s.Conversation, notes, true); again != nil {
		t.Errorf("told again: %+v", again)
	}
	s.Conversation = []model.Message{model.Texts(model.User, "a summary")}
	if again := missingNotes(s.Conversation, notes, true); len(again) != 3 {
		t.Errorf("after a summary: %+v", again)
	}
}

// Undoing a turn keeps the messages before it in the same message, and drops its notes.
func TestUndoDropsTheNotesOfATurn(t *testing.T) {
	s := &state{}
	s.markTurn("t1")
	s.add(model.Message{Role: model.User, Parts: []model.Part{{Type: model.Text, Text: "stopped", Asked: true}}})
	before := slices.Clone(s.Conversation[0].Parts)
	s.markTurn("t2")
	s.add(model.Message{Role: model.User, Parts: []model.Part{{Type: model.FilePart, File: &model.File{Text: "f"}}}})
	s.insert(missingNotes(s.Conversation, []Note{{Of: "a", Text: "1"}}, false))
	if got := s.before(s.Turns[1]); len(got) != 1 || len(got[0].Parts) != 1 || got[0].Parts[0].Text != before[0].Text {
		t.Errorf("%+v", got)
	}
}

// The context lists the notes.
func TestTheContextListsNotes(t *testing.T) {
	text := strings.Repeat("be brief. ", 100)
	r := newRig(t, apis[0].api, apis[0].model, func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		out.Text("done")
	}, echo("shell"))
	r.opts.Toolbox = func(agent.Spec, agent.Host) (Toolbox, error) {
		return &fakeToolbox{notes: []Note{{Of: "/repo/AGENTS.md", Text: text}}}, nil
	}
	r.open(nil)
	if _, err := r.send(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	_, parts, err := r.agent.Context(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.Name == "/repo/AGENTS.md" && p.Tokens > 100 {
			return
		}
	}
	t.Errorf("parts %+v", parts)
}

func TestThePromptFitsTheModelAndIsReplaced(t *testing.T) {
	a := &Agent{options: Options{Config: Config{Instructions: "Be British."}}}
	for window, want := range map[int64]string{0: fullPrompt, 16_000: smallPrompt, 200_000: fullPrompt} {
		got, err := instructions(&a.options.Config, window, false)
		if err != nil || got != strings.TrimSpace(want)+"\n\nBe British." {
			t.Errorf("window %d: %.80q, %v", window, got, err)
		}
	}
	a.options.Config.Prompt = "prompt_small.md"
	if got, err := instructions(&a.options.Config, 0, false); err != nil || !strings.HasPrefix(got, strings.TrimSpace(smallPrompt)) {
		t.Errorf("replaced: %.80q, %v", got, err)
	}
	a.options.Config.Prompt = "no.md"
	if _, err := instructions(&a.options.Config, 0, false); err == nil || !strings.Contains(err.Error(), "no.md") {
		t.Errorf("missing: %v", err)
	}
	if len(smallPrompt) > 1200 || bytes.Count([]byte(fullPrompt), []byte("\n")) > 60 {
		t.Error("the prompts are too long")
	}
}
