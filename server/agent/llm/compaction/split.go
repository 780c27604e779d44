package compaction

import "agentctl/server/agent/llm/model"

// Split returns the index of the first message that stays beside a summary of those before it; 0:
// there is nothing to summarize. The messages that stay have at most keep bytes, unless the last
// ones that belong together have more. They begin with a message of the user if one is among them,
// and no result loses its call.
func Split(messages []model.Message, keep int64) int {
	cut, size := 0, int64(0)
	turn := false // cut is at a message of the user
	for i := len(messages) - 1; i > 0; i-- {
		size += Size(messages[i : i+1])
		if cut > 0 && size > keep {
			break
		}
		m := &messages[i]
		switch {
		case m.Role == model.User && hasResults(m):
		case m.Role == model.User:
			cut, turn = i, true
		case !turn:
			cut = i
		}
	}
	return cut
}

func hasResults(m *model.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Type == model.ToolResult {
			return true
		}
	}
	return false
}
