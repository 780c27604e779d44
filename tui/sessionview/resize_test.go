package sessionview

import (
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

func TestManyResizes(t *testing.T) {
	for _, name := range []string{"transcript", "approval", "plan"} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			s := open(t, tuitest.Scenes[name](), 80, 24)
			texts := thorough.Rounds(3, 10)
			for i := range texts * 100 {
				s.update(tea.WindowSizeMsg{Width: 1 + random.IntN(200), Height: 1 + random.IntN(60)})
				if i%100 == 0 {
					s.journal.Text("t", "words while it is resized ")
					s.applyJournal()
				}
			}
			s.update(tea.WindowSizeMsg{Width: 100, Height: 30})
			after := s.text()
			s.m.Update(ui.RestyleMsg{}) // repeats the layout
			s.update(tea.WindowSizeMsg{Width: 100, Height: 30})
			if fresh := s.text(); after != fresh {
				t.Errorf("got after many resizes\n%s\nwant, after a new layout\n%s", after, fresh)
			}
			quiet := open(t, tuitest.Scenes[name](), 100, 30)
			for range texts {
				quiet.journal.Text("t", "words while it is resized ")
				quiet.applyJournal()
			}
			if never := quiet.text(); after != never {
				t.Errorf("got after many resizes\n%s\nwant, without them\n%s", after, never)
			}
		})
	}
}
