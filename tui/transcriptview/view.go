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
	tasks        map[string]string                // titles by id
	turns        []turnStart                      // that the list holds, but for those paged in
	plan         *Checklist                       // of the turn under way
	planItem     transcript.ID                    // where it is

	pinned bool // nothing may be forgotten: the user selects lines

	// Older turns are paged in before the first.
	before  uint64 // seq that the next page ends at; 0: nothing older
	loading bool
}

// turnStart is where a turn begins, on the list and in the log.
type turnStart struct {
	id    transcript.ID
	first uint64
}

func New(l *ui.Styles) *View {
	return &View{
		styles: l, List: transcript.NewList(ui.CacheBytes),
		items: map[*protocol.Item]transcript.ID{}, runningTools: map[*protocol.Item]transcript.ID{}, tasks: map[string]string{},
	}
}

// Reset starts over from a snapshot at a seq.
func (s *View) Reset(at uint64, width, height int) {
	*s = *New(s.styles)
	s.List.Resize(width, height)
	s.reducer.Seq = at
	if at > 0 {
		s.before = at + 1
	}
}

// Apply shows an event. It returns an error for one that cannot be read.
func (s *View) Apply(e *protocol.Event) error {
	items, err := s.reducer.Apply(e)
	if err != nil {
		return err
	}
	s.show(e, items, s.append)
	return nil
}

func (s *View) append(src transcript.Item, folded bool) transcript.ID {
	return s.List.Append(src, folded)
}

// show puts the items that an event changed on the list through add.
func (s *View) show(e *protocol.Event, items []*protocol.Item, add func(transcript.Item, bool) transcript.ID) {
	switch e.Type {
	case protocol.MessageUser:
		turn := s.reducer.Current()
		s.reducer.Turns = []*protocol.Turn{turn} // the list keeps what it shows of the others
		s.close(nil, nil)
		s.speaker = ""
		id := add(&userMessage{
			itemAnchor: itemAnchor{TurnAnchor, AnchorName(turn.Turn, protocol.HitUser, "")},
			styles:     s.styles, message: turn.Message, head: s.head(remote.ActorName(turn.Message.By), e),
		}, false)
		s.turns = append(s.turns, turnStart{id, turn.First})
		return
	case protocol.PlanUpdated, protocol.PlanCompleted:
		for _, t := range remote.DecodeData[protocol.PlanTasksData](e.Data).Tasks {
			s.tasks[t.ID] = t.Title
		}
	case protocol.TurnEnded:
		if turn := s.reducer.Current(); turn != nil && turn.Turn == e.Turn && turn.End != nil {
			s.close(items, turn.End)
			n := turnEndNote(s.styles, turn.End, e.By)
			if turn.End.Failed() {
				n.itemAnchor = s.errorAt(turnEnd)
			}
			add(n, false)
		}
		s.dropOldTurns()
		return
	}
	if len(items) == 0 && e.Turn == "" && e.Durable() {
		if n := eventNote(s.styles, e.Type, e.Data); n != nil {
			if e.Type == protocol.ErrorRaised {
				n.kind = ErrorAnchor
			}
			s.joinNotes(n)
			add(n, false)
		}
	}
	for _, it := range items {
		if it.Kind == protocol.ItemEvent && IsPlanEvent(it.Type) {
			s.planned(it, add)
			continue
		}
		if id, ok := s.items[it]; ok {
			if call, ok := s.List.Item(id).(*toolCall); ok && replaces(e) {
				call.resetOutput()
			}
			if e.Type == protocol.ToolEnded {
				s.List.UpdateAnchor(id)
			}
			s.List.Invalidate(id)
			continue
		}
		if src, folded := s.source(it, e); src != nil {
			s.items[it] = add(src, folded)
			if it.Kind == protocol.ItemTool && it.Open {
				s.runningTools[it] = s.items[it]
			}
		}
	}
}

// replaces tells that a tool's output is another one from this event on.
func replaces(e *protocol.Event) bool {
	return e.Type == protocol.ToolOutput && bytes.Contains(e.Data, []byte(`"replace"`)) && remote.DecodeData[protocol.ToolOutputData](e.Data).Replace
}

// planned shows an event of the turn's plan where the plan is shown.
func (s *View) planned(it *protocol.Item, add func(transcript.Item, bool) transcript.ID) {
	fresh := s.plan == nil
	if fresh {
		s.plan = &Checklist{styles: s.styles}
	}
	s.plan.apply(it)
	if fresh {
		s.planItem = add(s.plan, true)
		return
	}
	s.List.Invalidate(s.planItem)
}

// SetTasksShownElsewhere tells the plan of the turn under way whether a panel shows its tasks.
func (s *View) SetTasksShownElsewhere(elsewhere bool) {
	if s.plan != nil && s.plan.shownElsewhere != elsewhere {
		s.plan.shownElsewhere = elsewhere
		s.List.Invalidate(s.planItem)
	}
}

// close ends what shows of a turn; what was open then is marked as cut off. No
// end is that of a turn which nothing is known of.
func (s *View) close(open []*protocol.Item, end *protocol.TurnEndedData) {
	for _, it := range open {
		if id, ok := s.items[it]; ok {
			if src, ok := s.List.Item(id).(interface{ cutOff(string) }); ok && end.Reason != protocol.ReasonCompleted {
				src.cutOff(interruptedText(end))
			}
			s.List.Invalidate(id)
		}
	}
	if s.plan != nil {
		s.plan.turnEnded = true
		s.List.Invalidate(s.planItem)
		s.plan = nil
	}
	clear(s.items)
	clear(s.runningTools)
}

