package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
)

// waiting returns a session with so many pending requests.
func waiting(id string, requests int) protocol.Summary {
	asked := now
	return protocol.Summary{
		Session: id, Name: "task-" + id, Agent: "claude", Status: protocol.Waiting, Turn: "t-" + id, Asked: &asked,
		Approvals: requests, Updated: now,
	}
}

// pendingRequests makes sessions answer snapshots with one request, which is named after them.
func (r *rig) pendingRequests() {
	r.server.reply = func(session string, verb protocol.Verb, _, result any) error {
		if verb == protocol.DoSnapshot {
			a := tuitest.CommandApproval()
			a.Request, a.Command = "r-"+session, "make "+session
			result.(*protocol.SnapshotResult).Snapshot.State = &protocol.State{
				Session: session, Approvals: []protocol.Approval{a},
			}
		}
		return nil
	}
}

func TestMarkedRequestsAreShownInTurn(t *testing.T) {
	r := newRig(t, 80, 24, waiting("a", 1), waiting("b", 1), waiting("c", 2), sessions(1)[0])
	r.pendingRequests()
	r.press("*")
	r.want("4 marked", "*? task-a")
	r.press("y")
	r.want("make a")
	r.press("y")
	if got := r.changes(); len(got) != 0 {
		t.Errorf("%v within the grace period, want nothing", got)
	}
	allow := func() {
		now = now.Add(approval.Grace)
		r.fireTimers()
		r.press("y")
	}
	defer func(at time.Time) { now = at }(now)
	allow()
	if got := r.changes(); !slices.Equal(got, []string{"a approve"}) {
		t.Fatalf("%v, want one approval", got)
	}
	r.want("make b")
	allow()
	if got := r.changes(); !slices.Equal(got, []string{"a approve", "b approve"}) {
		t.Errorf("%v, want approvals of a and b", got)
	}
	r.want("make c", "1 marked") // the one without a request
	r.press("esc")
	r.wantNo("make")
}

func TestLeavingARequestEndsTheTurn(t *testing.T) {
	r := newRig(t, 80, 24, waiting("a", 1), waiting("b", 1))
	r.pendingRequests()
	r.press("*", "y")
	r.want("make a")
	r.press("esc")
	r.wantNo("make")
	if got := r.changes(); len(got) != 0 {
		t.Errorf("%v after esc, want nothing", got)
	}
}

func TestDenySeveralWithAReason(t *testing.T) {
	r := newRig(t, 80, 24, waiting("a", 1), waiting("b", 1), sessions(1)[0])
	r.pendingRequests()
	r.press("*", "n")
	r.want("deny 2 requests of 2 sessions: task-a, task-b")
	r.typeText("not now")
	if got := r.changes(); len(got) != 0 {
		t.Errorf("%v before enter, want nothing", got)
	}
	r.press("enter")
	got := r.changes()
	slices.Sort(got)
	if !slices.Equal(got, []string{"a approve", "b approve"}) {
		t.Fatalf("%v, want two decisions", got)
	}
	for _, c := range r.server.calls {
		if d, ok := c.data.(protocol.ApproveData); ok && (d.Decision != protocol.Deny || d.Reason != "not now" ||
			d.Request != "r-"+c.session) {
			t.Errorf("decision %+v of %s", d, c.session)
		}
	}
	r.want("2 denied")
}

func TestClosingSeveralAsksWithCancelFocused(t *testing.T) {
	r := newRig(t, 80, 24, sessions(6)...)
	r.press("*", "X")
	r.want("close 6 sessions: task-001, task-003, task-002 and 3 more?", "▸ Cancel", "Close, keep the history")
	r.press("enter")
	if got := r.changes(); len(got) != 0 {
		t.Fatalf("%v after enter on Cancel, want nothing", got)
	}
	r.press("X", "right", "enter")
	if got := r.changes(); len(got) != 5 || slices.Contains(got, "s005 close") {
		t.Errorf("%v, want all but the closed one", got)
	}
	r.want("5 closed · 1 without anything to do")
}

