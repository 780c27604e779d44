package item

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// turn returns the state of a session with a turn: open parts and tools, and tasks of the plan.
func turn() *protocol.State {
	return &protocol.State{
		Turn: &protocol.TurnState{
			Parts: []protocol.OpenPart{
				{Part: "p", Kind: protocol.KindText}, {Part: "p", Kind: protocol.KindReasoning, Task: "k"},
			},
			Tools: []protocol.OpenTool{{Tool: "x", Task: "k", Parent: "y"}},
		},
		Plan: &protocol.Plan{Tasks: []protocol.Task{
			{ID: "k", Title: "one", Status: protocol.StatusRunning}, {ID: "l", Status: protocol.StatusCompleted},
		}},
	}
}

// lines returns events as one line each: type, task, parent and data.
func lines(events []record.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s %s %s\n", e.Type, e.Task, e.Parent, protocol.MustEncode(e.Data))
	}
	return b.String()
}

func TestATurnEndsWhatIsOpen(t *testing.T) {
	const parts = "text.end   {\"part\":\"p\"}\nreasoning.end k  {\"part\":\"p\"}\n"
	for reason, want := range map[protocol.Reason]string{
		protocol.ReasonCompleted: parts + "tool.ended k y {\"tool\":\"x\",\"status\":\"unknown\"}\n",
		protocol.ReasonInterrupted: parts + "tool.ended k y {\"tool\":\"x\",\"status\":\"cancelled\"}\n" +
			"task.cancelled k  {\"task\":\"k\",\"title\":\"one\"}\n",
		protocol.ReasonError: parts + "tool.ended k y {\"tool\":\"x\",\"status\":\"unknown\"}\n" +
			"task.failed k  {\"task\":\"k\",\"title\":\"one\",\"message\":\"broken\",\"code\":\"agent_failed\"}\n",
	} {
		end := &protocol.TurnEndedData{Reason: reason}
		if reason == protocol.ReasonError {
			end.Code, end.Message = protocol.CodeAgentFailed, "broken"
		}
		if got := lines(EndAll(turn(), end)); got != want {
			t.Errorf("%s:\n%swant\n%s", reason, got, want)
		}
	}
}

func TestAMissingStartIsMadeOnce(t *testing.T) {
	st := turn().Turn
	var items Items
	for _, c := range []struct {
		o    Output
		want string
	}{
		{Output{Type: protocol.TextDelta, Part: "p", Kind: protocol.KindText}, ""},
		{Output{Type: protocol.TextDelta, Part: "q", Kind: protocol.KindText, Task: "k"}, `text.start k  {"part":"q"}`},
		{Output{Type: protocol.ReasoningDelta, Part: "q", Kind: protocol.KindReasoning}, `reasoning.start   {"part":"q"}`},
		{Output{Type: protocol.ToolOutput, Tool: "x"}, ""},
		{Output{Type: protocol.ToolStarted, Tool: "new"}, ""},
		{Output{Type: protocol.ToolOutput, Tool: "new"}, ""},
		{Output{Type: protocol.ToolOutput, Tool: "late", Parent: "x"}, `tool.started  x {"tool":"late"}`},
		{Output{Type: protocol.ToolEnded, Tool: "late"}, ""},
		{Output{Type: protocol.Notice}, ""},
	} {
		e, ok := items.MissingStart(st, c.o)
		got := ""
		if ok {
			got = strings.TrimSpace(lines([]record.Event{e}))
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
}

func TestOpenItemsAreBounded(t *testing.T) {
	st := &protocol.TurnState{}
	for n := range MaxOpen {
		st.Parts = append(st.Parts, protocol.OpenPart{Part: fmt.Sprint("p", n), Kind: protocol.KindText})
		st.Tools = append(st.Tools, protocol.OpenTool{Tool: fmt.Sprint("t", n)})
	}
	if events := EndSurplus(st); events != nil {
		t.Errorf("within the bound: %+v", events)
	}
	st.Parts = append(st.Parts, protocol.OpenPart{Part: "more", Kind: protocol.KindText})
	st.Tools = append(st.Tools, protocol.OpenTool{Tool: "more"})
	want := "text.end   {\"part\":\"p0\"}\ntool.ended   {\"tool\":\"t0\",\"status\":\"unknown\"}\n"
	if got := lines(EndSurplus(st)); got != want {
		t.Errorf("%q", got)
	}
}

func TestOutputOfAStartedToolAllocatesNothing(t *testing.T) {
	var items Items
	st := &protocol.TurnState{}
	o := Output{Type: protocol.ToolOutput, Tool: "t"}
	items.MissingStart(st, o)
	if n := testing.AllocsPerRun(100, func() { items.MissingStart(st, o) }); n != 0 {
		t.Errorf("%.0f allocations for an output", n)
	}
}
