package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// Bounds of the texts of a task, in bytes.
const (
	maxTitle  = 200
	maxPrompt = 32 << 10
)

// parse reads the answer of a planner: JSON, perhaps among other text. It accepts other names and
// types of the fields if their meaning is clear. It returns the problems of an answer that is not a
// valid plan.
func (p *plan) parse(text string, most int) (problems []string) {
	raw := findJSON(text)
	if raw == nil {
		return []string{"the answer holds no JSON object with tasks"}
	}
	list := raw
	p.answer, p.summary = "", ""
	if o, ok := raw.(map[string]any); ok {
		p.summary = shorten(textOf(field(o, "summary", "plan_summary")), maxTitle)
		list = field(o, "tasks", "steps", "plan", "subtasks")
		if inside, ok := list.(map[string]any); ok && field(inside, "tasks", "steps") != nil {
			list = field(inside, "tasks", "steps")
		}
		if answer := textOf(field(o, "answer")); answer != "" && isEmpty(list) {
			p.answer = answer
			return nil
		}
	}
	tasks, problems := coerceTasks(list)
	if problems == nil {
		problems = checkTasks(tasks, most)
	}
	if problems == nil {
		p.tasks = tasks
	}
	return problems
}

// findJSON returns the first JSON object or list in the text that may be a plan: one with tasks, or
// else the first object. It ignores code fences and other text.
func findJSON(text string) (found any) {
	for tries := 0; tries < 100; tries++ {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		text = text[at:]
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) != nil {
			text = text[1:]
			continue
		}
		text = text[d.InputOffset():]
		switch v := v.(type) {
		case map[string]any:
			if field(v, "tasks", "steps", "plan", "subtasks", "answer") != nil {
				return v
			}
			if found == nil {
				found = v
			}
		case []any:
			if found == nil && len(v) > 0 {
				found = v
			}
		}
	}
	return found
}

// coerceTasks converts a list of tasks, of titles, or an object with tasks by their ids.
func coerceTasks(list any) (tasks []protocol.Task, problems []string) {
	var items []any
	var ids []string
	switch v := list.(type) {
	case []any:
		items = v
	case map[string]any:
		ids = slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			x, errX := strconv.Atoi(a)
			y, errY := strconv.Atoi(b)
			if errX == nil && errY == nil {
				return x - y
			}
			return strings.Compare(a, b)
		})
		for _, id := range ids {
			items = append(items, v[id])
		}
	default:
		return nil, []string{`"tasks" is missing or no list`}
	}
	for i, item := range items {
		t := protocol.Task{ID: strconv.Itoa(i + 1), Status: protocol.StatusPending}
		if ids != nil {
			t.ID = ids[i]
		}
		switch v := item.(type) {
		case string:
			t.Title, t.Description = v, v
		case map[string]any:
			problems = append(problems, coerceTask(&t, v)...)
		default:
			problems = append(problems, fmt.Sprintf("task %d is no object", i+1))
			continue
		}
		t.Title = shorten(firstLine(t.Title), maxTitle)
		if len(t.Description) > maxPrompt {
			problems = append(problems, fmt.Sprintf("task %q: the prompt is longer than %d bytes", t.ID, maxPrompt))
		}
		tasks = append(tasks, t)
	}
	resolveTitles(tasks)
	return tasks, problems
}

func coerceTask(t *protocol.Task, o map[string]any) (problems []string) {
	if id := textOf(field(o, "id", "task_id")); id != "" {
		t.ID = id
	}
	t.Description = textOf(field(o, "prompt", "description", "instructions", "objective", "task"))
	t.Title = cmp.Or(textOf(field(o, "title", "name")), t.Description)
	t.Description = cmp.Or(t.Description, t.Title)
	after := field(o, "depends_on", "after", "dependencies", "dependsOn", "depends")
	switch v := after.(type) {
	case nil:
	case []any:
		for _, item := range v {
			id := textOf(item)
			if inside, ok := item.(map[string]any); ok {
				id = textOf(field(inside, "id", "task_id"))
			}
			if id == "" {
				problems = append(problems, fmt.Sprintf("task %q: depends_on holds something that is no id", t.ID))
				continue
			}
			t.After = append(t.After, id)
		}
	case string, json.Number:
		for id := range strings.SplitSeq(textOf(v), ",") {
			if id = strings.TrimSpace(id); id != "" && !strings.EqualFold(id, "none") {
				t.After = append(t.After, id)
			}
		}
	default:
		problems = append(problems, fmt.Sprintf("task %q: depends_on is no list of ids", t.ID))
	}
	slices.Sort(t.After)
	t.After = slices.Compact(t.After)
	return problems
}

// resolveTitles replaces titles in dependencies with ids.
func resolveTitles(tasks []protocol.Task) {
	ids, titles := map[string]bool{}, map[string]string{}
	for _, t := range tasks {
		ids[t.ID], titles[t.Title] = true, t.ID
	}
	for i := range tasks {
		for j, id := range tasks[i].After {
			if of, ok := titles[id]; ok && !ids[id] {
				tasks[i].After[j] = of
			}
		}
	}
}

// field returns the first field of an object that is there, by names in any case.
func field(o map[string]any, names ...string) any {
	for _, name := range names {
		if v := o[name]; v != nil {
			return v
		}
	}
	for _, name := range names {
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if strings.EqualFold(key, name) && o[key] != nil {
				return o[key]
			}
		}
	}
	return nil
}

// textOf returns a text or a number as text, a list of texts as lines, else "".
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case []any:
		var lines []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				lines = append(lines, text)
			}
		}
		return strings.TrimSpace(strings.Join(lines, "\n"))
	}
	return ""
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
