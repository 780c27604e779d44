package script

import (
	"cmp"
	"encoding/json"
	"maps"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// agentState is the state of the agent in its session: saved, exported and restored.
type agentState struct {
	Messages   int                   `json:"messages"`
	Tokens     int64                 `json:"tokens"`
	Transcript int                   `json:"transcript"`
	Context    *protocol.ContextInfo `json:"context,omitempty"` // set by a step
	Usage      *protocol.Usage       `json:"usage,omitempty"`
	Settings   map[string]string     `json:"settings,omitempty"`
	Turn       *turnProgress         `json:"turn,omitempty"` // the last one, if the script resumes
}

// turnProgress is the progress of a turn. After a restart the steps run again and skip events that
// were emitted: a runner emits the same events in the same order every time.
type turnProgress struct {
	Turn    string                  `json:"turn"`
	Emitted map[string]int          `json:"lanes"` // events emitted, by runner key
	Tasks   map[string]taskProgress `json:"tasks,omitempty"`
	Steered string                  `json:"steered,omitempty"` // text of the last message that joined the turn
	End     *agent.End              `json:"end,omitempty"`     // nil: running
}

type taskProgress struct {
	Attempt int    `json:"attempt"`
	Status  string `json:"status,omitempty"` // empty: not ended
	Result  string `json:"result,omitempty"`
}

func decodeState(state []byte) (agentState, error) {
	var s agentState
	if len(state) > 0 {
		if err := json.Unmarshal(state, &s); err != nil {
			return s, protocol.Errorf(protocol.CodeInvalidState, "state is not from a script agent")
		}
	}
	if s.Settings == nil {
		s.Settings = map[string]string{}
	}
	return s, nil
}

// beginTurn starts or resumes a turn and returns its progress.
func (s *agentState) beginTurn(t *agent.Turn) turnProgress {
	if !t.Resumed || s.Turn == nil || s.Turn.Turn != t.ID {
		s.Messages++
		s.Transcript++
		s.Tokens += estimateTokens(t.Message.Text)
		s.Turn = &turnProgress{Turn: t.ID, Emitted: map[string]int{}, Tasks: map[string]taskProgress{}}
	}
	if s.Turn.Tasks == nil {
		s.Turn.Tasks = map[string]taskProgress{}
	}
	prior := *s.Turn
	prior.Emitted, prior.Tasks = maps.Clone(prior.Emitted), maps.Clone(prior.Tasks)
	return prior
}

// count adds an event to the context.
func (s *agentState) count(e *agent.Event) {
	switch d := e.Data.(type) {
	case protocol.PartDeltaData:
		s.Tokens += estimateTokens(d.Text)
	case protocol.ToolOutputData:
		s.Tokens += estimateTokens(d.Text)
	case protocol.PartEndData, protocol.ToolEndedData:
		s.Transcript++
	}
}

// contextInfo returns the context usage: as set by a step, or else an estimate.
func (s *agentState) contextInfo(window int64) protocol.ContextInfo {
	if s.Context != nil {
		return *s.Context
	}
	window = cmp.Or(window, 200_000)
	return protocol.ContextInfo{
		Tokens: s.Tokens, MaxTokens: window, Percent: 100 * float64(s.Tokens) / float64(window),
		TranscriptLength: s.Transcript, Strategy: "none",
	}
}

// estimateTokens returns one token per four bytes, rounded up.
func estimateTokens(text string) int64 { return int64(len(text)+3) / 4 }
