package notify

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// A request of a sub-agent is in its session and in its root's, as a summary or as a state.
func TestARequestOfASubAgentIsNotifiedOfOnce(t *testing.T) {
	now := time.Now()
	summaries := func(status protocol.Status, turn string) []*protocol.Summary {
		root := protocol.Summary{Session: "s_1", Status: status, Asked: &now, Approvals: 1}
		sub := root
		sub.Session, sub.Turn, sub.Attributes = "s_2", turn, protocol.Attributes{Parent: "s_1", SubAgent: true}
		return []*protocol.Summary{&root, &sub}
	}
	states := func() (root, sub *protocol.State) {
		request := []protocol.Approval{{Request: "r"}}
		request[0].SubAgent = &protocol.SubAgent{Session: "s_2"}
		root, sub = &protocol.State{Session: "s_1"}, &protocol.State{Session: "s_2"}
		sub.Parent, sub.SubAgent = "s_1", true
		root.Approvals, sub.Approvals = request, request
		return root, sub
	}
	for name, follow := range map[string]func(n *Notifier) []tea.Cmd{
		"summaries": func(n *Notifier) (list []tea.Cmd) {
			for _, s := range summaries(protocol.Waiting, "t") {
				list = append(list, n.FollowSummary(s, ""))
			}
			for _, s := range summaries(protocol.Idle, "") {
				list = append(list, n.FollowSummary(s, ""))
			}
			return list
		},
		"both on the screen": func(n *Notifier) []tea.Cmd {
			root, sub := states()
			return []tea.Cmd{n.Follow(sub), n.Follow(root)}
		},
		"the sub-agent on the screen": func(n *Notifier) []tea.Cmd {
			_, sub := states()
			return []tea.Cmd{n.Follow(sub), n.FollowSummary(summaries(protocol.Waiting, "t")[0], "")}
		},
		"the sub-agent alone": func(n *Notifier) []tea.Cmd {
			_, sub := states()
			delete(n.seen, "s_1")
			ended := *sub
			ended.Approvals, ended.Last = nil, &protocol.LastTurn{Turn: "t"}
			return []tea.Cmd{n.Follow(sub), n.Follow(&ended)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := NewNotifier(Notifications{}, false)
			n.Update(tea.BlurMsg{})
			for _, s := range summaries(protocol.Running, "") {
				n.FollowSummary(s, "")
			}
			notified := 0
			for _, cmd := range follow(n) {
				if cmd != nil {
					notified++
				}
			}
			if notified != 1 {
				t.Errorf("notified %d times", notified)
			}
		})
	}
}

func TestATurnThatWasNeverSeenRunningIsReported(t *testing.T) {
	n := NewNotifier(Notifications{}, false)
	n.Update(tea.BlurMsg{})
	s := &protocol.State{Session: "s", Turns: 1}
	for range 2 {
		if n.Follow(s) != nil {
			t.Error("a turn that had ended is reported")
		}
	}
	s.Turns, s.Last = 2, &protocol.LastTurn{Turn: "t2", Reason: protocol.ReasonCompleted}
	if n.Follow(s) == nil || n.Follow(s) != nil {
		t.Error("the next one is not reported once")
	}
}