func TestPartialFailuresAreReportedPerSession(t *testing.T) {
	r := newRig(t, 80, 24, sessions(3)...)
	r.server.reply = func(session string, _ protocol.Verb, _, _ any) error {
		if session == "s000" {
			return nil
		}
		return protocol.Errorf(protocol.CodeStorage, "the disk of %s is full", session)
	}
	r.press("*", "m")
	r.want("message to 3 sessions: task-001, task-002, task-000")
	r.typeText("go on")
	r.press("enter")
	r.want("1 sent · 2 failed", "task-001: the disk of s001 is full", "task-002: the disk of s002 is full")
	r.press("esc")
	r.want("2 marked") // the failed ones
	r.press("m")
	r.want("text go on")
	r.press("esc")
	var ids []string
	for _, c := range r.server.calls {
		if d, ok := c.data.(protocol.SendData); ok {
			ids = append(ids, d.ClientMessageID)
			if d.Text != "go on" {
				t.Errorf("sent %q to %s", d.Text, c.session)
			}
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 {
		t.Errorf("client message ids %v, want three", ids)
	}
}

func TestInterruptSeveral(t *testing.T) {
	r := newRig(t, 80, 24, sessions(3)...)
	r.press("*", "ctrl+x")
	r.want("interrupt the turns of 3 sessions: task-001, task-002, task-000?")
	r.press("right", "enter")
	got := r.changes()
	if slices.Sort(got); !slices.Equal(got, []string{"s001 interrupt", "s002 interrupt"}) {
		t.Errorf("%v, want the two with a turn", got)
	}
	for _, c := range r.server.calls {
		if d, ok := c.data.(protocol.InterruptData); ok && d.Turn != "t" {
			t.Errorf("interrupt of the turn %q, want the one of the row", d.Turn)
		}
	}
}

func TestMarks(t *testing.T) {
	r := newRig(t, 80, 24, sessions(6)...)
	r.press("space", "space")
	r.want("2 marked")
	r.press("up", "space")
	r.want("1 marked")
	r.press("esc")
	r.wantNo("marked")
	r.press("*", "*")
	r.wantNo("marked")
	r.press("*")
	r.put(protocol.Summary{Session: "s001", Deleted: true})
	r.want("5 marked")
}

func TestLabelsAreEditedAndFiltered(t *testing.T) {
	r := newRig(t, 100, 24, sessions(12)...)
	r.press("/")
	r.want("status: agent: label: dir:")
	r.typeText("label:team=infra status:run")
	r.want("sessions 1 ", "task-008", "label:team=infra")
	r.press("enter", "l")
	r.want("labels of task-008: team=infra ticket=108")
	r.typeText("env=prod")
	r.press("enter", "l")
	r.typeText("ticket-")
	r.press("enter", "l", "enter")
	var got []string
	for _, c := range r.server.calls {
		if d, ok := c.data.(protocol.LabelData); ok {
			got = append(got, fmt.Sprint(c.session, d.Labels))
		}
	}
	if want := []string{"s008map[env:prod]", "s008map[ticket:]"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}

func TestAnInvalidLabelStaysInTheForm(t *testing.T) {
	r := newRig(t, 80, 24, sessions(2)...)
	r.press("l")
	r.typeText("a b=1")
	r.press("enter")
	r.want("label key", "a b=1")
	if got := r.changes(); len(got) != 0 {
		t.Errorf("%v, want nothing", got)
	}
}

func TestThePreviewDoesNotMarkAsRead(t *testing.T) {
	r := newRig(t, 120, 40, sessions(3)...)
	done := sessions(3)[2]
	done.Status, done.Turn, done.Turns = protocol.Idle, "", 9
	r.put(done)
	r.press("end", "up", "home")
	for range 3 {
		r.press("down")
	}
	if s := r.screen(); !strings.Contains(s, "FINISHED, UNREAD 1") {
		t.Errorf("the session is read:\n%s", s)
	}
}

func TestChildrenAreShownBelowTheirParent(t *testing.T) {
	r := newRig(t, 80, 24, sessions(12)...)
	r.want("▸ task-002 (1)", "▸ └ task-008")
	r.d.Select("s002")
	r.press("z")
	r.want("task-002 (+1)")
	r.wantNo("task-008")
	r.press("z")
	r.want("└ task-008")
}

func TestTheTextOfACancelledMessageReturnsForTheSameSessions(t *testing.T) {
	r := newRig(t, 80, 24, sessions(3)...)
	r.press("m")
	r.typeText("look again")
	r.press("esc", "m")
	r.want("text look again")
	r.press("esc", "down", "m")
	r.wantNo("look again")
	r.typeText("go on")
	r.press("enter", "m")
	r.wantNo("text go on")
}
