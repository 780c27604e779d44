package dashboard

import (
	"cmp"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/keymap"
)

// openApproval opens the approval dialog of the first session and waits until it accepts a
// decision.
func (d *testDashboard) openApproval(a protocol.Approval) {
	d.server.SetPending(a)
	d.press("y")
	d.waitGrace()
}

// waitGrace advances time beyond the grace period of the approval dialog.
func (d *testDashboard) waitGrace() {
	now = now.Add(2 * approval.Grace)
	d.fireTimers()
}

// decisions returns the decisions sent to session s3.
func (d *testDashboard) decisions() []protocol.ApproveData {
	s := d.server.Sessions["s3"]
	if s == nil {
		return nil
	}
	var out []protocol.ApproveData
	for _, c := range s.Commands() {
		if data, ok := c.Data.(protocol.ApproveData); ok {
			out = append(out, data)
		}
	}
	return out
}

func TestDashboardApproval(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"y"}, "once"},
		{[]string{"n"}, "no"},
		{[]string{"n"}, "no"},
		{[]string{"1", "enter"}, "once"},
		{[]string{"a", "y"}, "always"},
	} {
		d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
		d.server.SetPending(tuitest.CommandApproval())
		d.press("y")
		d.want("approval · release · command", "command ▏ go mod tidy", "in      ▏ /home/ada/store", "a moment …")
		d.press("y", "y")
		now = now.Add(approval.Grace * 3 / 4)
		d.press("y") // restarts the grace period
		now = now.Add(approval.Grace * 3 / 4)
		d.fireTimers()
		d.press("y")
		if got := d.decisions(); len(got) != 0 {
			t.Fatalf("decisions within the grace period: got %+v, want none", got)
		}
		d.waitGrace()
		d.want("y allow once", "n deny")
		d.press("v")
		d.want("go mod tidy", "esc back")
		d.press("esc")
		d.waitGrace()
		d.press(c.keys...)
		if got := d.decisions(); len(got) != 1 || got[0].Request != "r1" || got[0].Option != c.want {
			t.Errorf("%v: got decisions %+v, want option %s", c.keys, got, c.want)
		}
		d.wantNo("go mod tidy")
	}
}

// The key that opens the dialog and the one that decides are enough.
func TestDashboardApprovalTakesTheFirstKeyAfterTheGrace(t *testing.T) {
	d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.server.SetPending(tuitest.CommandApproval())
	d.press("y")
	d.press("y")
	d.want("the request is new")
	if got := d.decisions(); len(got) != 0 {
		t.Errorf("got decisions %+v within the grace period, want none", got)
	}
	d.waitGrace()
	d.press("y")
	if got := d.decisions(); len(got) != 1 {
		t.Errorf("got decisions %+v, want one", got)
	}
}

func TestDashboardApprovalOpensItsSession(t *testing.T) {
	d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.openApproval(tuitest.CommandApproval())
	d.press("o")
	if d.opened() != "s3" {
		t.Error("o does not open the session")
	}
}

func TestDashboardApprovalEditsACommand(t *testing.T) {
	d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
	d.openApproval(editableCommand())
	d.press("e")
	d.want("▸ command:", "> go mod tidy")
	d.typeText(" -x")
	d.press("enter")
	d.want("edited  ▏ go mod tidy -x", "[x] with the command as edited")
	d.waitGrace()
	d.press("y")
	if got := d.decisions(); len(got) != 1 || got[0].Input == nil || got[0].Input.Command != "go mod tidy -x" {
		t.Errorf("got decisions %+v", got)
	}

	tabs := editableCommand()
	tabs.Command = "cat <<-A\n\tone\nA"
	d = newTestDashboard(t, 100, 30, tuitest.Summaries()...)
	d.openApproval(tabs)
	d.press("e")
	d.want("open the session to edit this in your editor")
}

func TestDashboardApprovalTakesClicks(t *testing.T) {
	d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
	click := func(text string) {
		t.Helper()
		for y, line := range strings.Split(d.screen(), "\n") {
			if strings.Contains(line, text) {
				now = now.Add(approval.Grace / 4)
				d.click(5, y)
				return
			}
		}
		t.Fatalf("no %q:\n%s", text, d.screen())
	}
	d.server.SetPending(tuitest.CommandApproval())
	d.press("y")
	click("1 Allow once")
	click("1 Allow once")
	if got := d.decisions(); len(got) > 0 {
		t.Fatalf("a click decides a new request: %+v", got)
	}
	d.waitGrace()
	click("3 Deny")
	d.want("▸ 3 Deny")
	click("3 Deny")
	if got := d.decisions(); len(got) != 1 || got[0].Option != "no" {
		t.Errorf("got decisions %+v", got)
	}
}

