package tui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"agentctl/tui/remote"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

const (
	historyPage = 20   // turns asked for at a time
	itemsMax    = 4000 // kept; then the oldest are forgotten
	itemsKept   = 2000 // and paged in again when they are wanted
)

// story is the transcript on the screen: the fold of the words, and the list
// that shows its items.
type story struct {
	look  *Styles
	list  *transcript.List
	words protocol.Transcript
	shown map[*protocol.Item]transcript.ID // of the turn under way
	runs  map[*protocol.Item]transcript.ID // of them, tool calls with a clock
	voice string                           // who spoke last in it
	tasks map[string]string                // titles by id
	turns []start                          // that the list holds, but for those paged in
	plan  *checklist                       // of the turn under way
	steps transcript.ID                    // where it is

	pinned bool // nothing may be forgotten: somebody chooses lines

	// Older turns are paged in before the first.
	before  uint64 // seq that the next page ends at; 0: nothing older
	loading bool
}

// start is where a turn begins, on the list and in the log.
type start struct {
	id    transcript.ID
	first uint64
}

func newStory(l *Styles) *story {
	return &story{
		look: l, list: transcript.NewList(CacheBytes),
		shown: map[*protocol.Item]transcript.ID{}, runs: map[*protocol.Item]transcript.ID{}, tasks: map[string]string{},
	}
}

// reset starts over from a snapshot at a seq.
func (s *story) reset(at uint64, width, height int) {
	*s = *newStory(s.look)
	s.list.Resize(width, height)
	s.words.Seq = at
	if at > 0 {
		s.before = at + 1
	}
}

// add shows an event. It returns an error for one that cannot be read.
func (s *story) add(e *protocol.Event) error {
	items, err := s.words.Apply(e)
	if err != nil {
		return err
	}
	s.show(e, items, s.append)
	return nil
}

func (s *story) append(src transcript.Item, folded bool) transcript.ID {
	return s.list.Append(src, folded)
}

// show puts the items that an event changed on the list through add.
func (s *story) show(e *protocol.Event, items []*protocol.Item, add func(transcript.Item, bool) transcript.ID) {
	switch e.Type {
	case protocol.MessageUser:
		turn := s.words.Current()
		s.words.Turns = []*protocol.Turn{turn} // the list keeps what it shows of the others
		s.close(nil, nil)
		s.voice = ""
		id := add(&asked{
			anchor: anchor{aTurn, nameOfItem(turn.Turn, protocol.HitUser, "")},
			look:   s.look, message: turn.Message, head: s.head(remote.ActorName(turn.Message.By), e),
		}, false)
		s.turns = append(s.turns, start{id, turn.First})
		return
	case protocol.PlanUpdated, protocol.PlanCompleted:
		for _, t := range decode[protocol.PlanTasksData](e.Data).Tasks {
			s.tasks[t.ID] = t.Title
		}
	case protocol.TurnEnded:
		if turn := s.words.Current(); turn != nil && turn.Turn == e.Turn && turn.End != nil {
			s.close(items, turn.End)
			n := turnEndNote(s.look, turn.End, e.By)
			if turn.End.Failed() {
				n.anchor = s.errorAt(turnEnd)
			}
			add(n, false)
		}
		s.forget()
		return
	}
	if len(items) == 0 && e.Turn == "" && e.Durable() {
		if n := eventNote(s.look, e.Type, e.Data); n != nil {
			if e.Type == protocol.ErrorRaised {
				n.kind = anError
			}
			s.beside(n)
			add(n, false)
		}
	}
	for _, it := range items {
		if it.Kind == protocol.ItemEvent && planning(it.Type) {
			s.planned(it, add)
			continue
		}
		if id, ok := s.shown[it]; ok {
			if call, ok := s.list.Item(id).(*toolCall); ok && replaces(e) {
				call.anew()
			}
			if e.Type == protocol.ToolEnded {
				s.list.UpdateAnchor(id)
			}
			s.list.Invalidate(id)
			continue
		}
		if src, folded := s.source(it, e); src != nil {
			s.shown[it] = add(src, folded)
			if it.Kind == protocol.ItemTool && it.Open {
				s.runs[it] = s.shown[it]
			}
		}
	}
}

// replaces tells that a tool's output is another one from this event on.
func replaces(e *protocol.Event) bool {
	return e.Type == protocol.ToolOutput && bytes.Contains(e.Data, []byte(`"replace"`)) && decode[protocol.ToolOutputData](e.Data).Replace
}

// planned shows an event of the turn's plan where the plan is shown.
func (s *story) planned(it *protocol.Item, add func(transcript.Item, bool) transcript.ID) {
	fresh := s.plan == nil
	if fresh {
		s.plan = &checklist{look: s.look}
	}
	s.plan.take(it)
	if fresh {
		s.steps = add(s.plan, true)
		return
	}
	s.list.Invalidate(s.steps)
}

// listed tells the plan of the turn under way whether a panel shows its tasks.
func (s *story) listed(elsewhere bool) {
	if s.plan != nil && s.plan.listed != elsewhere {
		s.plan.listed = elsewhere
		s.list.Invalidate(s.steps)
	}
}

