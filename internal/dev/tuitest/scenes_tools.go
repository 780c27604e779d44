package tuitest

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
)

// CounterGo is a Go file.
const CounterGo = `package store

import "sync"

// Counter counts, from any goroutine.
type Counter struct {
	mu sync.Mutex
	n  int
}

// Add adds n.
func (c *Counter) Add(n int) {
	c.n += n
}

// Value is the sum so far.
func (c *Counter) Value() int {
	return c.n
}
`

// CounterFixed is CounterGo with the lock used.
var CounterFixed = strings.NewReplacer(
	"\tc.n += n\n", "\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\tc.n += n\n",
	"\treturn c.n\n", "\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\treturn c.n // under its lock\n",
	"// Add adds n.", "// Add adds n to the sum.",
).Replace(CounterGo)

// toolCalls returns a turn with tool calls of several kinds, the last running.
func toolCalls() *Journal {
	j := NewJournal()
	j.UserMessage(Ada, "m1", "Make the counter safe.")
	j.Tool("c1", protocol.ToolStartedData{
		Name:      "read",
		Title:     "Read file",
		Kind:      protocol.ToolRead,
		Locations: []protocol.Location{{Path: "pkg/store/counter.go"}},
		Input:     json.RawMessage(`{"path":"pkg/store/counter.go"}`),
	}, CounterGo)
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted, DurationMS: 12})
	j.Text("t1", "It adds without its lock:\n\n"+
		"```go\nfunc (c *Counter) Add(n int) { c.n += n } // \"no lock\"\n```\n\nand so does `Value`.")
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t1"})
	j.Add(protocol.ToolStarted, protocol.ToolStartedData{
		Tool: "c2", Name: "edit", Title: "pkg/store/counter.go", Kind: protocol.ToolEdit,
	})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{
		Tool: "c2",
		Content: []protocol.Content{
			{Type: "diff", Path: "pkg/store/counter.go", Old: new(CounterGo), New: CounterFixed},
		},
	})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c2", Status: protocol.ToolCompleted, DurationMS: 40})
	var out strings.Builder
	for i := range 40 {
		fmt.Fprintf(&out, "\rdownloading %d%%", i*100/39)
	}
	out.WriteString("\r\x1b[Kdownloaded\n")
	for i := range 30 {
		fmt.Fprintf(&out, "\x1b[32mok\x1b[0m  \tpkg/p%d\t\x1b[2m0.%03ds\x1b[0m\n", i, i*7)
	}
	j.Tool("c3", protocol.ToolStartedData{
		Name: "shell", Title: "go test ./...", Kind: protocol.ToolExecute,
	}, out.String())
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c3", Status: protocol.ToolCompleted, DurationMS: 8300})
	j.Tool("c4", protocol.ToolStartedData{Name: "shell", Title: "make lint", Kind: protocol.ToolExecute},
		out.String()+"\x1b[1;31merror:\x1b[m \x1b[4mcounter.go:12\x1b[24m \x1b[30;43m unused \x1b[m variable\n",
	)
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{
		Tool:       "c4",
		Status:     protocol.ToolFailed,
		ExitCode:   new(2),
		DurationMS: 300,
		Error:      "make: *** [lint] Error 2",
	})
	j.Tool("c5", protocol.ToolStartedData{Name: "issues", Input: json.RawMessage(`{"query":"counter","limit":3}`)},
		`{"issues":[{"id":7,"title":"Counter races","open":true}]}`,
	)
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c5", Status: protocol.ToolCompleted, DurationMS: 90})
	j.Tool("c6", protocol.ToolStartedData{
		Name:  "write",
		Kind:  protocol.ToolEdit,
		Input: json.RawMessage(`{"path":"NOTES.md","content":"# Notes\n\n- the counter has a lock\n"}`),
	}, "")
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c6", Status: protocol.ToolCompleted})
	j.Tool("c7", protocol.ToolStartedData{Name: "shell", Title: "sleep 60", Kind: protocol.ToolExecute}, "waiting\n")
	j.CaughtUp()
	return j
}

// fileChanges returns a turn that waits for the approval of changes in two files.
func fileChanges() *Journal {
	j := NewJournal()
	j.UserMessage(Ada, "m1", "Make the counter safe.")
	a := CommandApproval()
	a.Kind, a.Title, a.Command = protocol.ApprovePatch, "Edit two files", ""
	a.Content = []protocol.Content{{Type: "diff", Path: "pkg/store/counter.go", Old: new(CounterGo), New: CounterFixed}}
	a.Patch = "--- a/go.mod\n+++ b/go.mod\n@@ -3 +3 @@ module store\n-go 1.25\n+go 1.26\u202e\n"
	j.RequestApproval(a)
	j.CaughtUp()
	return j
}

// TwelveFiles is a session with a request to change twelve files.
func TwelveFiles() *Journal {
	a := CommandApproval()
	a.Kind, a.Command, a.Title, a.Why = protocol.ApprovePatch, "", "Rename the type", "The old name lies."
	for i := range 12 {
		name := fmt.Sprintf("store/part%d.go", i)
		a.Paths = append(a.Paths, name)
		a.Patch += fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -7,3 +7,4 @@ func f%d() {\n", name, name, i) +
			" \tvar a Old\n-\tuse(a)\n-\treturn a\n+\tvar b New\n+\tuse(b)\n+\treturn b\n"
	}
	j := NewJournal()
	j.UserMessage(Ada, "m1", "Rename it.")
	j.RequestApproval(a)
	j.CaughtUp()
	return j
}
