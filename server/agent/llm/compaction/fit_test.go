package compaction

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/internal/dev/thorough"
	"agentctl/server/agent/llm/model"
)

// In random conversations and rooms, all parts stay in their order, every one that lost something has a
// note, and what can be cut fits.
func TestAConversationFitsEveryRoom(t *testing.T) {
	for seed := range uint64(thorough.Rounds(300, 5000)) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var messages []model.Message
		least := int64(0) // that no cut makes smaller
		for range 1 + rnd.IntN(12) {
			m := model.Message{Role: []model.Role{model.User, model.Assistant}[rnd.IntN(2)]}
			for range 1 + rnd.IntN(8) {
				p := randomPart(rnd)
				least += min(PartSize(model.User, &p), smallText+2*noteSize+partSize)
				if p.Type == model.Reasoning {
					least += PartSize(model.User, &p)
				}
				m.Parts = append(m.Parts, p)
			}
			messages = append(messages, m)
		}
		before, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		room := rnd.Int64N(Size(messages) + 100)
		out := Fit(messages, room)
		if got := Size(out); got > max(room, least) {
			t.Fatalf("seed %d: %d bytes in a room of %d, at least %d", seed, got, room, least)
		}
		if after, err := json.Marshal(messages); err != nil || string(after) != string(before) {
			t.Fatalf("seed %d: the conversation was changed in its place: %v", seed, err)
		}
		checkParts(t, seed, messages, out)
	}
}

func randomPart(rnd *rand.Rand) model.Part {
	text := strings.Repeat("a€", rnd.IntN([]int{10, 300, 10_000}[rnd.IntN(3)]))
	switch rnd.IntN(6) {
	case 0:
		return model.Part{Type: model.ToolResult, Result: &model.Result{ID: "c", Name: "read", Text: text}}
	case 1:
		return model.Part{Type: model.FilePart, File: &model.File{Name: "f", Text: text}}
	case 2:
		input, _ := json.Marshal(map[string]string{"x": text}) // a string has no error
		return model.Part{Type: model.ToolCall, Call: &model.Call{ID: "c", Name: "write", Input: input}}
	case 3:
		return model.Part{Type: model.Reasoning, Text: "thought"}
	case 4:
		raw, _ := json.Marshal(text)
		return model.Part{Type: model.Text, Text: text, Raw: raw}
	}
	return model.Part{Type: model.Text, Text: text}
}

func checkParts(t *testing.T, seed uint64, before, after []model.Message) {
	t.Helper()
	if len(before) != len(after) {
		t.Fatalf("seed %d: %d messages became %d", seed, len(before), len(after))
	}
	for i := range before {
		if len(before[i].Parts) != len(after[i].Parts) || before[i].Role != after[i].Role {
			t.Fatalf("seed %d: message %d lost parts", seed, i)
		}
		for j := range before[i].Parts {
			was, err := json.Marshal(&before[i].Parts[j])
			is, failed := json.Marshal(&after[i].Parts[j])
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			if string(was) == string(is) {
				continue
			}
			if !strings.Contains(string(is), "left out") && !strings.Contains(string(is), "left_out") ||
				before[i].Parts[j].Type != after[i].Parts[j].Type || !utf8.Valid(is) {
				t.Fatalf("seed %d: part %d.%d became %.200s", seed, i, j, is)
			}
		}
	}
}

func TestATextIsCutToEveryLength(t *testing.T) {
	for most := range 12 {
		got := Cut(strings.Repeat("€", 40), most)
		if !utf8.ValidString(got) || !strings.Contains(got, "were left out") || len(got) > most+noteSize {
			t.Errorf("bound %d: %q", most, got)
		}
	}
}

// The longest texts are cut first: others stay whole.
func TestTextsAreCutToACommonLength(t *testing.T) {
	var texts []string
	for _, n := range []int{1000, 5, 3000, 400} {
		texts = append(texts, strings.Repeat("a", n))
	}
	out := CutTexts(texts, 3000)
	if out[0] != texts[0] || out[1] != texts[1] || out[3] != texts[3] || len(out[2]) > 1600 {
		t.Errorf("the texts have %d, %d, %d and %d bytes", len(out[0]), len(out[1]), len(out[2]), len(out[3]))
	}
}