// close ends what shows of a turn; what was open then is marked as cut off. No
// end is that of a turn which nothing is known of.
func (s *story) close(open []*protocol.Item, end *protocol.TurnEndedData) {
	for _, it := range open {
		if id, ok := s.shown[it]; ok {
			if src, ok := s.list.Item(id).(interface{ cutOff(string) }); ok && end.Reason != protocol.ReasonCompleted {
				src.cutOff(cutWord(end))
			}
			s.list.Invalidate(id)
		}
	}
	if s.plan != nil {
		s.plan.over = true
		s.list.Invalidate(s.steps)
		s.plan = nil
	}
	clear(s.shown)
	clear(s.runs)
}

// tick moves the clocks of what runs.
func (s *story) tick() {
	if s.plan != nil && s.plan.runs() {
		s.list.Invalidate(s.steps)
	}
	for it, id := range s.runs {
		if s.list.Invalidate(id); !it.Open {
			delete(s.runs, it)
		}
	}
}

// source is how an item is shown, or nil when it shows elsewhere.
func (s *story) source(it *protocol.Item, e *protocol.Event) (src transcript.Item, folded bool) {
	switch it.Kind {
	case protocol.ItemText:
		head := ""
		if voice := cmp.Or(it.Agent, s.task(it.Task), "agent"); voice != s.voice || it.Task != "" {
			s.voice = voice
			head = s.head(voice, e)
		}
		return &said{anchor: s.at(0, it), look: s.look, item: it, head: head}, it.Task != ""
	case protocol.ItemReasoning:
		return &thought{anchor: s.at(0, it), look: s.look, item: it, task: s.task(it.Task)}, true
	case protocol.ItemTool:
		return &toolCall{anchor: s.at(aTool, it), look: s.look, item: it, task: s.task(it.Task)}, true
	case protocol.ItemApproval:
		return &decision{anchor: s.at(anApproval, it), look: s.look, item: it}, false
	}
	if n := eventNote(s.look, it.Type, it.Data); n != nil {
		if it.Type == protocol.ErrorRaised {
			n.anchor = s.errorAt(nameOfSeq(it.Seq))
		}
		s.beside(n)
		return n, false
	}
	return nil, false
}

// beside leaves no blank line between a note and the one it comes after.
func (s *story) beside(n *note) {
	if s.list.Len() > 0 {
		last, ok := s.list.Item(s.list.Last()).(*note)
		n.space = !ok || !last.event
	}
}

// task is what a task of a plan is called.
func (s *story) task(id string) string {
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
func (s *story) at(kind transcript.AnchorKind, it *protocol.Item) anchor {
	return anchor{kind, nameOfItem(s.words.Current().Turn, protocol.HitKind(it.Kind), it.ID)}
}

// errorAt does it for an error of that turn.
func (s *story) errorAt(id string) anchor {
	return anchor{anError, nameOfItem(s.words.Current().Turn, protocol.HitError, id)}
}

// mark puts a line of ours between what is said.
func (s *story) mark(text string) {
	s.list.Append(&note{styles: s.look, level: LevelWarning, text: "── " + text, space: true}, false)
}

// forget drops the oldest turns once there are too many items, and not while
// somebody reads above. They can be paged in again.
func (s *story) forget() {
	if s.list.Len() < itemsMax || !s.list.Following() || s.pinned {
		return
	}
	cut := slices.IndexFunc(s.turns, func(t start) bool { return s.list.Last()-t.id < itemsKept })
	if cut <= 0 {
		return
	}
	s.turns = slices.Clone(s.turns[cut:])
	from := s.turns[0].id
	s.list.DropBefore(from)
	for i := range s.turns {
		s.turns[i].id -= from
	}
	s.before = s.turns[0].first
}

func (s *story) head(name string, e *protocol.Event) string {
	return name + " · " + s.look.Clock(e.Time)
}

// empty tells that nothing was ever said.
func (s *story) empty() bool { return s.list.Len() == 0 && s.before == 0 && !s.loading }

// page asks for so many turns before the first one shown, once at a time; ok is
// false when there is nothing to ask.
func (s *story) page(turns int) (protocol.HistoryData, bool) {
	if s.before == 0 || s.loading {
		return protocol.HistoryData{}, false
	}
	s.loading = true
	return protocol.HistoryData{Before: s.before, Limit: turns}, true
}

// older shows a page of history before the first item.
func (s *story) older(page *protocol.HistoryResult) error {
	s.loading = false
	s.before = 0
	if page.More && page.First > 0 {
		s.before = page.First
	}
	past := newStory(s.look)
	var sources []transcript.Item
	var folds []bool
	collect := func(src transcript.Item, folded bool) transcript.ID {
		sources, folds = append(sources, src), append(folds, folded)
		return past.list.Append(src, folded)
	}
	for _, raw := range page.Events {
		var e protocol.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		if e.Turn != "" && e.Type != protocol.MessageUser && past.words.Current() == nil { // the end of a long turn
			past.words.Turns = []*protocol.Turn{{Turn: e.Turn, First: e.First(), Started: e.Time}}
		}
		items, err := past.words.Apply(&e)
		if err != nil {
			return err
		}
		past.show(&e, items, collect)
	}
	for _, id := range past.runs { // where the page was cut; the rest of it is there already
		past.list.Item(id).(*toolCall).cutOff("goes on below")
	}
	for i := len(sources) - 1; i >= 0; i-- {
		s.list.Prepend(sources[i], folds[i])
	}
	return nil
}
