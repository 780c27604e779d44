package approval

import (
	"reflect"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestQuestionAnswers(t *testing.T) {
	s := open(t, tuitest.Scenes["question"](), 80, 40)
	s.focus()
	s.press("2")                   // SQLite, then the next question
	s.press("up", "up", "up", "1") // change to Postgres
	s.mustShow("(•) ▏ Postgres", "( ) ▏ SQLite", "▸ Answer:")
	s.press("enter")
	s.typeText("store")
	s.paste(" of\nada")
	s.press("enter")
	s.mustShow("Answer: ▏ store of ada")
	s.press("y")
	data := s.mustDecide()
	want := map[string][]string{"db": {"pg"}, "name": {"store of ada"}}
	if data.Option != "answer" || data.Input == nil || !reflect.DeepEqual(data.Input.Answers, want) {
		t.Errorf("got answer %+v with input %+v", data, data.Input)
	}
}

func TestQuestionMultipleChoice(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "ask me")
	j.RequestApproval(protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveQuestion,
		Title:   "Which?",
		Questions: []protocol.Question{
			{
				ID:      "of",
				Text:    "Which of them?",
				Many:    true,
				Choices: []protocol.Choice{{ID: "x", Label: "Left"}, {ID: "y", Label: "Right"}},
			},
		},
	})
	j.CaughtUp()
	s := open(t, j, 80, 30)
	s.focus()
	s.press("enter")
	s.mustShow("[x] ▏ Left", "[ ] ▏ Right")
	s.press("2")
	s.mustShow("[x] ▏ Left", "[x] ▏ Right")
}

func TestQuestionWithoutAnswer(t *testing.T) {
	s := open(t, tuitest.Scenes["question"](), 80, 40)
	s.focus()
	s.press("y")
	s.mustNotDecide()
	s.mustShow("no question is answered yet")
	s.press("n")
	if data := s.mustDecide(); data.Option != "skip" {
		t.Errorf("got decision %+v, want skip", data)
	}
}
