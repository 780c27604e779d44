package protocol

import (
	"reflect"
	"testing"
)

// sentences returns a request whose questions have their texts as ids, and labels as ids of their
// choices.
func sentences() *Approval {
	return &Approval{Questions: []Question{
		{ID: "Red or blue?", Text: "Red or blue?", Choices: []Choice{
			{ID: "red", Label: "red"}, {ID: "blue", Label: "blue"},
		}},
		{ID: "Which days?", Text: "Which days?", Many: true, Choices: []Choice{
			{ID: "mon", Label: "mon"}, {ID: "tue", Label: "tue"},
		}},
		{ID: "a=b?", Text: "a=b?"},
	}}
}

func TestAnswersNameQuestionsAndChoicesByNumberOrID(t *testing.T) {
	one := &Approval{Questions: sentences().Questions[:1]}
	many := &Approval{Questions: sentences().Questions[1:2]}
	short := &Approval{Questions: []Question{
		{ID: "db", Choices: []Choice{{ID: "pg", Label: "Postgres 17"}, {ID: "lite", Label: "SQLite"}}}, {ID: "name"},
	}}
	numbers := &Approval{Questions: []Question{
		{ID: "2", Choices: []Choice{{ID: "0", Label: "no"}, {ID: "1", Label: "yes"}}}, {ID: "1"},
	}}
	for _, c := range []struct {
		request *Approval
		line    string
		want    map[string][]string
	}{
		{sentences(), "1=2", map[string][]string{"Red or blue?": {"blue"}}},
		{sentences(), "1=2 2=1,2 3=some text", map[string][]string{
			"Red or blue?": {"blue"}, "Which days?": {"mon", "tue"}, "a=b?": {"some text"},
		}},
		{sentences(), "Red or blue?=red Which days?=tue a=b?=c", map[string][]string{
			"Red or blue?": {"red"}, "Which days?": {"tue"}, "a=b?": {"c"},
		}},
		{sentences(), "2=1 2=2", map[string][]string{"Which days?": {"mon", "tue"}}},
		{sentences(), "1=green 2=mon, sometimes", map[string][]string{
			"Red or blue?": {"green"}, "Which days?": {"mon, sometimes"},
		}},
		{one, "2", map[string][]string{"Red or blue?": {"blue"}}},
		{one, "1=2", map[string][]string{"Red or blue?": {"blue"}}},
		{one, "light blue", map[string][]string{"Red or blue?": {"light blue"}}},
		{many, "1, 2", map[string][]string{"Which days?": {"mon", "tue"}}},
		{short, "db=pg name=the big=store", map[string][]string{"db": {"pg"}, "name": {"the big=store"}}},
		{short, "1=Postgres 17 2=17", map[string][]string{"db": {"pg"}, "name": {"17"}}},
		{short, "1=3", map[string][]string{"db": {"3"}}},
		{numbers, "2=1 1=x", map[string][]string{"2": {"1"}, "1": {"x"}}},
	} {
		got, err := c.request.ParseAnswers(c.line)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.line, got, err, c.want)
		}
	}
	for _, line := range []string{"", "red", "4=x", "1=", "1= 2=1"} {
		if got, err := sentences().ParseAnswers(line); err == nil {
			t.Errorf("%q: got %v, want an error", line, got)
		}
	}
}

func TestTheExampleOfAnswersParses(t *testing.T) {
	for want, a := range map[string]*Approval{
		"1=1 2=1,2 3=TEXT": sentences(),
		"1":                {Questions: sentences().Questions[:1]},
		"TEXT":             {Questions: []Question{{ID: "Why is it so?"}}},
		"2=0 1=TEXT": {Questions: []Question{
			{ID: "2", Choices: []Choice{{ID: "0", Label: "no"}, {ID: "1", Label: "yes"}}}, {ID: "1"},
		}},
	} {
		if got := a.AnswerExample(); got != want {
			t.Errorf("got example %q, want %q", got, want)
		}
		answers, err := a.ParseAnswers(want)
		if err != nil || len(answers) != len(a.Questions) {
			t.Errorf("%s: got %v, %v", want, answers, err)
		}
		for i := range a.Questions {
			q, given := &a.Questions[i], answers[a.Questions[i].ID]
			if n := len(given); len(q.Choices) > 0 && (given[0] != q.Choices[0].ID || q.Many != (n == 2)) {
				t.Errorf("%s: got %v for %s, want its first choices", want, given, q.ID)
			}
		}
	}
}

func TestARequestOffersOnlyItsOptions(t *testing.T) {
	a := &Approval{Options: []Option{{Kind: Deny}, {Kind: AllowAlways}}}
	for kind, want := range map[Decision]bool{AllowOnce: false, AllowAlways: true, Deny: true, DenyStop: false} {
		if got := a.Offers(kind); got != want {
			t.Errorf("%s: got %v, want %v", kind, got, want)
		}
	}
	if none := (&Approval{}); !none.Offers(AllowOnce) || !none.Offers(Deny) || none.Offers(Explain) {
		t.Errorf("a request without options: got %v", none.Offered())
	}
}
