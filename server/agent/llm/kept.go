package llm

import (
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
)

// A turnMark is the place of a turn's message in the conversation.
type turnMark struct {
	Turn string `json:"turn"`
	At   int    `json:"at"`             // index of the message
	Part int    `json:"part,omitempty"` // index of its first part in it
}

// markTurn records that the next message added begins a turn.
func (s *state) markTurn(turn string) {
	m := turnMark{Turn: turn, At: len(s.Conversation)}
	if n := len(s.Conversation); n > 0 && s.Conversation[n-1].Role == model.User {
		m.At, m.Part = n-1, len(s.Conversation[n-1].Parts)
	}
	s.Turns = append(s.Turns, m)
}

// shiftTurns moves the marks after a summary has replaced the first cut messages. Turns that begin
// in them are forgotten.
func (s *state) shiftTurns(cut int) {
	if cut == 0 {
		return
	}
	merged := len(s.Conversation[0].Parts) > 1 // the summary is one part
	s.Turns = slices.DeleteFunc(s.Turns, func(m turnMark) bool { return m.At < cut })
	for i := range s.Turns {
		m := &s.Turns[i]
		if merged && m.At == cut {
			m.Part++
		}
		m.At -= cut
		if !merged {
			m.At++
		}
	}
}

// maxFiles bounds the files that the state remembers.
const maxFiles = 200

// touch records the files of a call that was run.
func (s *state) touch(locations []protocol.Location, changed bool) {
	for _, l := range locations {
		f := compaction.File{Path: l.Path, Changed: changed}
		i := slices.IndexFunc(s.Files, func(x compaction.File) bool { return x.Path == l.Path })
		if i >= 0 {
			f.Changed = f.Changed || s.Files[i].Changed
			s.Files = slices.Delete(s.Files, i, i+1)
		}
		s.Files = append(s.Files, f)
	}
	s.Files = s.Files[max(0, len(s.Files)-maxFiles):]
}

// see records files as the model has seen them.
func (s *state) see(files []SeenFile) {
	for _, f := range files {
		s.Seen = slices.DeleteFunc(s.Seen, func(x SeenFile) bool { return x.Path == f.Path })
		if f.Hash != "" {
			s.Seen = append(s.Seen, f)
		}
	}
	s.Seen = s.Seen[max(0, len(s.Seen)-maxFiles):]
}

// kept returns the records that follow a summary of the first cut messages. Messages of the user have
// at most about most bytes together: the longest lose their middle.
func (s *state) kept(cut, most int) compaction.Kept {
	k := compaction.Kept{Files: slices.Clone(s.Files), Steps: slices.Clone(s.Steps), Asked: slices.Clone(s.Asked)}
	for i := range cut {
		for j, p := range s.Conversation[i].Parts {
			if p.Type == model.Text && (p.Asked || slices.ContainsFunc(s.Turns, func(m turnMark) bool {
				return m.At == i && m.Part == j // of a state from before Asked
			})) {
				k.Asked = append(k.Asked, p.Text)
			}
		}
	}
	k.Asked = compaction.CutTexts(k.Asked, most)
	return k
}

// isChange reports whether a kind of tools changes files.
func isChange(kind string) bool {
	return kind == protocol.ToolEdit || kind == protocol.ToolDelete || kind == protocol.ToolMove
}