func TestDashboardApprovalTakesAReason(t *testing.T) {
	d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.openApproval(tuitest.CommandApproval())
	d.press("r")
	d.typeText("no y2k")
	d.press("enter", "n")
	if got := d.decisions(); len(got) != 1 || got[0].Option != "no" || got[0].Reason != "no y2k" {
		t.Errorf("got decisions %+v, want a denial with the reason", got)
	}
}

func TestDashboardApprovalOffersOnlyItsDecisions(t *testing.T) {
	for key, c := range map[string]struct {
		kind        protocol.Decision
		hint, never string
		want        string
	}{
		"y": {protocol.Deny, "n deny", "y allow once", "does not take “allow once”; it takes: deny"},
		"n": {protocol.AllowOnce, "y allow once", "n deny", "does not take “deny”; it takes: allow once"},
	} {
		d := newTestDashboard(t, 120, 24, tuitest.Summaries()...)
		a := tuitest.CommandApproval()
		a.Options = []protocol.Option{{ID: "x", Kind: c.kind, Label: "The one"}}
		d.openApproval(a)
		d.want(c.hint, "▏ The one")
		d.wantNo(c.never)
		d.press(key)
		d.want(c.want)
		if got := d.decisions(); len(got) > 0 {
			t.Errorf("%s: got decisions %+v, want none", key, got)
		}
	}
}

func TestDashboardApprovalSentOnce(t *testing.T) {
	d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.openApproval(tuitest.CommandApproval())
	cmd, _ := d.startKey("y")
	d.want("sending: Allow once …")
	d.press("n", "y", "1", "enter")
	d.want("sending: Allow once …")
	d.run(cmd)
	if got := d.decisions(); len(got) != 1 || got[0].Option != "once" {
		t.Errorf("got decisions %+v, want one, option once", got)
	}
	d.wantNo("go mod tidy")
}

func TestDashboardApprovalConflict(t *testing.T) {
	d := newTestDashboard(t, 120, 24, tuitest.Summaries()...)
	d.openApproval(tuitest.CommandApproval())
	d.server.Reply = func(string, tuitest.Command) (any, error) {
		return nil, &protocol.Error{
			Code:    protocol.CodeConflict,
			Message: "too late",
			Winner:  &protocol.Winner{By: tuitest.Bob},
		}
	}
	d.press("y")
	d.want("too late · decided by bob")
	d.put(protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start})
	d.wantNo("go mod tidy")
	d.want("decided elsewhere")
}

// The keys of a reason or a comment do not act on the list when the request is decided elsewhere.
func TestTypingAboutARequestGoesOnWhenItIsDecidedElsewhere(t *testing.T) {
	for name, request := range map[string]protocol.Approval{
		"a reason": tuitest.CommandApproval(), "a comment": twelveFiles(),
	} {
		d := newTestDashboard(t, 120, 24, tuitest.Summaries()...)
		d.openApproval(request)
		if name == "a comment" {
			d.press("v", "J", "m")
		} else {
			d.press("r")
		}
		d.typeText("not ")
		decided := protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start}
		d.put(decided)
		d.typeText("in Xmas")
		d.want("not in Xmas")
		d.want("it was decided elsewhere · esc closes, the text is kept")
		d.press("enter")
		d.want("it was decided elsewhere · your text is in the message box of release")
		d.wantNo("not in Xmas")
		if got := d.kept["s3"]; !strings.HasSuffix(got, "not in Xmas") {
			t.Errorf("%s: got the unsent message %q", name, got)
		}
		if got := d.decisions(); len(got) != 0 {
			t.Errorf("%s: got decisions %+v, want none", name, got)
		}
	}
}

