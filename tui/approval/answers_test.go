package approval

import (
	"reflect"
	"testing"

	"agentctl/protocol"
)

func TestAnswersAreThoseOfTheKindOfQuestion(t *testing.T) {
	choices := []protocol.Choice{{ID: "a"}, {ID: "b"}}
	for _, c := range []struct {
		many    bool
		toggles []int
		done    bool // after the last one
		text    string
		want    []string
	}{
		{false, []int{0}, true, "", []string{"a"}},
		{false, []int{0, 1}, true, "", []string{"b"}},
		{false, []int{0, 0}, false, "", nil},
		{true, []int{1, 0}, false, "", []string{"b", "a"}},
		{true, []int{0, 1, 0}, false, "other", []string{"b", "other"}},
		{false, nil, false, "other", []string{"other"}},
	} {
		a := newAnswers([]protocol.Question{{ID: "none"}, {ID: "q", Choices: choices, Many: c.many}})
		done := false
		for _, choice := range c.toggles {
			done = a.toggle(1, choice)
		}
		a.text[a.questions[1].ID] = c.text
		want := map[string][]string{}
		if c.want != nil {
			want["q"] = c.want
		}
		if got := a.all(); !reflect.DeepEqual(got, want) || done != c.done {
			t.Errorf("%+v: got %v, done %v", c, got, done)
		}
	}
}
