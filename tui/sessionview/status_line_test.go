package sessionview

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

const agentMode = "https://agent.example.org/modes#agent"

var statusScenes = []goldenScene{{
	name: "status_details", open: fromJournal(changedSettings, atHome("/home/ada")), heights: screenHeights,
	shows:  []string{"I look at the imports", ">"},
	wide:   []string{wideStatus + "~/src/store · Autopilot · effort 9 · F1 help"},
	status: []string{"◐ running", "F1 help"},
}}

func TestGoldenStatusLine(t *testing.T) { testGoldenScenes(t, statusScenes) }

// changedSettings returns the conversation of a session in a directory below /home/ada, with
// settings of which the model has its default.
func changedSettings() *tuitest.Journal {
	j := tuitest.Conversation()
	setDirectory(j, "/home/ada/src/store")
	modes := []protocol.Choice{{ID: "ask", Label: "Ask"}, {ID: agentMode, Label: "Autopilot"}}
	j.Add(protocol.AgentOptions, protocol.Options{Settings: []protocol.Setting{
		{ID: "mode", Value: agentMode, Default: "ask", Choices: modes},
		{ID: "model", Value: "small", Default: "small", Choices: []protocol.Choice{{ID: "small", Label: "Small 3"}}},
		{ID: "effort", Value: "9", Default: "7"},
	}})
	j.CaughtUp()
	return j
}

// setDirectory sets the directory of a new session.
func setDirectory(j *tuitest.Journal, cwd string) {
	created := protocol.SessionCreatedData{Name: "fix-tests", Agent: "gemini", CWD: cwd}
	j.Pending[2].Event.Data = protocol.MustEncode(created)
}

// atHome makes the sessions local, for a user with a home directory.
func atHome(home string) func(*testScreen) {
	return func(s *testScreen) {
		s.m.statusLine.Local, s.m.statusLine.Home = true, home
		s.m.canvas.Dirty = true
	}
}

// statusOf returns the status line.
func statusOf(s *testScreen) string {
	lines := strings.Split(strings.TrimRight(s.text(), "\n"), "\n")
	return lines[len(lines)-1]
}

func TestStatusLineDropsDetailsFromTheEnd(t *testing.T) {
	details := []string{"fix-tests", "gemini", "38%", "2 clients", "~/src/store", "Autopilot", "effort 9"}
	missing := len(details) + 1
	for width := 40; width <= 200; width++ {
		status := statusOf(fromJournal(changedSettings, atHome("/home/ada"))(t, width, 20))
		shown := 0
		for shown < len(details) && strings.Contains(status, details[shown]) {
			shown++
		}
		for _, detail := range details[shown:] {
			if strings.Contains(status, detail) {
				t.Errorf("width %d: got %q with %s and without %s", width, status, detail, details[shown])
			}
		}
		missing = min(missing, len(details)-shown)
	}
	if missing != 0 {
		t.Errorf("%d details are missing at every width", missing)
	}
}

func TestSettingWithItsFirstValueIsNotShown(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 200, 24)
	choices := []protocol.Choice{{ID: "ask", Label: "Ask"}, {ID: "edit", Label: "Edit"}}
	for _, c := range []struct{ value, shown, hidden string }{
		{"ask", "2 clients · F1", "Ask"},
		{"edit", "2 clients · Edit · F1", "edit"},
		{"unlisted\x1b[2J", "2 clients · Mode unlisted · F1", "\x1b[2J"},
		{"ask", "2 clients · F1", "Edit"},
	} {
		s.journal.Add(protocol.AgentOptions, protocol.Options{
			Settings: []protocol.Setting{{ID: "mode", Name: "Mode", Value: c.value, Choices: choices}},
		})
		s.applyJournal()
		if status := statusOf(s); !strings.Contains(status, c.shown) || strings.Contains(status, c.hidden) {
			t.Errorf("%q: got %q, want %q and not %q", c.value, status, c.shown, c.hidden)
		}
	}
}

// The glyph, the word and the colour of the state agree.
func TestStateOfTheTurnHasOneColour(t *testing.T) {
	ended := func(reason protocol.Reason) *tuitest.Journal {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "go")
		j.EndTurn(reason)
		j.CaughtUp()
		return j
	}
	running := tuitest.NewJournal()
	running.UserMessage(tuitest.Ada, "m1", "go")
	running.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "go test ./..."}, "")
	running.CaughtUp()
	for _, c := range []struct {
		journal *tuitest.Journal
		want    string
		style   func(*ui.Styles) ui.Style
	}{
		{ended(protocol.ReasonCompleted), "● idle", func(s *ui.Styles) ui.Style { return s.Success }},
		{
			ended(protocol.ReasonError),
			"✗ idle · last turn failed", func(s *ui.Styles) ui.Style { return s.Error },
		},
		{
			ended(protocol.ReasonInterrupted), "● idle · last turn interrupted",
			func(s *ui.Styles) ui.Style { return s.Warning },
		},
		{running, "◐ running shell go test ./... 33s", func(s *ui.Styles) ui.Style { return s.Accent }},
		{
			tuitest.Scenes["approval"](), "◌ waiting for 2 approvals",
			func(s *ui.Styles) ui.Style { return s.Warning },
		},
	} {
		s := openWithTheme(t, ui.ThemeDark, c.journal, 100, 24)
		s.now = tuitest.Start.Add(37 * time.Second)
		s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		lines := strings.Split(s.m.View().Content, "\n")
		if want := c.style(s.m.Styles).Render(c.want); !strings.Contains(lines[len(lines)-1], want) {
			t.Errorf("got status line %q, want %q in it", lines[len(lines)-1], want)
		}
	}
}

// A silent agent is named after 40 seconds, a silent tool only when it was not from its start.
func TestTheStatusLineShowsSilence(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Go.")
	j.CaughtUp()
	s := open(t, j, 100, 24)
	s.now = j.At
	wait := func(d time.Duration) {
		s.now = s.now.Add(d)
		s.tick()
		s.update(struct{}{})
	}
	wait(39 * time.Second)
	s.mustHide("silent")
	wait(time.Second)
	s.mustShow("◐ running 41s · silent 40s")
	s.journal.At = s.now
	s.journal.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "make"}, "")
	s.applyJournal()
	wait(time.Minute)
	s.mustShow("running shell make 59s · ctrl+x")
	s.journal.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "x\n"})
	s.applyJournal()
	wait(time.Minute)
	s.mustShow("running shell make 1m59s · silent 1m00s")
}