// The key that starts a text is the first one after the request appeared: the text decides nothing.
func TestATextAboutANewRequestDecidesNothing(t *testing.T) {
	for _, key := range []string{"r", "p"} {
		d := newTestDashboard(t, 120, 24, tuitest.Summaries()...)
		d.server.SetPending(tuitest.CommandApproval())
		d.press("y")
		d.waitGrace()
		d.press(key)
		d.typeText("any day")
		if got := d.decisions(); len(got) != 0 {
			t.Errorf("after %q: got decisions %+v, want none", key, got)
		}
		if key == "r" {
			d.want("reason: any day")
			d.wantNo("o open the session")
		}
	}
}

// A reason is offered again in the next dialog of the same request. If that is decided elsewhere,
// the reason is in the message box.
func TestAReasonStaysWhenTheDialogIsLeft(t *testing.T) {
	for _, leave := range []string{"esc", "o"} {
		d := newTestDashboard(t, 120, 24, tuitest.Summaries()...)
		d.openApproval(tuitest.CommandApproval())
		d.press("r")
		d.typeText("not in Xmas")
		d.press("enter", leave)
		if leave == "o" {
			d.press("f2")
		}
		d.wantNo("not in Xmas")
		d.press("y")
		d.want("reason: ▏ not in Xmas")
		d.press("n", "n")
		if got := d.decisions(); len(got) != 0 {
			t.Errorf("got decisions %+v right after the dialog appeared again", got)
		}
		d.press("esc")
		decided := protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start}
		d.put(decided)
		d.want("your text is in the message box of release")
		waiting := tuitest.Summaries()[2]
		waiting.Session, waiting.Asked = "s3", &tuitest.Start
		d.put(waiting)
		d.press("y")
		d.wantNo("not in Xmas")
	}
}

// Every kind of request is decided in the dialog, but the request of a page, which a browser opens.
func TestDashboardDecidesEveryKindOfRequest(t *testing.T) {
	for name, c := range map[string]struct {
		pending protocol.Approval
		keys    []string
	}{
		"a question": {tuitest.FormApproval(), nil},
		"a plan":     {tuitest.PlanApproval(), []string{"y"}},
		"a command":  {tuitest.CommandApproval(), []string{"y"}},
	} {
		d := newTestDashboard(t, 90, 50, tuitest.Summaries()...)
		d.openApproval(c.pending)
		if d.opened() != "" || d.d.Scope() != keymap.Approval {
			t.Errorf("%s opens the session, or no dialog", name)
		}
		if d.press(c.keys...); len(d.decisions()) != len(c.keys) {
			t.Errorf("%s: decisions %+v:\n%s", name, d.decisions(), d.screen())
		}
	}
	d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.openApproval(tuitest.PageApproval())
	if d.opened() != "s3" {
		t.Error("a page does not open the session")
	}
	d = newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.server.SetPending()
	d.press("y")
	d.want("decided elsewhere")
	d.press("down", "down", "y")
	d.want("fix-tests has no request")
}

// A third-party server may offer fewer options than agentctl's, or none: allow once and deny then.
func TestDashboardApprovalWithoutAllowOrDeny(t *testing.T) {
	for _, kinds := range [][]protocol.Decision{
		{}, {protocol.Deny}, {protocol.AllowOnce}, {protocol.Explain}, {protocol.AllowAlways},
	} {
		request := tuitest.CommandApproval()
		request.Options = []protocol.Option{}
		for _, kind := range kinds {
			request.Options = append(request.Options, protocol.Option{ID: string(kind), Kind: kind, Label: "x"})
		}
		d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
		d.openApproval(request)
		var decided []protocol.Decision
		answer := d.server.Reply
		d.server.Reply = func(id string, c tuitest.Command) (any, error) {
			if data, ok := c.Data.(protocol.ApproveData); ok {
				decided = append(decided, cmp.Or(data.Decision, protocol.Decision(data.Option)))
			}
			return answer(id, c)
		}
		for _, key := range strings.Fields("y n a 1 9 enter home enter end enter alt+1 tab esc") {
			if key == "n" && d.d.overlays.Top() == nil { // there it is the key of the list
				continue
			}
			d.press(key)
			d.waitGrace()
			_ = d.d.View()
		}
		for _, decision := range decided {
			if !request.Offers(decision) {
				t.Errorf("of %v, decided %s", kinds, decision)
			}
		}
		if len(kinds) == 0 && (len(decided) == 0 || decided[0] != protocol.AllowOnce) {
			t.Errorf("without options, y decides %v, want to allow once", decided)
		}
	}
}
