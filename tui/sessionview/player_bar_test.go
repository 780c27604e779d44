package sessionview

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// fakePlayer is a recording that records the keys' effects and fails the test on a command.
type fakePlayer struct {
	*tuitest.FakeSession
	t       *testing.T
	at      remote.Playback
	now     time.Time
	effects []string
}

func (p *fakePlayer) Playback() remote.Playback { return p.at }
func (p *fakePlayer) Now() time.Time            { return p.now }
func (p *fakePlayer) TogglePause()              { p.effects = append(p.effects, "pause") }
func (p *fakePlayer) SeekStart()                { p.effects = append(p.effects, "start") }
func (p *fakePlayer) SeekEnd()                  { p.effects = append(p.effects, "end") }

func (p *fakePlayer) ChangeSpeed(steps int) {
	p.effects = append(p.effects, map[int]string{1: "faster", -1: "slower"}[steps])
}

func (p *fakePlayer) SeekTurn(by int) {
	p.effects = append(p.effects, map[int]string{1: "next", -1: "previous"}[by])
}

func (p *fakePlayer) Do(_ context.Context, verb protocol.Verb, _, _ any) error {
	if verb != protocol.DoSearch && verb != protocol.DoHistory {
		p.t.Errorf("a replay sends %s", verb)
	}
	return tuitest.ErrCannotSearch
}

// openReplay returns a screen that plays the pending events of a journal.
func openReplay(t *testing.T, j *tuitest.Journal, width, height int) (*testScreen, *fakePlayer) {
	t.Helper()
	player := &fakePlayer{
		FakeSession: tuitest.NewFakeSession(), t: t, now: j.At.Add(5 * time.Second),
		at: remote.Playback{Turn: 2, Turns: 12, At: 42 * time.Second, Length: 310 * time.Second, Speed: 2},
	}
	s := &testScreen{t: t, session: player.FakeSession, journal: j, now: tuitest.Start.Add(1000 * time.Hour)}
	tasks := task.NewRunner(t.Context())
	t.Cleanup(tasks.Close)
	styles := ui.NewStyles(time.UTC, "")
	styles.Now = player.Now
	s.m = &viewRig{rigView: New(Config{
		Session: player, Tasks: tasks, Styles: styles, Now: func() time.Time { return s.now }, Exec: tea.Exec,
		Editor: "vi", NewID: func() string { return "" },
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd {
			s.timers = append(s.timers, msg)
			return nil
		},
	})}
	s.update(tea.WindowSizeMsg{Width: width, Height: height})
	j.CaughtUp()
	s.applyJournal()
	return s, player
}

// replayScreens are the golden screens of a recording.
var replayScreens = []struct {
	name          string
	width, height int
	change        func(*remote.Playback)
}{
	{"replay_40x16", 40, 16, func(p *remote.Playback) { p.Speed = 0.25 }},
	{"replay_80x24", 80, 24, func(*remote.Playback) {}},
	{"replay_paused_120x30", 120, 30, func(p *remote.Playback) { p.Paused, p.Speed = true, 0 }},
	{"replay_end_80x24", 80, 24, func(p *remote.Playback) { p.Ended, p.Turn, p.At = true, 12, p.Length }},
}

func TestGoldenReplay(t *testing.T) {
	for _, c := range replayScreens {
		t.Run(c.name, func(t *testing.T) {
			s, player := openReplay(t, tuitest.Conversation(), c.width, c.height)
			c.change(&player.at)
			s.update(tea.WindowSizeMsg{Width: c.width, Height: c.height})
			tuitest.Golden(t, s.text())
		})
	}
}

func TestPlayerKeys(t *testing.T) {
	s, player := openReplay(t, tuitest.Conversation(), 80, 24)
	s.press("space", "+", "-", "[", "]", "left", "right", "home", "end")
	want := "pause faster slower previous next previous next start end"
	if got := strings.Join(player.effects, " "); got != want {
		t.Errorf("the keys did %q, want %q", got, want)
	}
	s.press("tab", "J", "space") // copy mode of the transcript
	s.press("esc", "esc", "space")
	if got := strings.Join(player.effects, " "); got != want+" pause" {
		t.Errorf("with the focus on the transcript the keys did %q", got)
	}
}

func TestReplaySendsNothing(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Bob, "m3", "and then?")
	j.RequestApproval(tuitest.CommandApproval())
	s, _ := openReplay(t, j, 80, 24)
	s.mustShow("waiting for a decision", "waiting for 1 approval")
	s.mustHide("Allow once")
	for range focusCount {
		s.press("y", "enter", "1", "alt+1", "a", "n", "d", "x", "s", "ctrl+x", "ctrl+x", "ctrl+r")
		s.press("f3", "f4", "f5", "f6", "f7", "ctrl+p", "ctrl+g", "esc", "tab")
		s.typeText("hello")
		s.update(tea.PasteMsg{Content: "hello"})
		s.press("enter", "ctrl+j")
	}
	if unsent := s.m.input.Composer().Text() + s.m.input.Composer().Unsent(); unsent != "" {
		t.Errorf("a replay has unsent texts: %q", unsent)
	}
}

func TestReplayShowsTheRecordedDuration(t *testing.T) {
	s, player := openReplay(t, tuitest.Conversation(), 80, 24)
	s.mustShow("replay running 9s", "playing · turn 2 of 12 · 00:42 / 05:10 · 2×")
	player.now = player.now.Add(time.Minute)
	s.tick()
	s.mustShow("replay running 1m09s")
}

func TestReplayDrawsTheTimeOnlyWhilePlaying(t *testing.T) {
	s, player := openReplay(t, tuitest.Conversation(), 80, 24)
	ticks := func() (n int) {
		for _, msg := range s.timers {
			if _, ok := msg.(ui.TimerMsg); ok {
				n++
			}
		}
		return n
	}
	if ticks() != 1 {
		t.Error("the clock of a replay does not run")
	}
	player.at.Paused = true
	s.tick()
	if ticks() != 0 {
		t.Error("the clock of a paused replay runs")
	}
}

func TestReplayFindsText(t *testing.T) {
	s, _ := openReplay(t, tuitest.Conversation(), 80, 24)
	s.press("/")
	s.typeText("flaky")
	s.press("enter")
	s.mustShow("A flaky test")
	s.press("esc")
	s.mustShow("playing · turn 2")
}
