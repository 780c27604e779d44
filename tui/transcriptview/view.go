package transcriptview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	HistoryPage = 20   // turns asked for at a time
	ItemsMax    = 4000 // kept; then the oldest are forgotten
	itemsKept   = 2000 // and paged in again when they are wanted
)

// View is the transcript on the screen: the fold of the words, and the list
// that shows its items.
type View struct {
	styles       *ui.Styles
	List         *transcript.List
	reducer      protocol.Transcript
	items        map[*protocol.Item]transcript.ID // of the turn under way
	runningTools map[*protocol.Item]transcript.ID // of them, tool calls with a clock
	speaker      string                           // who spoke last in it
	taskTitles   map[string]string                // titles by id
	turns        []turnStart                      // that the list holds, but for those paged in
	plan         *Checklist                       // of the turn under way
	planItem     transcript.ID                    // where it is

	pinned bool // nothing may be forgotten: the user selects lines

	// Older turns are paged in before the first.
	olderThan uint64 // seq that the next page ends at; 0: nothing older
	loading   bool
}

// turnStart is where a turn begins, on the list and in the log.
type turnStart struct {
	id    transcript.ID
	first uint64
}

func New(l *ui.Styles) *View {
	return &View{
		styles: l, List: transcript.NewList(ui.CacheBytes),
		items: map[*protocol.Item]transcript.ID{}, runningTools: map[*protocol.Item]transcript.ID{}, taskTitles: map[string]string{},
	}
}

// Reset starts over from a snapshot at a seq.
func (v *View) Reset(at uint64, width, height int) {
	*v = *New(v.styles)
	v.List.Resize(width, height)
	v.reducer.Seq = at
	if at > 0 {
		v.olderThan = at + 1
	}
}

// Apply shows an event. It returns an error for one that cannot be read.
func (v *View) Apply(e *protocol.Event) error {
	items, err := v.reducer.Apply(e)
	if err != nil {
		return err
	}
	v.show(e, items, v.appendItem)
	return nil
}

func (v *View) appendItem(src transcript.Item, folded bool) transcript.ID {
	return v.List.Append(src, folded)
}

// show puts the items that an event changed on the list through add.
func (v *View) show(e *protocol.Event, items []*protocol.Item, add func(transcript.Item, bool) transcript.ID) {
	switch e.Type {
	case protocol.MessageUser:
		turn := v.reducer.Current()
		v.reducer.Turns = []*protocol.Turn{turn} // the list keeps what it shows of the others
		v.closeTurn(nil, nil)
		v.speaker = ""
		id := add(&userMessage{
			itemAnchor: itemAnchor{TurnAnchor, AnchorName(turn.Turn, protocol.HitUser, "")},
			styles:     v.styles, message: turn.Message, heading: v.heading(remote.ActorName(turn.Message.By), e),
		}, false)
		v.turns = append(v.turns, turnStart{id, turn.First})
		return
	case protocol.PlanUpdated, protocol.PlanCompleted:
		for _, t := range remote.DecodeData[protocol.PlanTasksData](e.Data).Tasks {
			v.taskTitles[t.ID] = t.Title
		}
	case protocol.TurnEnded:
		if turn := v.reducer.Current(); turn != nil && turn.Turn == e.Turn && turn.End != nil {
			v.closeTurn(items, turn.End)
			n := turnEndNote(v.styles, turn.End, e.By)
			if turn.End.Failed() {
				n.itemAnchor = v.errorAnchor(turnEnd)
			}
			add(n, false)
		}
		v.dropOldTurns()
		return
	}
	if len(items) == 0 && e.Turn == "" && e.Durable() {
		if n := eventNote(v.styles, e.Type, e.Data); n != nil {
			if e.Type == protocol.ErrorRaised {
				n.kind = ErrorAnchor
			}
			v.joinNotes(n)
			add(n, false)
		}
	}
	for _, it := range items {
		if it.Kind == protocol.ItemEvent && IsPlanEvent(it.Type) {
			v.applyPlanEvent(it, add)
			continue
		}
		if id, ok := v.items[it]; ok {
			if call, ok := v.List.Item(id).(*toolCall); ok && replacesOutput(e) {
				call.resetOutput()
			}
			if e.Type == protocol.ToolEnded {
				v.List.UpdateAnchor(id)
			}
			v.List.Invalidate(id)
			continue
		}
		if src, folded := v.newItem(it, e); src != nil {
			v.items[it] = add(src, folded)
			if it.Kind == protocol.ItemTool && it.Open {
				v.runningTools[it] = v.items[it]
			}
		}
	}
}

