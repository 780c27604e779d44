package mcp

import (
	"fmt"
	"slices"

	"agentctl/internal/cli/connection"
	"agentctl/internal/export"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// Bounds of the texts of one result, in bytes.
const (
	maxMCPResult = 32 << 10
	maxMCPAnswer = 16 << 10
	maxMCPPrompt = 4 << 10
)

type mcpReadInput struct {
	Session string `json:"session" jsonschema:"id or name of the session"`
	Turns   int    `json:"turns,omitempty" jsonschema:"number of turns, the newest; default 1, at most 20"`
	Since   uint64 `json:"since,omitempty" jsonschema:"only turns with events after it: next of an earlier read"`
}

type mcpRead struct {
	Note  string    `json:"note"`
	Turns []mcpTurn `json:"turns"`
	Older bool      `json:"older,omitempty"` // turns that match were left out
	Next  uint64    `json:"next"`
}

// An mcpTurn is a turn in a result. End is missing while it runs.
type mcpTurn struct {
	Turn    string                 `json:"turn"`
	By      string                 `json:"by,omitempty"`
	Message string                 `json:"message"`
	Joined  []string               `json:"joined,omitempty"` // messages that joined it
	Text    string                 `json:"text"`             // of the answer
	Tools   []string               `json:"tools,omitempty"`
	Files   []protocol.ChangedFile `json:"files,omitempty"`
	End     protocol.Reason        `json:"end,omitempty"`
	Error   string                 `json:"error,omitempty"`
}

func newMCPTurn(t *protocol.Turn, budget *mcpBudget) mcpTurn {
	v := mcpTurn{
		Turn: t.Turn, Message: budget.cut(t.Message.Label(), maxMCPPrompt),
		Text: budget.cut(protocol.NewTurnOutcome("", t, &protocol.TurnEndedData{}).Text, maxMCPAnswer),
	}
	if t.Message.By != nil {
		v.By = output.Actor(t.Message.By)
	}
	for _, it := range t.Items {
		if it.Steered != nil && it.Steered.Outcome != protocol.SteerRefused {
			v.Joined = append(v.Joined, budget.cut(it.Steered.Message.Text, maxMCPPrompt))
		}
		if it.Tool == nil {
			continue
		}
		status := "running"
		if it.Tool.End != nil {
			status = string(it.Tool.End.Status)
		}
		title := it.Tool.Title
		if title == "" {
			title = it.Tool.Name
		}
		v.Tools = append(v.Tools, status+"  "+output.OneLine(title, maxMCPLine))
	}
	v.Tools = v.Tools[max(len(v.Tools)-maxMCPItems, 0):]
	v.Files = export.ChangedFiles(t.Items)
	v.Files = v.Files[:min(len(v.Files), maxMCPItems)]
	if t.End != nil {
		v.End, v.Error = t.End.Reason, output.OneLine(t.End.Message, maxMCPLine)
	}
	return v
}

// read reads finished turns, and the one that runs.
func (c *mcpCall) read(in *mcpReadInput) (*mcpRead, error) {
	limit := min(max(in.Turns, 1), maxMCPItems)
	if in.Turns == 0 && in.Since > 0 {
		limit = maxMCPItems
	}
	// First the running turn: if it ends before the history is read, the history has it.
	running, seq, err := c.runningTurn(in.Session)
	if err != nil {
		return nil, err
	}
	t, ends, more, err := c.finishedTurns(in.Session, limit)
	if err != nil {
		return nil, err
	}
	turns := t.Turns
	if running != nil && !slices.ContainsFunc(turns, func(t *protocol.Turn) bool { return t.Turn == running.Turn }) {
		turns = append(turns, running)
		ends[running.Turn] = seq
	}
	result := &mcpRead{Note: mcpNote, Turns: []mcpTurn{}, Next: max(seq, t.Seq)}
	budget := mcpBudget(maxMCPResult)
	matching := slices.DeleteFunc(turns, func(t *protocol.Turn) bool { return ends[t.Turn] <= in.Since })
	result.Older = more && len(matching) == len(turns)
	if n := len(matching) - limit; n > 0 {
		matching, result.Older = matching[n:], true
	}
	for _, turn := range slices.Backward(matching) { // the newest gets the most text
		result.Turns = append(result.Turns, newMCPTurn(turn, &budget))
	}
	slices.Reverse(result.Turns)
	return result, nil
}

// finishedTurns returns the newest turns of the history, the seqs of their ends, and whether there
// are older ones.
func (c *mcpCall) finishedTurns(session string, limit int) (
	t *protocol.Transcript, ends map[string]uint64, more bool, err error,
) {
	r, err := connection.Call[protocol.HistoryResult](c.Conn, protocol.DoHistory, session,
		protocol.HistoryData{Limit: limit})
	if err != nil {
		return nil, nil, false, err
	}
	t, ends = &protocol.Transcript{}, map[string]uint64{}
	for e, err := range r.Decoded() {
		if err == nil {
			_, err = t.Apply(e)
		}
		if err != nil {
			return nil, nil, false, fmt.Errorf("history of %s: %w", session, err)
		}
		ends[e.Turn] = e.Seq
	}
	return t, ends, r.More, nil
}

// runningTurn returns the turn that runs, or nil, and the newest seq.
func (c *mcpCall) runningTurn(session string) (*protocol.Turn, uint64, error) {
	sub := c.Subscribe(session, wsclient.SubscribeOptions{})
	defer sub.Close()
	t, seq := &protocol.Transcript{}, uint64(0)
	for item, err := range sub.Events(c.Context()) {
		if err != nil {
			return nil, 0, c.Cause(err)
		}
		if at := item.Attached; at != nil {
			if at.Mode == protocol.ModeReset { // a new log
				t, seq = &protocol.Transcript{}, 0
			}
			if at.Snapshot != nil && at.Snapshot.State != nil {
				seq = max(seq, at.Snapshot.State.Seq)
			}
			continue
		}
		if item.Event.Type == protocol.CaughtUp {
			turn := t.Current()
			if turn != nil && turn.End != nil {
				turn = nil
			}
			return turn, max(seq, t.Seq), nil
		}
		if _, err := t.Apply(item.Event); err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", session, err)
		}
	}
	return nil, 0, c.Cause(fmt.Errorf("read %s: %w", session, c.Context().Err()))
}
