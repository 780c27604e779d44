package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/protocol"
)

// describe returns the tasks in brief: ID:TITLE:PROMPT<DEPENDENCIES.
func describe(tasks []protocol.Task) string {
	var all []string
	for _, t := range tasks {
		text := t.ID + ":" + t.Title + ":" + t.Description
		if t.After != nil {
			text += "<" + strings.Join(t.After, ",")
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestAnswersOfPlannersAreRead(t *testing.T) {
	for _, test := range []struct{ name, answer, want string }{
		{"plain", `{"tasks":[{"id":"a","title":"A","prompt":"do"}]}`, "a:A:do"},
		{"fenced", "Sure:\n```json\n{\"tasks\":[{\"id\":\"a\",\"title\":\"A\",\"prompt\":\"do\"}]}\n```\nOK?", "a:A:do"},
		{"text before with braces", `I use {braces} and [1]. {"tasks":[{"title":"A"}]}`, "1:A:A"},
		{"another object first", `{"note":"x"} {"tasks":["A"]}`, "1:A:A"},
		{"a list", `[{"title":"A"},{"title":"B","depends_on":["1"]}]`, "1:A:A 2:B:B<1"},
		{"titles only", `{"tasks":["A","B"]}`, "1:A:A 2:B:B"},
		{"by id", `{"tasks":{"2":{"title":"B"},"10":"C","1":{"title":"A"}}}`, "1:A:A 2:B:B 10:C:C"},
		{"inside of plan", `{"plan":{"steps":[{"name":"A","description":"do"}]}}`, "1:A:do"},
		{"numbers", `{"tasks":[{"id":1,"title":"A"},{"id":2,"title":"B","depends_on":1}]}`, "1:A:A 2:B:B<1"},
		{"a text of ids", `["A","B",{"title":"C","depends_on":"2, 1"}]`, "1:A:A 2:B:B 3:C:C<1,2"},
		{"none and null", `[{"title":"A","depends_on":"none"},{"title":"B","depends_on":null}]`, "1:A:A 2:B:B"},
		{"titles as dependencies", `{"tasks":[{"title":"A"},{"title":"B","depends_on":["A"]}]}`, "1:A:A 2:B:B<1"},
		{"ids in objects, twice", `{"tasks":[{"title":"A"},{"title":"B","after":[{"id":1},"1"]}]}`, "1:A:A 2:B:B<1"},
		{"other case", `{"Tasks":[{"Title":"A","Prompt":"do"}]}`, "1:A:do"},
		{"lines of a prompt", `{"tasks":[{"prompt":["first","second"]}]}`, "1:first:first\nsecond"},
	} {
		p := new(plan)
		if problems := p.parse(test.answer, 10); problems != nil || describe(p.tasks) != test.want {
			t.Errorf("%s: %q, %q, want %q", test.name, describe(p.tasks), problems, test.want)
		}
	}
}

func TestAnswersThatAreNoPlanHaveTheirProblemsNamed(t *testing.T) {
	long := strings.Repeat("x", maxPrompt+1)
	for _, test := range []struct{ name, answer, want string }{
		{"text", "I will do it.", "the answer holds no JSON object with tasks"},
		{"cut", `{"tasks":[{"title":"A"}`, `"tasks" is missing or no list`},
		{"nothing", `{"tasks":[]}`, "there are no tasks"},
		{"a number", `{"tasks":3}`, `"tasks" is missing or no list`},
		{"a task that is a number", `{"tasks":[3]}`, "task 1 is no object"},
		{"empty task", `{"tasks":[{}]}`, `task "1" has no title and no prompt`},
		{"an id twice", `{"tasks":[{"id":1,"title":"A"},{"id":"1","title":"B"}]}`, `the id "1" is used twice`},
		{"unknown", `{"tasks":[{"title":"A","depends_on":["9"]}]}`, `task "1" depends on "9", which does not exist`},
		{"itself", `{"tasks":[{"title":"A","depends_on":["1"]}]}`, "the tasks depend on each other in a cycle: 1"},
		{"a flag", `{"tasks":[{"title":"A","depends_on":true}]}`, `task "1": depends_on is no list of ids`},
		{"too many", `["a","b","c","d"]`, "there are 4 tasks: at most 3 are possible"},
		{
			"a long prompt", `[{"title":"A","prompt":"` + long + `"}]`,
			fmt.Sprintf(`task "1": the prompt is longer than %d bytes`, maxPrompt),
		},
	} {
		p := new(plan)
		problems := p.parse(test.answer, 3)
		if len(problems) != 1 || problems[0] != test.want || p.tasks != nil {
			t.Errorf("%s: %q, want %q", test.name, problems, test.want)
		}
	}
}

func TestAPlanFitsAnEvent(t *testing.T) {
	var tasks []map[string]string
	for range 20 {
		tasks = append(tasks, map[string]string{"prompt": strings.Repeat("x", maxPrompt)})
	}
	p := new(plan)
	problems := p.parse(string(protocol.MustEncode(tasks)), 50)
	if len(problems) != 1 || !strings.Contains(problems[0], "together") {
		t.Errorf("%.300q", problems)
	}
}

func FuzzPlannerAnswer(f *testing.F) {
	f.Add(`{"summary":"s","tasks":[{"id":1,"title":"A","prompt":"do","depends_on":"2"},{"id":"2"}]}`)
	f.Add("```json\n[{\"title\":\"A\"}]\n``` {[}")
	f.Add(`{"answer":"hello"}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := new(plan)
		problems := p.parse(text, 20)
		if problems != nil || p.answer != "" {
			return
		}
		if again := checkTasks(p.tasks, 20); again != nil || findCycle(p.tasks) != nil {
			t.Errorf("accepted %q: %q", text, again)
		}
		for _, task := range p.tasks {
			if utf8.ValidString(text) && !utf8.ValidString(task.Title+task.Description) {
				t.Errorf("broke a rune: %q", task.Title)
			}
		}
		if b := protocol.MustEncode(p.tasks); len(b) > maxPlan || !json.Valid(b) {
			t.Errorf("%d bytes", len(b))
		}
	})
}
