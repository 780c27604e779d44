package decision

import (
	"cmp"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// open returns a rig with the panel of a session with a pending request, and the panel. The request
// accepts a decision.
func open(t *testing.T) (*paneltest.Rig, *Panel) {
	t.Helper()
	return openJournal(t, tuitest.Scenes["approval"]())
}

// openJournal is open with the events of a journal.
func openJournal(t *testing.T, j *tuitest.Journal) (*paneltest.Rig, *Panel) {
	t.Helper()
	r := paneltest.New(t, j)
	p := New(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}, &ui.Stack{}, nil)
	r.Apply = p.Apply
	r.Lines = func() []string {
		lines, _ := p.Lines(100, 30)
		return lines
	}
	r.Key = func(key string) tea.Cmd {
		p.Touch()
		p.Press(tuitest.KeyPress(key))
		r.Time = r.Time.Add(approval.Grace / 4)
		cmd, _ := p.Due()
		return cmd
	}
	r.ApplyJournal()
	p.Refresh(true)
	p.SetFocus(true)
	r.Lines()
	r.Time = r.Time.Add(2 * approval.Grace)
	if _, armed := p.Due(); !armed || !p.Deadline().IsZero() {
		t.Fatalf("the request accepts no decision at its deadline, the next one is %v", p.Deadline())
	}
	return r, p
}

func TestApprovalDecidedByOther(t *testing.T) {
	denied := protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny}
	r, _ := open(t)
	r.Journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, denied)
	r.ApplyJournal()
	r.MustReport("✗ denied · decided by bob")
	r, _ = open(t) // no status for the user's own decision
	_ = r.Start("n")
	r.Journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	r.ApplyJournal()
	r.MustReport("")
	r, _ = open(t) // the user's own decision from another client
	r.Journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	r.ApplyJournal()
	r.MustReport("✗ denied · decided by ada")
}

// The user's own decision has no status, whether its event or the answer to the command is first. One
// that another client of the user makes after an explanation has.
func TestOwnDecisionIsNotReported(t *testing.T) {
	denied := protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny}
	r, p := open(t)
	r.Press("n") // the answer is first
	r.MustSend(protocol.DoApprove)
	r.Journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	r.ApplyJournal()
	p.Refresh(true)
	r.MustReport("")
	r, p = open(t)
	answer := r.Start("n")
	r.Journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	r.ApplyJournal()
	p.Refresh(true)
	r.Run(answer)
	r.MustReport("")
	if len(p.decided) > 0 {
		t.Errorf("got requests %v that wait for their event", p.decided)
	}
	r, _ = open(t)
	r.Session.Reply = func(tuitest.Command) (any, error) {
		return protocol.ApproveResult{Request: "r1", Decision: protocol.Explain}, nil
	}
	r.Press("n")
	r.Journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	r.ApplyJournal()
	r.MustReport("✗ denied · decided by ada")
}

func TestARefusedDecisionIsReported(t *testing.T) {
	r, _ := open(t)
	r.Refuse(tuitest.ErrRefused)
	r.Press("n")
	r.MustSend(protocol.DoApprove)
	r.MustShow("observers may not do that")
}

// A request decides only what it offers: without options, to allow once and to deny.
func TestARequestWithoutAllowOrDeny(t *testing.T) {
	for _, kinds := range [][]protocol.Decision{
		{}, {protocol.Deny}, {protocol.AllowOnce}, {protocol.Explain}, {protocol.AllowAlways},
	} {
		for _, key := range []string{"y", "n", "a"} {
			request := tuitest.CommandApproval()
			request.Options = []protocol.Option{}
			for _, kind := range kinds {
				request.Options = append(request.Options, protocol.Option{ID: string(kind), Kind: kind, Label: "x"})
			}
			j := tuitest.Scenes["transcript"]()
			request.Asked = j.At
			j.Add(protocol.ApprovalRequested, request)
			r, _ := openJournal(t, j)
			r.MustShow("go mod tidy") // a request is allowed only after it was on the screen
			r.Press(key, "y")         // y confirms a lasting decision
			got := r.TakeCommands()
			want := map[string]protocol.Decision{
				"y": protocol.AllowOnce, "n": protocol.Deny, "a": protocol.AllowAlways,
			}[key]
			for i, c := range got {
				data := c.Data.(protocol.ApproveData)
				if decision := cmp.Or(data.Decision, protocol.Decision(data.Option)); !request.Offers(decision) {
					t.Errorf("of %v, %s decides %s", kinds, key, decision)
				} else if i == 0 && request.Offers(want) && decision != want {
					t.Errorf("of %v, %s decides %s, want %s", kinds, key, decision, want)
				}
			}
			if request.Offers(want) && len(got) == 0 {
				t.Errorf("of %v, %s decides nothing", kinds, key)
			}
		}
	}
}

func TestARecordingShowsNoRequest(t *testing.T) {
	r, p := open(t)
	r.MustShow("go mod tidy")
	r.Replica.Recorded = true
	r.MustHide("go mod tidy")
	if p.ListsPlan() {
		t.Error("the request of a recording lists the plan")
	}
}
