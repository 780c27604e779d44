package dashboard

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// startAgents are the agents of a machine, of which one is ready.
func startAgents() []Agent {
	return []Agent{
		{Name: "gemini", Ready: true, About: "by GEMINI_API_KEY"},
		{Name: "claude", About: "agentctl agents login claude"},
		{Name: "codex", About: "npm install -g @agentclientprotocol/codex-acp"},
	}
}

// newStart returns a dashboard without sessions on a machine with the agents.
func newStart(t *testing.T, width int, agents func() []Agent, change func(*Config)) *testDashboard {
	t.Helper()
	return newTestDashboardWith(t, func(c *Config) {
		c.Start = Start{Agents: agents, Tour: "tour-program"}
		change(c)
	}, width, 24)
}

func TestFirstStartBeginsWithOneEnter(t *testing.T) {
	d := newStart(t, 80, startAgents, func(*Config) {})
	var created protocol.CreateData
	fail := errors.New("it does not start")
	d.server.OnCreate = func(c protocol.CreateData) (protocol.CreateResult, error) {
		created = c
		return protocol.CreateResult{Session: "new"}, fail
	}
	d.press("+", "+", "tab", "tab", "tab")
	d.typeText("a prompt")
	d.press("esc", "+")
	d.want("ready on this machine", " ▸ gemini       by GEMINI_API_KEY", "   tour         a guided tour", "to set up",
		"   claude       agentctl agents login claude", "npm install -g @agentclientprotocol/codex-acp",
		"enter begin · + name, directory, sandbox", "esc back")
	d.press("enter")
	if d.want("it does not start", "agent     gemini"); created.Agent != "gemini" || created.CWD != "/home/ada" {
		t.Errorf("created %+v", created)
	}
	fail = nil
	d.press("enter")
	if d.opened() != "new" {
		t.Error("the session is not on the screen")
	}
	d.press("+", "+")
	d.want("a prompt") // its form was not shown
}

func TestFirstStartOffersTheFormTheTourAndInstallLines(t *testing.T) {
	var ran []string
	d := newStart(t, 80, startAgents, func(c *Config) {
		c.Exec = func(cmd tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
			ran = append(ran, cmd.(*ui.Editor).Command)
			return func() tea.Msg { return done(nil) }
		}
	})
	d.press("+", "+")
	d.want("new session", "prompt")
	d.press("esc", "+", "down", "enter")
	if len(ran) != 1 || ran[0] != "tour-program" {
		t.Errorf("ran %q, want the tour", ran)
	}
	d.press("down", "enter")
	d.want("copied: agentctl agents login claude")
	d.press("down")
	d.wantNo("copied")
	d.press("esc")
	d.want("There is no session yet")
	d.put(tuitest.Summaries()...)
	d.press("+")
	d.want("new session")
}

// TestFirstStartWithoutAnAgentSelectsTheTour: no Enter fails for lack of an agent.
func TestFirstStartWithoutAnAgentSelectsTheTour(t *testing.T) {
	d := newStart(t, 80, func() []Agent { return startAgents()[1:] }, func(*Config) {})
	d.press("+")
	d.want("no agent is ready on this machine", " ▸ tour")
}

// TestCommandsOfTheFirstStartAreWhole at all widths that have room for the longest.
func TestCommandsOfTheFirstStartAreWhole(t *testing.T) {
	rows := startRows(startAgents())
	for width := 50; width <= 200; width++ {
		var lines []string
		for i := range rows {
			lines = append(lines, rows[i].draw(ui.NewStyles(nil, ""), i == 0, width)...)
		}
		text := ansi.Strip(strings.Join(lines, "\n"))
		for _, a := range startAgents() {
			if !strings.Contains(text, a.About) {
				t.Fatalf("%d columns: %q is cut:\n%s", width, a.About, text)
			}
		}
	}
}

// TestRecipesOfARefusalAreOnTheirOwnLines: the form keeps the lines of an advice.
func TestRecipesOfARefusalAreOnTheirOwnLines(t *testing.T) {
	d := newTestDashboard(t, 80, 24)
	d.server.OnCreate = func(protocol.CreateData) (protocol.CreateResult, error) {
		return protocol.CreateResult{}, &remote.AdvisedError{
			Err: errors.New("no agent"), Advice: "npm install -g @agentclientprotocol/claude-agent-acp\n  agentctl tour",
		}
	}
	d.press("+", "enter")
	d.want("   npm install -g @agentclientprotocol/claude-agent-acp\n   agentctl tour\n")
}
