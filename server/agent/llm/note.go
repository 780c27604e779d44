package llm

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"

	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
	"agentctl/server/policy"
)

// A Note is a text for the model about the session, such as a file with instructions. It is told in a message,
// and again when it has changed or a summary has replaced it.
type Note struct {
	Of   string // what it is about: unique, for people
	Text string
	Once bool // it is not told again when it has changed
}

// The notes of the agent.
const (
	modeNote     = "policy"
	planText     = "The policy is plan now. " + planInstructions
	planOverText = "The policy is no longer plan: you may change files, as far as users allow it."
	goneText     = " does not exist any more: what it said does not apply."
)

// Bounds of the notes about the directory, in bytes.
const (
	maxNotes  = 32 << 10
	noteShare = 8 // of the context for all of them is one part of so many
)

// noteRoom returns the bytes of the notes that a model with a context gets.
func noteRoom(b *model.Backend) int {
	if b.Window == 0 {
		return maxNotes
	}
	return int(min(maxNotes, b.Window*bytesPerToken/noteShare))
}

// brief adds the notes that the conversation lacks to its last message, before the text of the user.
func (t *turnRun) brief() error {
	a := t.agent
	var notes []Note
	if t.toolbox != nil {
		notes = t.toolbox.Notes(noteRoom(t.backend))
	}
	plan := a.parent == nil && a.policy() == policy.Plan
	a.mu.Lock()
	parts := missingNotes(a.state.Conversation, notes, plan)
	a.mu.Unlock()
	if len(parts) == 0 {
		return nil
	}
	inside := a.compactMu.TryLock() // a compaction takes the parts before for the old ones
	if inside {
		defer a.compactMu.Unlock()
	}
	return a.update(t.out, func(s *state) {
		if inside {
			s.insert(parts)
		} else {
			s.add(model.Message{Role: model.User, Parts: parts})
		}
	})
}

// insert adds parts to the last message of the user, before the last text of the last turn in it.
func (s *state) insert(parts []model.Part) {
	n := len(s.Conversation)
	if n == 0 || s.Conversation[n-1].Role != model.User {
		s.add(model.Message{Role: model.User, Parts: parts})
		return
	}
	last := &s.Conversation[n-1]
	at, first := len(last.Parts), 0
	if k := len(s.Turns); k > 0 && s.Turns[k-1].At == n-1 {
		first = s.Turns[k-1].Part // those before belong to an earlier turn, which stays when this one is undone
	}
	for i := first; i < len(last.Parts); i++ {
		if last.Parts[i].Asked || i == len(last.Parts)-1 && last.Parts[i].Type == model.Text {
			at = i
		}
	}
	last.Parts = slices.Insert(slices.Clone(last.Parts), at, parts...)
}

// missingNotes returns the notes that a conversation lacks, or has with another text.
func missingNotes(messages []model.Message, notes []Note, plan bool) (parts []model.Part) {
	told := toldNotes(messages)
	for _, n := range notes {
		state := hashOf(n.Text)
		if had, ok := told[n.Of]; !ok || had != state && !n.Once {
			parts = append(parts, notePart(n.Of, state, n.Text))
		}
		delete(told, n.Of)
	}
	mode, text := "", planOverText
	if plan {
		mode, text = string(policy.Plan), planText
	}
	if told[modeNote] != mode {
		parts = append(parts, notePart(modeNote, mode, text))
	}
	delete(told, modeNote)
	for _, of := range slices.Sorted(maps.Keys(told)) {
		if told[of] != "" {
			parts = append(parts, notePart(of, "", of+goneText))
		}
	}
	return parts
}

func notePart(of, state, text string) model.Part {
	text = fmt.Sprintf("<note about=%q>\n%s\n</note>", of, text)
	return model.Part{Type: model.Text, Text: text, Note: &model.Note{Of: of, State: state}}
}

// toldNotes returns the states of the notes of a conversation.
func toldNotes(messages []model.Message) map[string]string {
	told := map[string]string{}
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Note != nil {
				told[p.Note.Of] = p.Note.State
			}
		}
	}
	return told
}

// noteSizes returns the bytes of the notes of a conversation by what they are about, in their order.
func noteSizes(messages []model.Message) (names []string, sizes map[string]int64) {
	sizes = map[string]int64{}
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Note == nil {
				continue
			}
			if !slices.Contains(names, p.Note.Of) {
				names = append(names, p.Note.Of)
			}
			sizes[p.Note.Of] += compaction.PartSize(model.User, &p)
		}
	}
	return names, sizes
}

// hashOf identifies a text in the stored state.
func hashOf(text string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // a hash has no errors
	return strconv.FormatUint(h.Sum64(), 36)
}
