package pipeline

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// edit runs a call of a tool that ends with a status, with diffs of the paths.
func (s *step) edit(status protocol.ToolStatus, paths ...string) {
	var content []protocol.Content
	for _, p := range paths {
		content = append(content, protocol.Content{Type: "diff", Path: p, New: "x"})
	}
	for _, e := range []agent.Event{
		{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "e", Kind: protocol.ToolEdit}},
		{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "e", Content: content}},
		{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "e", Status: status}},
	} {
		_ = s.out.Emit(e)
	}
}

// locate runs a call of a tool that reports only a location.
func (s *step) locate(kind, path string) {
	_ = s.out.Emit(agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "l", Kind: kind}})
	_ = s.out.Emit(agent.Event{
		Type: protocol.ToolStarted,
		Data: protocol.ToolStartedData{Tool: "l", Locations: []protocol.Location{{Path: path}}},
	})
	_ = s.out.Emit(agent.Event{
		Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "l", Status: protocol.ToolCompleted},
	})
}

// conflicts returns the notices, by task, and the conflicts of pipeline.completed.
func (r *rig) conflicts() (notices []string, final []protocol.FileConflict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		switch d := e.Data.(type) {
		case protocol.NoticeData:
			notices = append(notices, e.Task+": "+d.Message)
		case protocol.AggregateData:
			final = d.Conflicts
		}
	}
	return notices, final
}

func TestFilesThatTasksChangeWhileBothRunAreReported(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		good := planned("a", "b", "c<a", "d<a")
		r := newRig(t, func(ctx context.Context, s *step) (agent.End, error) {
			var err error
			switch s.task {
			case "task a":
				s.edit(protocol.ToolCompleted, "/work/shared.go", "/work/a.go")
				s.edit(protocol.ToolDenied, "denied.go")
				s.locate(protocol.ToolRead, "read.go")
				err = wait(ctx, 2*time.Minute)
			case "task b":
				err = wait(ctx, time.Minute)
				s.edit(protocol.ToolCompleted, "./shared.go", "denied.go", "read.go", "b.go")
				s.edit(protocol.ToolCompleted, "shared.go")
			case "task c": // a and b are over
				s.edit(protocol.ToolCompleted, "a.go", "b.go", "c.go")
				err = wait(ctx, 2*time.Minute)
			case "task d":
				err = wait(ctx, time.Minute)
				s.locate(protocol.ToolDelete, "c.go")
			}
			if err != nil {
				return agent.End{}, err
			}
			return good(ctx, s)
		})
		if _, err := r.send(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		notices, final := r.conflicts()
		if want := []string{
			`b: the tasks "task a" and "task b" both changed shared.go while they ran: changes may be lost`,
			`d: the tasks "task c" and "task d" both changed c.go while they ran: changes may be lost`,
			`: changed by several tasks while they ran, check them: shared.go ("task a", "task b"); c.go ("task c", "task d")`,
		}; !slices.Equal(notices, want) {
			t.Errorf("%q, want %q", notices, want)
		}
		at := func(typ protocol.Type) int {
			return slices.IndexFunc(r.events, func(e agent.Event) bool { return e.Type == typ && e.Task == "" })
		}
		if shown := at(protocol.Notice); shown < 0 || shown > at(protocol.AggregateStarted) {
			t.Error("the files are not shown before the aggregate")
		}
		want := []protocol.FileConflict{
			{Path: "shared.go", Tasks: []string{"a", "b"}}, {Path: "c.go", Tasks: []string{"c", "d"}},
		}
		if !reflect.DeepEqual(final, want) {
			t.Errorf("%+v, want %+v", final, want)
		}
		if p := r.prompts[len(r.prompts)-1]; !strings.Contains(p, "say so.\n- shared.go\n- c.go\n") {
			t.Errorf("the aggregator got %q", p)
		}
	})
}

func TestPathsOfADirectoryAreTheSameFile(t *testing.T) {
	c := changedFiles{dir: "/work"}
	for path, want := range map[string]string{
		"/work/a/b.go": "a/b.go", "a/b.go": "a/b.go", "./a//b.go": "a/b.go", "file:///work/a/b.go": "a/b.go",
		"/other/b.go": "/other/b.go", "/work/../b.go": "/b.go", "../b.go": "../b.go",
	} {
		if got := c.name(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
