package transcriptview

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
)

// Bounds of the items in the list.
const (
	ItemsMax  = 4000 // items kept before the oldest are dropped
	itemsKept = 2000 // items left after dropping, at least
)

// View is the transcript on the screen. It shows the items of the turns in List.
type View struct {
	List        *transcript.List
	Turns       *turns.Turns // reader of the turns; the same after Reset
	HasPictures bool         // an item of the transcript had an image
	Pinned      bool         // old items are kept, as while the user selects lines

	styles       *ui.Styles
	items        map[*protocol.Item]transcript.ID // of the current turn
	runningTools map[*protocol.Item]transcript.ID // the tool calls that show a duration, and where
	calls        map[string]callPlace             // the tool calls of the current turn, by their ids
	nested       map[*protocol.Item]bool          // items of the current turn that are shown in a call
	speaker      string                           // author of the last message of the turn
	taskTitles   map[string]string                // titles of tasks by task id
	starts       []turnStart                      // turns in List, without those prepended by PrependPage
	plan         *Checklist                       // of the current turn
	planItem     transcript.ID                    // the item of plan

	retrying  *note         // of the retry that counts down, or nil
	retryItem transcript.ID // the item of retrying

	changed        []ChangedFile // by path
	changedCounted bool          // changed has the calls of the list and of older
	older          *OlderChanges // before the list; nil: not requested

	paging paging
}

// turnStart is the first item and the first seq of a turn.
type turnStart struct {
	id    transcript.ID
	first uint64
}

// New returns an empty transcript view.
func New(styles *ui.Styles) *View {
	return &View{
		styles:       styles,
		List:         transcript.NewList(ui.CacheBytes),
		Turns:        &turns.Turns{},
		items:        map[*protocol.Item]transcript.ID{},
		runningTools: map[*protocol.Item]transcript.ID{},
		calls:        map[string]callPlace{},
		nested:       map[*protocol.Item]bool{},
		taskTitles:   map[string]string{},
	}
}

// Reset discards all items and starts from a snapshot at seq at.
func (v *View) Reset(at uint64, s *protocol.State, width, height int) {
	reader := v.Turns
	*v = *New(v.styles)
	v.Turns = reader
	v.Turns.Reset(at, s)
	v.List.Resize(width, height)
	if at > 0 {
		v.paging.olderThan = at + 1
	}
}

// Apply applies an event. It returns an error if the event cannot be decoded. It shows nothing of a
// turn that began before the snapshot.
func (v *View) Apply(e *protocol.Event) error {
	items, err := v.Turns.Apply(e)
	if err != nil || !e.Durable() || e.Turn != "" && v.Turns.Partial() {
		return err
	}
	v.show(e, items, v.List.Append)
	return nil
}

// addFunc adds an item to a list and returns its id there.
type addFunc func(item transcript.Item, collapsed bool) transcript.ID

// show updates the list after an event. It adds new items by add and invalidates those that
// changed.
func (v *View) show(e *protocol.Event, items []*protocol.Item, add addFunc) {
	switch e.Type {
	case protocol.MessageUser:
		v.startTurn(e, add)
		return
	case protocol.PlanUpdated, protocol.PlanCompleted:
		for _, t := range remote.DecodeData[protocol.PlanTasksData](e.Data).Tasks {
			v.taskTitles[t.ID] = t.Title
		}
	case protocol.ToolEnded:
		v.changedCounted = false
	case protocol.TurnEnded:
		v.endTurn(e, items, add)
		return
	}
	if len(items) == 0 && e.Turn == "" && e.Durable() {
		if n := v.eventNote(e); n != nil {
			add(n, false)
		}
	}
	for _, it := range items {
		if it.Kind == protocol.ItemApproval {
			v.markWaiting(it)
		}
		if it.Kind == protocol.ItemEvent && turns.IsPlanEvent(it.Type) {
			v.showPlan(it.Seq, add)
			continue
		}
		if v.showNested(it, e) {
			continue
		}
		if it.Type == protocol.RetryScheduled {
			v.showRetry(e, add)
			continue
		}
		if id, ok := v.items[it]; ok {
			if call, ok := v.List.Item(id).(*toolCall); ok {
				call.apply(e)
			}
			v.List.Invalidate(id)
			v.notePictures(v.List.Item(id))
			continue
		}
		if item, collapsed := v.newItem(it, e); item != nil {
			v.items[it] = add(item, collapsed)
			v.notePictures(item)
			if call, ok := item.(*toolCall); ok {
				v.placeCall(call, v.items[it])
			}
		}
	}
}

