package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	transcriptTurns = 50      // most turns of a transcript
	transcriptRead  = 4 << 20 // bytes of events read of one turn
)

// Transcript implements Host.
func (h *host) Transcript(ctx context.Context, most int) (string, error) {
	rows, err := h.s.hub.cfg.Store.Turns(ctx, h.s.id, 0, transcriptTurns)
	if err != nil {
		return "", fmt.Errorf("read turns of %s: %w", h.s.id, err)
	}
	text := ""
	for _, row := range rows { // newest first
		turn, err := h.readTurn(ctx, row)
		if err != nil {
			return "", err
		}
		text = turnText(turn) + text
		if len(text) > most {
			break
		}
	}
	text = strings.TrimSpace(text)
	if len(text) > most {
		const cut = "[…] "
		text = cut + protocol.ValidText(text[len(text)-max(0, most-len(cut)):])
	}
	return text, nil
}

// readTurn reads a finished turn, of a very long one only the beginning.
func (h *host) readTurn(ctx context.Context, row eventlog.TurnRow) (*protocol.Turn, error) {
	var t protocol.Transcript
	read := 0
	for line, err := range eventlog.Lines(ctx, h.s.hub.cfg.Store, h.s.id, row.First-1, row.Last) {
		if err != nil {
			return nil, fmt.Errorf("read turn %s: %w", row.Turn, err)
		}
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("decode turn %s: %w", row.Turn, err)
		}
		if _, err := t.Apply(&e); err != nil {
			return nil, fmt.Errorf("apply turn %s: %w", row.Turn, err)
		}
		if read += len(line); read >= transcriptRead {
			break
		}
	}
	return t.Current(), nil
}

// turnText returns messages and tool calls of a turn as text.
func turnText(t *protocol.Turn) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "User: %s\n\n", t.Message.Text)
	for _, it := range t.Items {
		switch {
		case it.Kind == protocol.ItemText && len(it.Text) > 0:
			fmt.Fprintf(&b, "Assistant: %s\n\n", it.Text)
		case it.Kind == protocol.ItemTool && it.Tool != nil:
			title := it.Tool.Title
			if title == "" {
				title = it.Tool.Name
			}
			status := ""
			if it.Tool.End != nil {
				status = " (" + string(it.Tool.End.Status) + ")"
			}
			fmt.Fprintf(&b, "[tool call: %s%s]\n\n", title, status)
		}
	}
	if t.End != nil && t.End.Reason != protocol.ReasonCompleted {
		fmt.Fprintf(&b, "[the turn ended: %s %s]\n\n", t.End.Reason, t.End.Message)
	}
	return b.String()
}
