package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/export"
	"agentctl/protocol"
)

// A placed is a type of event, in turns or between them.
type placed struct {
	typ     protocol.Type
	between bool
}

func (p placed) String() string {
	if p.between {
		return string(p.typ) + " between turns"
	}
	return string(p.typ) + " in a turn"
}

func inTurns(types ...protocol.Type) (list []placed) {
	for _, typ := range types {
		list = append(list, placed{typ, false})
	}
	return list
}

func betweenTurns(types ...protocol.Type) (list []placed) {
	for _, typ := range types {
		list = append(list, placed{typ, true})
	}
	return list
}

func anywhere(types ...protocol.Type) []placed {
	return slices.Concat(inTurns(types...), betweenTurns(types...))
}

// places returns the place of each event through the end of the last finished turn.
func (h *randomHistory) places() []placed {
	places := make([]placed, h.lastTurn())
	in := false
	for i := range places {
		typ := h.events[i].Type
		in = in || typ == protocol.MessageUser
		places[i] = placed{typ, !in}
		in = in && typ != protocol.TurnEnded
	}
	return places
}

// Events that readers of the past leave out.
var (
	// What they say about the present was true at their time only.
	present = []protocol.Type{
		protocol.SessionUpdated, protocol.AgentOptions, protocol.ContextUpdated, protocol.ContextCompacted,
		protocol.UsageUpdated, protocol.LimitsUpdated, protocol.QueueAdded, protocol.QueueScheduled, protocol.QueueUpdated,
		protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased,
		protocol.StateExported, protocol.StateRestored,
	}
	recovery = []protocol.Type{
		protocol.RetryScheduled, protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed,
	}

	notInHistory = slices.Concat(betweenTurns(present...), betweenTurns(protocol.SessionCreated, protocol.Raw))

	// A session made from another has its own creation, and the deltas in place of joined ones.
	notInCopies = slices.Concat(
		anywhere(present...), anywhere(protocol.Raw), betweenTurns(protocol.SessionCreated),
		inTurns(recovery...), inTurns(protocol.JoinedDeltas),
	)

	// No document has notices between turns. The ends of texts change nothing in a document.
	notInDocuments = slices.Concat(
		anywhere(present...), anywhere(protocol.Raw), betweenTurns(protocol.Notice), inTurns(recovery...),
		inTurns(
			protocol.TurnStarted, protocol.TextStart, protocol.TextEnd, protocol.ReasoningStart, protocol.ReasoningEnd,
			protocol.ToolInput,
			protocol.PlanStarted, protocol.PlanUpdated, protocol.PlanCancelled, protocol.TaskStarted,
			protocol.TaskProgress, protocol.TaskRestarted, protocol.AggregateStarted, protocol.AggregateCompleted,
			protocol.PipelineCompleted,
		),
	)
	notInHTML = slices.Concat(notInDocuments, inTurns(
		protocol.PlanCompleted, protocol.PlanInvalid, protocol.PlanFailed, protocol.TaskCompleted,
		protocol.TaskFailed, protocol.TaskCancelled,
	))
	notInAsciicast = slices.Concat(notInHTML, inTurns(
		protocol.JoinedDeltas, // the caller passes the deltas
		protocol.ErrorRaised, protocol.Notice, protocol.ApprovalExplained, protocol.MessageResolved, protocol.ToolEnded,
	))
)

// An eventReader gets a log. Every type of event reaches it, except at the places that it leaves
// out.
type eventReader struct {
	name    string
	leftOut []placed
	between bool // only events between turns are looked for
	reached func(h *historyServer, of *randomHistory) map[placed]bool
}

func eventReaders() []eventReader {
	readers := []eventReader{
		{"history page", notInHistory, false, historyPage},
		{"history as text", notInHistory, true, historyText},
	}
	for _, c := range carriers {
		readers = append(readers, eventReader{c.name, notInCopies, false, c.reached})
	}
	for _, d := range []struct {
		format  export.Format
		leftOut []placed
	}{
		{export.FormatJSONLines, nil},
		{export.FormatMarkdown, notInDocuments},
		{export.FormatHTML, notInHTML},
		{export.FormatAsciicast, notInAsciicast},
	} {
		readers = append(readers, eventReader{d.format, d.leftOut, false, documentOf(d.format, d.leftOut)})
	}
	return readers
}

