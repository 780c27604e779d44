package history

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestWhatAnItemSaysIsAllThatPeopleReadOfIt(t *testing.T) {
	old := "old"
	content := []protocol.Content{{Type: "diff", Path: "path", Text: "text", Old: &old, New: "new"}}
	for want, it := range map[string]protocol.Item{
		"tool: n t a 1 b out path text old new": {
			Kind: protocol.ItemTool, Text: protocol.Text("out"),
			Tool: &protocol.ToolItem{
				Name: "n", Title: "t", Input: json.RawMessage(`{"a":[1,"b"]}`),
				InputText: protocol.Text("not"), Content: content,
			},
		},
		"tool: in": {
			Kind: protocol.ItemTool,
			Tool: &protocol.ToolItem{InputText: protocol.Text("in")},
		},
		"tool: o 2 e": {
			Kind: protocol.ItemTool,
			Tool: &protocol.ToolItem{End: &protocol.ToolEndedData{Output: json.RawMessage(`{"o":2}`), Error: "e"}},
		},
		"tool: out e": {
			Kind: protocol.ItemTool, Text: protocol.Text("out"),
			Tool: &protocol.ToolItem{End: &protocol.ToolEndedData{Output: json.RawMessage(`{"o":2}`), Error: "e"}},
		},
		"tool: path text old new e": {Kind: protocol.ItemTool, Tool: &protocol.ToolItem{
			Content: content,
			End:     &protocol.ToolEndedData{Output: json.RawMessage(`{"o":2}`), Error: "e"},
		}},
		"approval: t c w p f g path text old new k d q x r": {
			Kind:     protocol.ItemApproval,
			Resolved: &protocol.ApprovalResolvedData{Reason: "r"}, Approval: &protocol.Approval{
				Title:   "t",
				Command: "c", Why: "w", Patch: "p", Paths: []string{
					"f",
					"g",
				}, Content: content, Tasks: []protocol.Task{{
					ID: "not", Title: "k",
					Description: "d",
				}}, Questions: []protocol.Question{{ID: "not", Text: "q"}},
				ApprovalContext: protocol.ApprovalContext{Explained: []string{"x"}},
			},
		},
		"error: m conflict": {
			Kind: protocol.ItemEvent, Type: protocol.ErrorRaised,
			Data: protocol.MustEncode(protocol.ErrorData{Message: "m", Code: protocol.CodeConflict}),
		},
		"text: a b":    {Kind: protocol.ItemText, Text: protocol.Text("a\nb")},
		"reasoning: a": {Kind: protocol.ItemReasoning, Text: protocol.Text("a")},
	} {
		it.ID, it.Seq = "i", 7
		s, ok := textOf(&it)
		if got := string(s.kind) + ": " + strings.ReplaceAll(s.text, "\n", " "); !ok || got != want || s.id != "i" ||
			s.seq != 7 {
			t.Errorf("%s (%s %d %t), want %s", got, s.id, s.seq, ok, want)
		}
	}
	if s, ok := textOf(&protocol.Item{Kind: protocol.ItemEvent, Type: protocol.Notice}); ok {
		t.Errorf("text of a notice: %+v", s)
	}
}