// replacesOutput tells that a tool's output is another one from this event on.
func replacesOutput(e *protocol.Event) bool {
	return e.Type == protocol.ToolOutput && bytes.Contains(e.Data, []byte(`"replace"`)) && remote.DecodeData[protocol.ToolOutputData](e.Data).Replace
}

// applyPlanEvent shows an event of the turn's plan where the plan is shown.
func (v *View) applyPlanEvent(it *protocol.Item, add func(transcript.Item, bool) transcript.ID) {
	fresh := v.plan == nil
	if fresh {
		v.plan = &Checklist{styles: v.styles}
	}
	v.plan.apply(it)
	if fresh {
		v.planItem = add(v.plan, true)
		return
	}
	v.List.Invalidate(v.planItem)
}

// SetTasksShownElsewhere tells the plan of the turn under way whether a panel shows its tasks.
func (v *View) SetTasksShownElsewhere(elsewhere bool) {
	if v.plan != nil && v.plan.shownElsewhere != elsewhere {
		v.plan.shownElsewhere = elsewhere
		v.List.Invalidate(v.planItem)
	}
}

// closeTurn ends what shows of a turn; what was open then is marked as cut off. No
// end is that of a turn which nothing is known of.
func (v *View) closeTurn(open []*protocol.Item, end *protocol.TurnEndedData) {
	for _, it := range open {
		if id, ok := v.items[it]; ok {
			if src, ok := v.List.Item(id).(interface{ markInterrupted(string) }); ok && end.Reason != protocol.ReasonCompleted {
				src.markInterrupted(interruptedText(end))
			}
			v.List.Invalidate(id)
		}
	}
	if v.plan != nil {
		v.plan.turnEnded = true
		v.List.Invalidate(v.planItem)
		v.plan = nil
	}
	clear(v.items)
	clear(v.runningTools)
}

// Tick moves the clocks of what runs.
func (v *View) Tick() {
	if v.plan != nil && v.plan.running() {
		v.List.Invalidate(v.planItem)
	}
	for it, id := range v.runningTools {
		if v.List.Invalidate(id); !it.Open {
			delete(v.runningTools, it)
		}
	}
}

// newItem is how an item is shown, or nil when it shows elsewhere.
func (v *View) newItem(it *protocol.Item, e *protocol.Event) (src transcript.Item, folded bool) {
	switch it.Kind {
	case protocol.ItemText:
		head := ""
		if voice := cmp.Or(it.Agent, v.taskTitle(it.Task), "agent"); voice != v.speaker || it.Task != "" {
			v.speaker = voice
			head = v.heading(voice, e)
		}
		return &agentMessage{itemAnchor: v.anchorAt(0, it), styles: v.styles, item: it, heading: head}, it.Task != ""
	case protocol.ItemReasoning:
		return &reasoning{itemAnchor: v.anchorAt(0, it), styles: v.styles, item: it, task: v.taskTitle(it.Task)}, true
	case protocol.ItemTool:
		return &toolCall{itemAnchor: v.anchorAt(ToolAnchor, it), styles: v.styles, item: it, task: v.taskTitle(it.Task)}, true
	case protocol.ItemApproval:
		return &approvalItem{itemAnchor: v.anchorAt(ApprovalAnchor, it), styles: v.styles, item: it}, false
	}
	if n := eventNote(v.styles, it.Type, it.Data); n != nil {
		if it.Type == protocol.ErrorRaised {
			n.itemAnchor = v.errorAnchor(seqName(it.Seq))
		}
		v.joinNotes(n)
		return n, false
	}
	return nil, false
}

// joinNotes leaves no blank line between a note and the one it comes after.
func (v *View) joinNotes(n *note) {
	if v.List.Len() > 0 {
		last, ok := v.List.Item(v.List.Last()).(*note)
		n.blankBefore = !ok || !last.fromEvent
	}
}

