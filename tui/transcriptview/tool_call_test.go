package transcriptview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestToolTitleTellsArgumentsThatArriveLater(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "test it")
	j.Tool("c1", protocol.ToolStartedData{Name: "Bash"}, "")
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.mustShow("◐ Bash ")
	for _, text := range []string{`{"command":"go`, ` test ./..."}`} {
		s.mustHide(`"command"`)
		s.journal.Add(protocol.ToolInput, protocol.ToolInputData{Tool: "c1", Text: text})
		s.applyJournal()
	}
	s.mustShow("· Bash go test ./... ", " not started\n")
	input := json.RawMessage(`{"command":"go vet"}`)
	s.journal.Add(protocol.ToolInput, protocol.ToolInputData{Tool: "c1", Input: input})
	s.applyJournal()
	s.mustShow("◐ Bash go vet ")
	s.mustHide("go test")
	s.mustHide("not started")
}

func TestToolOutputReplaced(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Tool("c1", protocol.ToolStartedData{Name: "edit", Title: "x"}, "")
	j.CaughtUp()
	s := open(t, j, 80, 24)
	for _, text := range []string{"first\n", "second\n"} {
		s.journal.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool:    "c1",
			Replace: true,
			Content: []protocol.Content{{Type: "diff", Path: "x", Old: new("old\n"), New: text}},
		})
		s.applyJournal()
		s.mustShow("- old", "+ "+text)
	}
	s.mustHide("first")
	for _, text := range []string{"10% of it", "90% of it", "all of it is there"} {
		s.journal.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Replace: true, Text: text})
		s.applyJournal()
		s.mustShow("   " + text + "\n")
	}
	s.mustHide("% of it")
	s.mustHide("- old")
}

func TestInvisibleChange(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n": "no visible difference", "a\r\nb\r\n": "no difference",
		"a\r\nc\r\n": "+ c",
	} {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "go")
		j.Tool("c1", protocol.ToolStartedData{Name: "edit", Title: "x"}, "")
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool:    "c1",
			Content: []protocol.Content{{Type: "diff", Path: "x", Old: new("a\r\nb\r\n"), New: text}},
		})
		j.CaughtUp()
		open(t, j, 80, 24).mustShow(want)
	}
}

// TestStreamedScreenEqualsWhole checks that streamed text is drawn like the same text in one event.
func TestStreamedScreenEqualsWhole(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"```go\n", "```\n", "func f() {\n", "/* a ", "b */\n", "\x1b[31m", "\x1b[m", "10%\r", "\x1b[K", "\n",
		"\n\n", "- a list\n", "  b\n", "| a | b |\n", "|---|--:|\n", "words **and", " words** ", "漢字", "~~x~~ ",
		"a very long line that has to be broken somewhere before it ends ", "\x1b[2A", "{\"a\":1}", "# t\n",
		"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
	})
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(piece, 1, 20).Draw(rt, "pieces")
		kind := rapid.SampledFrom([]string{protocol.ToolExecute, protocol.ToolRead}).Draw(rt, "kind")
		unfold, width := rapid.Bool().Draw(rt, "unfold"), rapid.IntRange(5, 90).Draw(rt, "width")
		shown := func(cut bool) string {
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "go")
			j.Add(protocol.TextStart, protocol.PartStartData{Part: "p"})
			j.Tool("c1", protocol.ToolStartedData{Name: "tool", Title: "x.go", Kind: kind}, "")
			s := open(t, j, width, 60)
			if unfold {
				s.toggleLast()
			}
			all := []string{strings.Join(pieces, "")}
			if cut {
				all = pieces
			}
			for _, text := range all {
				s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: text})
				s.journal.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: text})
				s.applyJournal()
			}
			open := s.text()
			s.journal.Add(protocol.TextEnd, protocol.PartEndData{Part: "p"})
			s.journal.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
			s.applyJournal()
			return open + s.text()
		}
		if streamed, whole := shown(true), shown(false); streamed != whole {
			rt.Fatalf("got streamed\n%s\nwant\n%s", streamed, whole)
		}
	})
}

// TestArgumentsAsDiff covers the arguments of common file editing tools.
func TestArgumentsAsDiff(t *testing.T) {
	for _, c := range []struct {
		kind, input string
		want        []string
	}{
		{
			"", `{"file_path":"a.go","old_string":"x := 1\ny","new_string":"x := 2\ny"}`,
			[]string{"a.go   ", "+1 −1 · running", "- x := 1", "+ x := 2"},
		},
		{protocol.ToolEdit, `{"path":"a.go","content":"package a\n"}`, []string{"a.go   ", "+1 −0", "1 + package a"}},
		{"", `{"input":"*** Begin Patch\n*** Add File: n\n+new\n*** End Patch"}`, []string{"new n +1 −0", "1 + new"}},
		{"", `{"patch":"--- a/f\n+++ b/f\n@@ -9 +9 @@\n-a\n+b\n"}`, []string{"f +1 −1", "9   - a", "  9 + b"}},
	} {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "go")
		j.Tool("c1", protocol.ToolStartedData{Name: "tool", Kind: c.kind, Input: json.RawMessage(c.input)}, "")
		j.CaughtUp()
		open(t, j, 80, 24).mustShow(c.want...)
	}
}