// Every type of event reaches every reader of a log, except what the reader lists. A new type must
// reach all, or be listed.
func TestEveryEventReachesTheReadersOfItsLog(t *testing.T) {
	t.Parallel()
	h := newHistoryServer(t, withoutTypes)
	happens := map[protocol.Type]bool{}
	for _, source := range h.histories {
		for i := range source.events {
			happens[source.events[i].Type] = true
		}
	}
	for _, typ := range protocol.EventTypes {
		if !typ.Ephemeral && !happens[typ.Type] {
			t.Errorf("no history has %s", typ.Type)
		}
	}
	for _, r := range eventReaders() {
		sent, reached := map[placed]bool{}, map[placed]bool{}
		for _, source := range h.histories {
			for _, p := range source.places() {
				sent[p] = sent[p] || p.between || !r.between
			}
			maps.Copy(reached, r.reached(h, source))
		}
		var list []string
		for p, is := range sent {
			switch left := slices.Contains(r.leftOut, p); {
			case is && !left && !reached[p]:
				list = append(list, p.String())
			case left && reached[p]:
				t.Errorf("%s: %s is listed as left out, but reaches it", r.name, p)
			}
		}
		for _, p := range r.leftOut {
			if !sent[p] {
				t.Errorf("%s: %s is listed as left out, but does not happen", r.name, p)
			}
		}
		if slices.Sort(list); len(list) > 0 {
			t.Errorf("%s: these do not reach it; carry them, or list them as left out:\n%s", r.name, strings.Join(list, "\n"))
		}
	}
}

// reached makes a session of a history and returns what its log has of it.
func (c carrier) reached(h *historyServer, of *randomHistory) map[placed]bool {
	if c.open && h.state(of.id).Closed {
		return nil
	}
	return of.findIn(h.t, h.run(nil, "export", c.make(h, of.id), "--format", "jsonl"))
}

func historyPage(h *historyServer, of *randomHistory) map[placed]bool {
	return of.findIn(h.t, h.run(nil, "history", of.id, "--limit", "0", "-o", "json"))
}

// findIn returns the places of the history's events that are in lines. An event is known by its
// time.
func (h *randomHistory) findIn(t *testing.T, lines []byte) map[placed]bool {
	t.Helper()
	at := map[time.Time]placed{}
	for i, p := range h.places() {
		at[h.events[i].Time] = p
	}
	found := map[placed]bool{}
	for line := range bytes.Lines(lines) {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if p, ok := at[e.Time]; ok && p.typ == e.Type {
			found[p] = true
		}
	}
	return found
}

// without returns the history without the events of a place.
func (h *randomHistory) without(p placed) *randomHistory {
	places := h.places()
	return h.renumbered(fmt.Sprintf("%s-%s", h.id, p.typ), func(i int) bool {
		return i >= len(places) || places[i] != p
	})
}

// withoutTypes returns for each type between turns a history that lacks it.
func withoutTypes(list []*randomHistory) []*randomHistory {
	var others []*randomHistory
	seen := map[placed]bool{}
	for _, h := range list {
		for _, p := range h.places() {
			if p.between && !seen[p] {
				seen[p] = true
				others = append(others, h.without(p))
			}
		}
	}
	return others
}

// historyText compares the text of a history with the text of the same history without a type.
func historyText(h *historyServer, of *randomHistory) map[placed]bool {
	text := func(id string) string {
		return strings.ReplaceAll(string(h.run(nil, "history", id, "--limit", "0")), id, "SESSION")
	}
	reached := map[placed]bool{}
	whole := text(of.id)
	for _, other := range h.others {
		if typ, ok := strings.CutPrefix(other.id, of.id+"-"); ok {
			reached[placed{protocol.Type(typ), true}] = text(other.id) != whole
		}
	}
	return reached
}

// documentOf compares documents of histories with documents of the same histories without a type,
// except what documents leave out.
func documentOf(format export.Format, leftOut []placed) func(*historyServer, *randomHistory) map[placed]bool {
	reached := map[placed]bool{}
	return func(_ *historyServer, of *randomHistory) map[placed]bool {
		whole := of.document(format)
		tried := map[placed]bool{}
		for _, p := range of.places() {
			if reached[p] || tried[p] || slices.Contains(leftOut, p) {
				continue
			}
			tried[p] = true
			reached[p] = of.without(p).document(format) != whole
		}
		return reached
	}
}

// document returns the history in a format, or the error.
func (h *randomHistory) document(format export.Format) string {
	var lines iter.Seq2[[]byte, error] = func(yield func([]byte, error) bool) {
		for i := range h.events {
			e := h.events[i]
			e.Session = "s"
			if !yield(e.AppendJSON(nil), nil) {
				return
			}
		}
	}
	var b bytes.Buffer
	err := export.Documents{}.Write(&b, format, lines)
	return fmt.Sprint(b.String(), errors.Unwrap(err))
}
