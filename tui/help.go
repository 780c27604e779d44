package tui

import (
	"strings"

	"agentctl/tui/transcript"
)

// keys lists every key by where it works. The help screen tells all of it.
var keys = []struct {
	where string
	keys  [][2]string
}{
	{"Everywhere", [][2]string{
		{"F1, ? in an empty composer", "this help"},
		{"ctrl+c twice", "leave; the session goes on"},
		{"ctrl+x", "interrupt the turn"},
		{"F2, ctrl+s", "to the other sessions, where there are"},
		{"F3", "the agent's settings: its mode, its model"},
		{"F4", "what is allowed without asking; x revokes"},
		{"tab, shift+tab", "to approval, queue, plan, transcript, composer"},
		{"pgup, pgdn", "scroll the transcript"},
		{"ctrl+home, ctrl+end", "to its beginning, its end"},
		{"ctrl+o", "unfold or fold the last tool or thought"},
		{"ctrl+f", "find words in the transcript"},
		{"ctrl+r", "take back a message that was not sent"},
		{"ctrl+l, ctrl+z", "draw anew, suspend"},
	}},
	{"Composer", [][2]string{
		{"enter", "send; queued while a turn runs"},
		{"alt+enter, ctrl+j", "new line"},
		{"/ first", "the agent's commands: tab completes"},
		{"up, down when empty", "scroll"},
		{"esc", "interrupt the turn, or give up an edit"},
		{"1 … 9 when empty", "decide the approval on the screen"},
	}},
	{"Approval (tab)", [][2]string{
		{"up, down, enter", "choose and decide, answer a question"},
		{"1 … 9", "decide"},
		{"r", "write a reason that goes with the decision"},
		{"v", "view all of it"},
		{"left, right", "another request"},
	}},
	{"Queue (tab)", [][2]string{
		{"e", "edit; the message waits meanwhile"},
		{"x", "remove"},
		{"K, J", "move up, down"},
		{"h, r", "hold, release the queue"},
	}},
	{"Plan (tab)", [][2]string{
		{"up, down", "choose a task"},
		{"c, r", "cancel it, restart it"},
	}},
	{"Transcript (tab)", [][2]string{
		{"up, down, home, end", "select"},
		{"enter", "unfold or fold"},
		{"v", "view a tool call on a screen of its own"},
		{"/, n, N", "find words; the next older, newer place"},
		{"y", "copy (where the terminal allows it)"},
	}},
}

// help is the keys as an item of a pager.
type help struct{ look *look }

func (h help) Estimate(int, bool) int { return 40 }

func (h help) Block(width int, _ bool) transcript.Block {
	const column = 30 // of what a key does, where it fits beside the key
	var b transcript.Block
	for _, section := range keys {
		b.Body = append(b.Body, "", " "+h.look.user.Render(section.where))
		for _, k := range section.keys {
			key := "  " + h.look.key.Render(k[0])
			if width < 2*column {
				b.Body = append(b.Body, key)
				for _, line := range wrap(k[1], width-6) {
					b.Body = append(b.Body, "      "+line)
				}
				continue
			}
			gap := strings.Repeat(" ", max(1, column-2-len([]rune(k[0]))))
			b.Body = append(b.Body, key+gap+k[1])
		}
	}
	b.Body = b.Body[1:]
	return b
}
