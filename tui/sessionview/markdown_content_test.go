package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

const resultMarkdown = "## Result\n\nAll **12** tests of `store` pass:\n\n```go\nfunc Add(n int) {}\n```\n\n" +
	"| package | tests |\n|---|---|\n| store | 9 |\n| queue | 3 |\n"

const planMarkdown = "### Steps\n\n- read `store.go`\n- *then* change the limit\n\n```sh\ngo test ./...\n```\n"

var markdownScenes = []goldenScene{
	{
		name: "markdown_output", open: fromJournal(markdownOutput, pressing("ctrl+o")), heights: [3]int{40, 40, 60},
		shows: []string{
			"✓ check store", "**started**", "Result", "All 12 tests of store pass:", "func Add(n int) {}",
			"package │ tests", "store │ 9", ">",
		},
		status: []string{"◐ running", "F1 help"},
	},
	{
		name: "markdown_output_pager", open: fromJournal(markdownOutput, pressing("tab", "v", "home")),
		heights: screenHeights,
		shows: []string{
			"output", "**started**", "Result", "All 12 tests of store pass:", "func Add(n int) {}",
			"package │ tests", "store │ 9",
		},
		status: []string{"/ find", "esc back"},
	},
	{
		name:    "markdown_approval",
		open:    fromJournal(markdownApproval, (*testScreen).focusApproval),
		heights: [3]int{40, 40, 60},
		shows: []string{
			"approval · tool", "Change the limit", "Steps", "• read store.go", "• then change the limit",
			"go test ./...", "1 Allow once",
		},
		status: []string{"◌ waiting for 1 approval"},
	},
	{
		name:    "markdown_approval_pager",
		open:    fromJournal(markdownApproval, (*testScreen).waitGrace, pressing("tab", "v"), (*testScreen).waitGrace),
		heights: screenHeights,
		shows: []string{
			"Change the limit", "Steps", "• read store.go", "• then change the limit", "go test ./...",
		},
		status: []string{"y allow once"},
	},
}

func TestGoldenMarkdownContent(t *testing.T) { testGoldenScenes(t, markdownScenes) }

// markdown returns text as content of a tool.
func markdown(text string) []protocol.Content {
	return []protocol.Content{{Type: "text", Text: text, MediaType: "text/markdown"}}
}

// markdownOutput returns a session with a tool call whose output is Markdown after plain text.
func markdownOutput() *tuitest.Journal {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Check the store.")
	j.Tool("c1", protocol.ToolStartedData{Name: "check", Title: "store"}, "**started**\n")
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: markdown(resultMarkdown)})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.CaughtUp()
	return j
}

// markdownApproval returns a session with an approval that has Markdown.
func markdownApproval() *tuitest.Journal {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Raise the limit.")
	j.RequestApproval(protocol.Approval{
		Request: "r1", Kind: protocol.ApproveTool, Title: "Change the limit", Content: markdown(planMarkdown),
	})
	j.CaughtUp()
	return j
}

func TestMarkdownOutputCollapsed(t *testing.T) {
	s := fromJournal(markdownOutput)(t, 80, 30)
	s.mustShow("**started**", "… 3 more lines · ctrl+o shows all", "store   │ 9", "queue   │ 3")
	s.mustHide("All 12")
	s.press("ctrl+o")
	s.mustShow("All 12 tests of store pass:")
	s.mustHide("```")
}
