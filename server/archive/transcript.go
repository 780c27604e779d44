package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

const (
	transcriptTurns = 50      // most turns of a transcript
	transcriptRead  = 4 << 20 // bytes of events read of one turn
)

// Transcript returns the end of the finished turns of a session as text, at most most bytes.
func Transcript(ctx context.Context, store Store, id string, most int) (string, error) {
	rows, err := store.Turns(ctx, id, 0, transcriptTurns)
	if err != nil {
		return "", fmt.Errorf("read turns of %s: %w", id, err)
	}
	text := ""
	for _, row := range rows { // newest first
		turn, err := ReadTurn(ctx, store, id, row)
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

// ReadTurn reads a turn of a session, or the beginning of a very long one. It is nil if the log has
// no part of it.
func ReadTurn(ctx context.Context, store Store, id string, row eventlog.TurnRow) (*protocol.Turn, error) {
	var t protocol.Transcript
	read := 0
	for line, err := range eventlog.Lines(ctx, store, id, row.First-1, row.Last) {
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
		case it.Steered != nil && it.Steered.Outcome != protocol.SteerRefused:
			fmt.Fprintf(&b, "User: %s\n\n", it.Steered.Message.Text)
		case it.Kind == protocol.ItemText && len(it.Text) > 0:
			fmt.Fprintf(&b, "Assistant: %s\n\n", it.Text)
		case it.Kind == protocol.ItemTool && it.Tool != nil:
			status := ""
			if it.Tool.End != nil {
				status = " (" + string(it.Tool.End.Status) + ")"
			}
			fmt.Fprintf(&b, "[tool call: %s%s]\n\n", cmp.Or(it.Tool.Title, it.Tool.Name), status)
		}
	}
	if t.End != nil && t.End.Reason != protocol.ReasonCompleted {
		fmt.Fprintf(&b, "[the turn ended: %s %s]\n\n", t.End.Reason, t.End.Message)
	}
	return b.String()
}

// The text around the imported past in the first message to an agent.
const (
	maxImported  = 64 << 10 // bytes
	importedHead = "[This session continues an imported conversation. Its transcript so far:]"
	importedTail = "[End of the transcript. The new message of the user:]"
)

// AddImported puts the imported past of a session before a message. It leaves a command of the
// agent unchanged. It reports whether the message has the past.
func AddImported(ctx context.Context, store Store, id string, m *protocol.Message) (bool, error) {
	if strings.HasPrefix(m.Text, "/") {
		return false, nil
	}
	text, err := Transcript(ctx, store, id, maxImported)
	if err != nil || text == "" {
		return false, err
	}
	m.Text = strings.Join([]string{importedHead, text, importedTail, m.Text}, "\n\n")
	return true, nil
}

// MessagesOf reads the messages of a finished turn of a session: the one that started it, and those that
// joined it. For an unknown turn the error has the code not_found; other errors are the store's.
func MessagesOf(ctx context.Context, store Store, id, turn string) ([]protocol.Message, error) {
	for before := uint64(0); ; {
		rows, err := store.Turns(ctx, id, before, 100)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if before = row.First; row.Turn != turn {
				continue
			}
			t, err := ReadTurn(ctx, store, id, row)
			if err != nil || t == nil {
				return nil, fmt.Errorf("read turn %s: %w", turn, err)
			}
			return t.Messages(), nil
		}
		if len(rows) == 0 {
			return nil, protocol.Errorf(protocol.CodeNotFound, "turn %s is not in the log", turn)
		}
	}
}

// ReadShown reads the texts that a turn of a session and its tasks have shown.
func ReadShown(ctx context.Context, store Store, id string, row eventlog.TurnRow) ([]agent.ShownText, error) {
	t, err := ReadTurn(ctx, store, id, row)
	if err != nil || t == nil {
		return nil, err
	}
	var shown []agent.ShownText
	kinds := map[protocol.ItemKind]protocol.Kind{
		protocol.ItemText: protocol.KindText, protocol.ItemReasoning: protocol.KindReasoning,
	}
	for _, it := range t.Items {
		if kind, ok := kinds[it.Kind]; ok {
			shown = append(shown, agent.ShownText{Part: it.ID, Kind: kind, Text: string(it.Text), Open: it.Open})
		}
	}
	return shown, nil
}