func TestCollapsedOutputByKind(t *testing.T) {
	for kind, want := range map[string]struct{ shown, hidden []string }{
		protocol.ToolRead:    {[]string{"12 lines"}, []string{"row 0", "more lines"}},
		protocol.ToolSearch:  {[]string{"row 2", "… 9 more lines"}, []string{"row 3"}},
		protocol.ToolExecute: {[]string{"row 2", "… 2 more lines", "row 11"}, []string{"row 3"}},
	} {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "go")
		var out strings.Builder
		for i := range 12 {
			fmt.Fprintf(&out, "row %d\n", i)
		}
		j.Tool("c1", protocol.ToolStartedData{Name: "tool", Kind: kind}, out.String())
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
		j.CaughtUp()
		s := open(t, j, 80, 24)
		s.mustShow(want.shown...)
		for _, text := range want.hidden {
			s.mustHide(text)
		}
		s.expandAll()
		s.mustShow("row 0", "row 3", "row 11")
	}
}

func TestLargeCodeBlockSpeed(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Text("t1", "```go\n"+strings.Repeat("x := \"a string\" // and a comment\n", (1<<20)/33)+"```\n\nThe end.")
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t1"})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	s := open(t, j, 100, 40)
	s.mustShow("The end.", "x := \"a string\" // and a comment")
	begin := time.Now()
	s.view.List.Resize(120, 40) // forces a new layout
	s.text()
	s.view.List.Scroll(-39)
	s.text()
	if took := time.Since(begin); took > 20*time.Second { // 0.1 s on an idle machine
		t.Errorf("a resize and a key took %v", took)
	}
}

func TestToolCallsOfAGroupHaveNoBlankRowsBetween(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	for _, id := range []string{"c1", "c2", "c3"} {
		j.Tool(id, protocol.ToolStartedData{Title: "call " + id}, "")
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted, DurationMS: 40})
	}
	j.Text("t1", "Done.")
	j.CaughtUp()
	s := open(t, j, 80, 24)
	var got []string
	for line := range strings.Lines(s.text()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := "▎ go\n\n✓ call c1 40ms\n✓ call c2 40ms\n✓ call c3 40ms\n\n▏ agent 09:41\n▏ Done."
	if all := strings.Join(got, "\n"); !strings.Contains(all, want) {
		t.Errorf("got screen\n%s\nwant in it\n%s", all, want)
	}
}

func TestStateOfAToolCallHasAGlyphAndAWord(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Tool("c1", protocol.ToolStartedData{Title: "push"}, "")
	j.RequestApproval(protocol.Approval{Request: "r1", Kind: protocol.ApproveTool, Title: "Push?", Tool: "c1"})
	j.CaughtUp()
	s := open(t, j, 80, 40)
	s.mustShow("◌ push", "waiting for a decision")
	if s.mustHide("◐"); strings.Contains(s.content(), "\x1b[9m") {
		t.Error("the waiting call is struck")
	}
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied})
	s.applyJournal()
	s.mustShow("◐ push", "running")
	s.journal.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolDenied})
	s.applyJournal()
	s.mustShow("⊘ push", "denied")
	if !strings.Contains(s.content(), "\x1b[9m") {
		t.Error("the denied call is not struck")
	}
}

func TestOutputOfAReadIsShownExpandedOnly(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Read it.")
	j.Tool("c1", protocol.ToolStartedData{
		Kind: protocol.ToolRead, Locations: []protocol.Location{{Path: "main.go"}},
	}, "")
	content := markdown("```go\npackage main\n```\n\nThe file has **one** line.")
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: content})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.mustHide("package main")
	s.toggleLast()
	s.mustShow("package main", "The file has one line.")
}

func TestLongMarkdownOutputIsShownAsText(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Tool("c1", protocol.ToolStartedData{Name: "check"}, "")
	for range 3 {
		content := markdown(strings.Repeat("many **bold** words\n", 5000))
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: content})
	}
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.mustShow("many **bold** words", "more lines")
}

// markdown returns text as content of a tool.
func markdown(text string) []protocol.Content {
	return []protocol.Content{{Type: "text", Text: text, MediaType: "text/markdown"}}
}
