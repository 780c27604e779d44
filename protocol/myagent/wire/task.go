package wire

import (
	"encoding/json"
	"strconv"

	"agentctl/protocol"
)

// MaxTasks bounds the tasks of a plan.
const MaxTasks = 1000

// TaskID returns a native task id in MyAgent's form: a number if it is an integer.
func TaskID(id string) any {
	if n, err := strconv.ParseInt(id, 10, 53); err == nil && strconv.FormatInt(n, 10) == id {
		return n
	}
	return id
}

// ForeignTask encodes a task.
func ForeignTask(t protocol.Task) Meta {
	m := Meta{"id": TaskID(t.ID), "title": t.Title, "objective": t.Description}
	m.With("description", t.Description).With("status", t.Status)
	if len(t.After) > 0 {
		after := make([]any, len(t.After))
		for i, id := range t.After {
			after[i] = TaskID(id)
		}
		m["after"] = after
	}
	return m
}

// ForeignTasks encodes the tasks of a plan.
func ForeignTasks(tasks []protocol.Task) []Meta {
	all := make([]Meta, len(tasks))
	for i, t := range tasks {
		all[i] = ForeignTask(t)
	}
	return all
}

// NativeTask decodes a task. Agents use different fields for it. n is the task's place in the plan,
// from 1.
func NativeTask(raw json.RawMessage, n int) protocol.Task {
	o := ParseObject(raw)
	t := protocol.Task{
		ID: o.Str("id", "task_id"), Title: o.Str("title", "name", "objective"),
		Description: o.Str("description", "objective", "notes"),
		Status:      o.Str("status"),
	}
	if o == nil {
		t.Title = Text(raw)
	}
	if t.ID == "" {
		t.ID = strconv.Itoa(n)
	}
	if t.Title == "" {
		t.Title = "task " + t.ID
	}
	if t.Description == t.Title {
		t.Description = ""
	}
	var after []json.RawMessage
	o.Decode("after", &after)
	for _, id := range after {
		if s := Scalar(id); s != "" {
			t.After = append(t.After, s)
		}
	}
	return t
}

// NativeTasks decodes the tasks of a plan.
func NativeTasks(raw json.RawMessage) []protocol.Task {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	tasks := []protocol.Task{}
	for i, t := range list[:min(len(list), MaxTasks)] {
		tasks = append(tasks, NativeTask(t, i+1))
	}
	return tasks
}
