package llm

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/server/agent"
)

// What the model has seen of files is stored with the results of the calls, and recalled after a restart.
func TestFilesThatTheModelHasSeenAreRecalledAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := [][]SeenFile{
			{{Path: "/w/a", Hash: "1", Seen: 1, Lines: 1}, {Path: "/w/b", Hash: "1"}, {Path: "/w/gone", Hash: "1"}},
			{{Path: "/w/a", Hash: "2", Seen: 3, Lines: 9}, {Path: "/w/gone"}},
		}
		calls := 0
		read := &fakeTool{name: "read", safe: true, run: func(context.Context, *ToolCall, func(string)) (ToolResult, error) {
			calls++
			return ToolResult{Text: "text", Seen: seen[calls-1]}, nil
		}}
		r := newRig(t, "chat", "qwen", func(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
			if q.N < len(seen) {
				out.Call("read", x("a"))
				return
			}
			out.Text("ok")
		}, read)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		box := &fakeToolbox{tools: []toolMaker{read}}
		r.opts.Toolbox = func(agent.Spec, agent.Host) (Toolbox, error) { return box, nil }
		r.open(r.state)
		if _, err := r.send(t.Context(), "on"); err != nil {
			t.Fatal(err)
		}
		want := []SeenFile{{Path: "/w/b", Hash: "1"}, {Path: "/w/a", Hash: "2", Seen: 3, Lines: 9}}
		if !slices.Equal(box.recalled, want) {
			t.Errorf("recalled %+v, want %+v", box.recalled, want)
		}
	})
}
