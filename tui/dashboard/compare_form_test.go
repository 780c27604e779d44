package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// compareRig is a dashboard whose form for several agents is open, and the requests that it makes.
type compareRig struct {
	*testDashboard
	mu      sync.Mutex
	created []protocol.CreateData
	refuse  string // agent that cannot be created
}

func openCompare(t *testing.T, change func(*Config)) *compareRig {
	t.Helper()
	ids := 0
	r := &compareRig{testDashboard: newTestDashboardWith(t, func(c *Config) {
		c.NewID = func() string { ids++; return fmt.Sprint("m", ids) }
		change(c)
	}, 100, 30, tuitest.Summaries()...)}
	r.server.OnCreate = func(c protocol.CreateData) (protocol.CreateResult, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.Agent == r.refuse {
			return protocol.CreateResult{}, &protocol.Error{Code: protocol.CodeAgentFailed, Message: "not installed"}
		}
		r.created = append(r.created, c)
		return protocol.CreateResult{Session: "new-" + c.Agent}, nil
	}
	r.d.Act(keymap.CompareAgents)
	return r
}

// agents returns the agents and directories of the requests, sorted.
func (r *compareRig) agents() (out []string) {
	for i := range r.created {
		out = append(out, r.created[i].Agent+" "+r.created[i].CWD)
	}
	slices.Sort(out)
	return out
}

// asked returns the last intent for the program.
func (r *compareRig) asked() ui.Intent { return r.intents[len(r.intents)-1] }

// Two keys after the command: the text of the task, and enter.
func TestOneTaskGoesToTwoAgents(t *testing.T) {
	r := openCompare(t, func(*Config) {})
	r.want("the same task to several agents", "claude gemini", "/home/ada")
	r.wantNo("worktrees")
	r.typeText("Fix the race")
	r.press("enter")
	want := []string{"claude /home/ada", "gemini /home/ada"}
	if got := r.agents(); !slices.Equal(got, want) || r.created[0].Prompt != "Fix the race" ||
		r.created[0].Title != r.created[0].Agent+": Fix the race" {
		t.Fatalf("created %+v", r.created)
	}
	if r.created[0].ClientMessageID == r.created[1].ClientMessageID {
		t.Error("both messages have one id")
	}
	if got := fmt.Sprint(r.asked()); got != "{[new-claude new-gemini] }" {
		t.Errorf("got intent %s", got)
	}
}

func TestEachAgentGetsAWorktreeIfAsked(t *testing.T) {
	var undone []string
	r := openCompare(t, func(c *Config) {
		c.Worktree = func(_ context.Context, dir, agent string) (Worktree, error) {
			return Worktree{Dir: dir + "-" + agent, Labels: map[string]string{"worktree": agent}, Undo: func() error {
				undone = append(undone, agent)
				return nil
			}}, nil
		}
	})
	r.refuse = "gemini"
	r.typeText("Fix it")
	r.press("tab", "tab", "tab", "right", "enter")
	if got := r.agents(); !slices.Equal(got, []string{"claude /home/ada-claude"}) || r.created[0].Labels["worktree"] != "claude" {
		t.Fatalf("created %+v", r.created)
	}
	if got := fmt.Sprint(r.asked()); got != "{[new-claude] gemini: not installed}" || !slices.Equal(undone, []string{"gemini"}) {
		t.Errorf("got intent %s, removed worktrees %q", got, undone)
	}
}

func TestAComparisonThatCannotBeginSaysWhy(t *testing.T) {
	r := openCompare(t, func(c *Config) {
		c.Worktree = func(context.Context, string, string) (Worktree, error) {
			return Worktree{}, errors.New("no repository")
		}
	})
	r.press("enter")
	r.want("the task is empty")
	r.typeText("x")
	r.press("tab", "ctrl+u")
	r.typeText("claude")
	r.press("enter")
	r.want("name two to 4 agents")
	r.typeText(", claude")
	r.press("tab", "tab", "right", "enter")
	r.want("no repository")
	if len(r.created) != 0 {
		t.Errorf("created %+v", r.created)
	}
}
