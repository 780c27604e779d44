package myagent

import (
	"encoding/json"
	"strconv"

	"agentctl/protocol"
)

// maxTasks bounds the tasks of a plan.
const maxTasks = 1000

// taskID returns a native task id in MyAgent's form: a number if it is an integer.
func taskID(id string) any {
	if n, err := strconv.ParseInt(id, 10, 53); err == nil && strconv.FormatInt(n, 10) == id {
		return n
	}
	return id
}

// foreignTask encodes a task.
func foreignTask(t protocol.Task) meta {
	m := meta{"id": taskID(t.ID), "title": t.Title, "objective": t.Description}
	m.with("description", t.Description).with("status", t.Status)
	if len(t.After) > 0 {
		after := make([]any, len(t.After))
		for i, id := range t.After {
			after[i] = taskID(id)
		}
		m["after"] = after
	}
	return m
}

func foreignTasks(tasks []protocol.Task) []meta {
	all := make([]meta, len(tasks))
	for i, t := range tasks {
		all[i] = foreignTask(t)
	}
	return all
}

// nativeTask decodes a task. Agents use different fields for it. n is the task's place in the plan,
// from 1.
func nativeTask(raw json.RawMessage, n int) protocol.Task {
	o := parseObject(raw)
	t := protocol.Task{
		ID: o.str("id", "task_id"), Title: o.str("title", "name", "objective"),
		Description: o.str("description", "objective", "notes"),
		Status:      o.str("status"),
	}
	if o == nil {
		t.Title = contentText(raw)
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
	o.decode("after", &after)
	for _, id := range after {
		if s := scalarText(id); s != "" {
			t.After = append(t.After, s)
		}
	}
	return t
}

// nativeTasks decodes the tasks of a plan.
func nativeTasks(raw json.RawMessage) []protocol.Task {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	tasks := []protocol.Task{}
	for i, t := range list[:min(len(list), maxTasks)] {
		tasks = append(tasks, nativeTask(t, i+1))
	}
	return tasks
}