// startTurn closes the turn before and adds the message that starts a turn.
func (v *View) startTurn(e *protocol.Event, add addFunc) {
	turn := v.Turns.Current()
	v.closeTurn(nil, nil)
	v.speaker = ""
	if m := &turn.Message; m.Work && m.Text == "" && len(m.Parts) == 0 {
		id := add(&note{
			itemAnchor: itemAnchor{kind: TurnAnchor, seq: turn.First}, styles: v.styles, level: protocol.LevelInfo,
			text: "the agent works without a message", blankBefore: true,
		}, false)
		v.starts = append(v.starts, turnStart{id, turn.First})
		return
	}
	message := &userMessage{
		itemAnchor: itemAnchor{kind: TurnAnchor, seq: turn.First},
		styles:     v.styles,
		message:    turn.Message,
		heading:    heading{remote.ActorName(turn.Message.By), v.styles.Clock(e.Time)},
		pictures:   partPictures(turn.Message.Parts),
	}
	id := add(message, false)
	v.notePictures(message)
	v.starts = append(v.starts, turnStart{id, turn.First})
}

// endTurn closes the current turn, whose open items are items, and adds its end.
func (v *View) endTurn(e *protocol.Event, items []*protocol.Item, add addFunc) {
	if turn := v.Turns.Current(); turn != nil && turn.Turn == e.Turn && turn.End != nil {
		v.closeTurn(items, turn.End)
		add(turnEndNote(v.styles, turn, v.Turns.Newest(), e.By), false)
	}
	v.dropOldTurns()
}

// showPlan redraws the checklist, or adds it for the first event of a plan, which is at seq.
func (v *View) showPlan(seq uint64, add addFunc) {
	if v.plan != nil {
		v.List.Invalidate(v.planItem)
		return
	}
	v.plan = &Checklist{itemAnchor: itemAnchor{seq: seq}, styles: v.styles, plan: v.Turns.Plan()}
	v.planItem = add(v.plan, true)
}

// SetTasksShownElsewhere sets whether a panel lists the tasks of the current plan.
func (v *View) SetTasksShownElsewhere(elsewhere bool) {
	if v.plan != nil && v.plan.shownElsewhere != elsewhere {
		v.plan.shownElsewhere = elsewhere
		v.List.Invalidate(v.planItem)
	}
}

// closeTurn closes the current turn and marks its open items as interrupted. end is nil when the
// end of the turn is not known; open is then empty.
func (v *View) closeTurn(open []*protocol.Item, end *protocol.TurnEndedData) {
	for _, it := range open {
		if id, ok := v.items[it]; ok {
			item, ok := v.List.Item(id).(interface{ markInterrupted(string) })
			if ok && end.Reason != protocol.ReasonCompleted {
				item.markInterrupted(interruptedText(end))
			}
			v.List.Invalidate(id)
		} else if place, ok := v.calls[it.ID]; ok && v.nested[it] {
			if end.Reason != protocol.ReasonCompleted {
				place.call.markInterrupted(interruptedText(end))
			}
			v.List.Invalidate(place.id)
		}
	}
	if v.plan != nil {
		v.plan.turnEnded = true
		v.List.Invalidate(v.planItem)
		v.plan = nil
	}
	if v.retrying != nil {
		v.retrying.retry.due = time.Time{}
		v.List.Invalidate(v.retryItem)
		v.retrying = nil
	}
	clear(v.items)
	clear(v.runningTools)
	clear(v.calls)
	clear(v.nested)
}

// Tick redraws the items that show a running duration.
func (v *View) Tick() {
	if v.retrying != nil {
		v.List.Invalidate(v.retryItem)
		if !v.retrying.retry.due.After(v.styles.Now()) {
			v.retrying = nil
		}
	}
	if v.plan != nil && v.plan.running() {
		v.List.Invalidate(v.planItem)
	}
	for it, id := range v.runningTools {
		if v.List.Invalidate(id); !it.Open {
			delete(v.runningTools, it)
		}
	}
}

// AddMark appends a warning from the client, like the loss of the connection.
func (v *View) AddMark(text string) {
	v.List.Append(&note{
		itemAnchor: itemAnchor{seq: v.Turns.Seq()}, styles: v.styles,
		level: protocol.LevelWarning, text: "── " + text, blankBefore: true,
	}, false)
}

// dropOldTurns drops the oldest turns once the list has ItemsMax items. It drops none while the
// list is scrolled up or pinned, or a page that belongs before them is loading. Dropped turns can
// be paged in again.
func (v *View) dropOldTurns() {
	if v.List.Len() < ItemsMax || !v.List.Following() || v.Pinned || v.paging.loading {
		return
	}
	i := slices.IndexFunc(v.starts, func(t turnStart) bool { return v.List.Last()-t.id < itemsKept })
	if i <= 0 {
		return
	}
	v.starts, v.changedCounted = slices.Clone(v.starts[i:]), false
	from := v.starts[0].id
	v.List.DropBefore(from)
	for i := range v.starts {
		v.starts[i].id -= from
	}
	v.paging.olderThan, v.paging.cut = v.starts[0].first, cutTurn{}
}

// Empty reports whether the session has no items, not even in pages of history.
func (v *View) Empty() bool { return v.List.Len() == 0 && v.paging.olderThan == 0 && !v.paging.loading }