// Tick moves the clocks of what runs.
func (s *View) Tick() {
	if s.plan != nil && s.plan.running() {
		s.List.Invalidate(s.planItem)
	}
	for it, id := range s.runningTools {
		if s.List.Invalidate(id); !it.Open {
			delete(s.runningTools, it)
		}
	}
}

// source is how an item is shown, or nil when it shows elsewhere.
func (s *View) source(it *protocol.Item, e *protocol.Event) (src transcript.Item, folded bool) {
	switch it.Kind {
	case protocol.ItemText:
		head := ""
		if voice := cmp.Or(it.Agent, s.task(it.Task), "agent"); voice != s.speaker || it.Task != "" {
			s.speaker = voice
			head = s.head(voice, e)
		}
		return &agentMessage{itemAnchor: s.at(0, it), styles: s.styles, item: it, head: head}, it.Task != ""
	case protocol.ItemReasoning:
		return &reasoning{itemAnchor: s.at(0, it), styles: s.styles, item: it, task: s.task(it.Task)}, true
	case protocol.ItemTool:
		return &toolCall{itemAnchor: s.at(ToolAnchor, it), styles: s.styles, item: it, task: s.task(it.Task)}, true
	case protocol.ItemApproval:
		return &approvalItem{itemAnchor: s.at(ApprovalAnchor, it), styles: s.styles, item: it}, false
	}
	if n := eventNote(s.styles, it.Type, it.Data); n != nil {
		if it.Type == protocol.ErrorRaised {
			n.itemAnchor = s.errorAt(seqName(it.Seq))
		}
		s.joinNotes(n)
		return n, false
	}
	return nil, false
}

// joinNotes leaves no blank line between a note and the one it comes after.
func (s *View) joinNotes(n *note) {
	if s.List.Len() > 0 {
		last, ok := s.List.Item(s.List.Last()).(*note)
		n.space = !ok || !last.event
	}
}

// task is what a task of a plan is called.
func (s *View) task(id string) string {
	if title := s.tasks[id]; title != "" || id == "" {
		return title
	}
	if s.plan != nil {
		if i := s.plan.find(id); i >= 0 {
			return s.plan.steps[i].Title
		}
	}
	return id
}

// at makes an item of the turn under way one that can be gone to.
func (s *View) at(kind transcript.AnchorKind, it *protocol.Item) itemAnchor {
	return itemAnchor{kind, AnchorName(s.reducer.Current().Turn, protocol.HitKind(it.Kind), it.ID)}
}

// errorAt does it for an error of that turn.
func (s *View) errorAt(id string) itemAnchor {
	return itemAnchor{ErrorAnchor, AnchorName(s.reducer.Current().Turn, protocol.HitError, id)}
}

// AddMark puts a line of ours between what is said.
func (s *View) AddMark(text string) {
	s.List.Append(&note{styles: s.styles, level: describe.LevelWarning, text: "── " + text, space: true}, false)
}

// dropOldTurns drops the oldest turns once there are too many items, and not while
// somebody reads above. They can be paged in again.
func (s *View) dropOldTurns() {
	if s.List.Len() < ItemsMax || !s.List.Following() || s.pinned {
		return
	}
	cut := slices.IndexFunc(s.turns, func(t turnStart) bool { return s.List.Last()-t.id < itemsKept })
	if cut <= 0 {
		return
	}
	s.turns = slices.Clone(s.turns[cut:])
	from := s.turns[0].id
	s.List.DropBefore(from)
	for i := range s.turns {
		s.turns[i].id -= from
	}
	s.before = s.turns[0].first
}

func (s *View) head(name string, e *protocol.Event) string {
	return name + " · " + s.styles.Clock(e.Time)
}

// Empty tells that nothing was ever said.
func (s *View) Empty() bool { return s.List.Len() == 0 && s.before == 0 && !s.loading }

// RequestPage asks for so many turns before the first one shown, once at a time; ok is
// false when there is nothing to ask.
func (s *View) RequestPage(turns int) (protocol.HistoryData, bool) {
	if s.before == 0 || s.loading {
		return protocol.HistoryData{}, false
	}
	s.loading = true
	return protocol.HistoryData{Before: s.before, Limit: turns}, true
}

// PrependPage shows a page of history before the first item.
func (s *View) PrependPage(page *protocol.HistoryResult) error {
	s.loading = false
	s.before = 0
	if page.More && page.First > 0 {
		s.before = page.First
	}
	past := New(s.styles)
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
		past.List.Item(id).(*toolCall).cutOff("goes on below")
	}
	for i := len(sources) - 1; i >= 0; i-- {
		s.List.Prepend(sources[i], folds[i])
	}
	return nil
}

// HasOlder reports whether turns before the first one shown can be requested.
func (s *View) HasOlder() bool { return s.before != 0 }

// OlderThan returns the seq that the next page of history ends at; 0 when there is none.
func (s *View) OlderThan() uint64 { return s.before }

// Loading reports whether a page of history is requested.
func (s *View) Loading() bool { return s.loading }

// StopPaging notes that older turns cannot be had.
func (s *View) StopPaging() { s.loading, s.before = false, 0 }

// SetPinned keeps items from being forgotten while the user selects lines.
func (s *View) SetPinned(pinned bool) { s.pinned = pinned }

// Checklist returns the checklist of the running turn's plan, or nil.
func (s *View) Checklist() *Checklist { return s.plan }