// taskTitle is what a task of a plan is called.
func (v *View) taskTitle(id string) string {
	if title := v.taskTitles[id]; title != "" || id == "" {
		return title
	}
	if v.plan != nil {
		if i := v.plan.taskIndex(id); i >= 0 {
			return v.plan.tasks[i].Title
		}
	}
	return id
}

// anchorAt makes an item of the turn under way one that can be gone to.
func (v *View) anchorAt(kind transcript.AnchorKind, it *protocol.Item) itemAnchor {
	return itemAnchor{kind, AnchorName(v.reducer.Current().Turn, protocol.HitKind(it.Kind), it.ID)}
}

// errorAnchor does it for an error of that turn.
func (v *View) errorAnchor(id string) itemAnchor {
	return itemAnchor{ErrorAnchor, AnchorName(v.reducer.Current().Turn, protocol.HitError, id)}
}

// AddMark puts a line of ours between what is said.
func (v *View) AddMark(text string) {
	v.List.Append(&note{styles: v.styles, level: describe.LevelWarning, text: "── " + text, blankBefore: true}, false)
}

// dropOldTurns drops the oldest turns once there are too many items, and not while
// somebody reads above. They can be paged in again.
func (v *View) dropOldTurns() {
	if v.List.Len() < ItemsMax || !v.List.Following() || v.pinned {
		return
	}
	cut := slices.IndexFunc(v.turns, func(t turnStart) bool { return v.List.Last()-t.id < itemsKept })
	if cut <= 0 {
		return
	}
	v.turns = slices.Clone(v.turns[cut:])
	from := v.turns[0].id
	v.List.DropBefore(from)
	for i := range v.turns {
		v.turns[i].id -= from
	}
	v.olderThan = v.turns[0].first
}

func (v *View) heading(name string, e *protocol.Event) string {
	return name + " · " + v.styles.Clock(e.Time)
}

// Empty tells that nothing was ever said.
func (v *View) Empty() bool { return v.List.Len() == 0 && v.olderThan == 0 && !v.loading }

// RequestPage asks for so many turns before the first one shown, once at a time; ok is
// false when there is nothing to ask.
func (v *View) RequestPage(turns int) (protocol.HistoryData, bool) {
	if v.olderThan == 0 || v.loading {
		return protocol.HistoryData{}, false
	}
	v.loading = true
	return protocol.HistoryData{Before: v.olderThan, Limit: turns}, true
}

// PrependPage shows a page of history before the first item.
func (v *View) PrependPage(page *protocol.HistoryResult) error {
	v.loading = false
	v.olderThan = 0
	if page.More && page.First > 0 {
		v.olderThan = page.First
	}
	past := New(v.styles)
	var sources []transcript.Item
	var folds []bool
	collect := func(src transcript.Item, folded bool) transcript.ID {
		sources, folds = append(sources, src), append(folds, folded)
		return past.List.Append(src, folded)
	}
	for _, raw := range page.Events {
		var e protocol.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		if e.Turn != "" && e.Type != protocol.MessageUser && past.reducer.Current() == nil { // the end of a long turn
			past.reducer.Turns = []*protocol.Turn{{Turn: e.Turn, First: e.First(), Started: e.Time}}
		}
		items, err := past.reducer.Apply(&e)
		if err != nil {
			return err
		}
		past.show(&e, items, collect)
	}
	for _, id := range past.runningTools { // where the page was cut; the rest of it is there already
		past.List.Item(id).(*toolCall).markInterrupted("goes on below")
	}
	for i := len(sources) - 1; i >= 0; i-- {
		v.List.Prepend(sources[i], folds[i])
	}
	return nil
}

// HasOlder reports whether turns before the first one shown can be requested.
func (v *View) HasOlder() bool { return v.olderThan != 0 }

// OlderThan returns the seq that the next page of history ends at; 0 when there is none.
func (v *View) OlderThan() uint64 { return v.olderThan }

// Loading reports whether a page of history is requested.
func (v *View) Loading() bool { return v.loading }

// StopPaging notes that older turns cannot be had.
func (v *View) StopPaging() { v.loading, v.olderThan = false, 0 }

// SetPinned keeps items from being forgotten while the user selects lines.
func (v *View) SetPinned(pinned bool) { v.pinned = pinned }

// Checklist returns the checklist of the running turn's plan, or nil.
func (v *View) Checklist() *Checklist { return v.plan }
