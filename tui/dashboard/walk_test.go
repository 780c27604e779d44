package dashboard

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
)

// tenWaiting returns a dashboard with ten sessions that wait, a longest.
func tenWaiting(t *testing.T, width, height int) *rig {
	t.Helper()
	var all []protocol.Summary
	for i := range 10 {
		s := waiting(string(rune('a'+i)), 1)
		asked := now.Add(time.Duration(i-60) * time.Second)
		s.Asked = &asked
		all = append(all, s)
	}
	r := newRig(t, width, height, all...)
	r.pendingRequests()
	return r
}

// wait lets the grace period pass.
func (r *rig) wait() {
	r.d.View() // draws the request
	now = now.Add(approval.Grace)
	r.fireTimers()
}

// Deciding the fourth of ten waiting requests after reading it takes two keys, moves of the selection
// not counted.
func TestTheFourthOfTenRequestsTakesTwoKeys(t *testing.T) {
	for _, size := range listSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			r := tenWaiting(t, size[0], size[1])
			r.press("down", "down", "down")
			r.press("y")
			r.wait()
			r.want("make d")
			r.press("y")
			if got := r.changes(); !slices.Equal(got, []string{"d approve"}) {
				t.Errorf("%v, want the approval of d:\n%s", got, r.screen())
			}
			if r.d.overlays.Top() != nil {
				t.Error("a dialog is open")
			}
		})
	}
}

// The key for what needs the user next shows the most urgent request. A decision shows the next one,
// space skips, and the place is shown.
func TestRequestsAreDecidedOneAfterTheOther(t *testing.T) {
	for _, size := range listSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			r := tenWaiting(t, size[0], size[1])
			r.press("f8")
			for i := range 10 {
				name := string(rune('a' + i))
				r.wait()
				r.want("make "+name, fmt.Sprintf("%d of 10 · space skip", i+1))
				switch i {
				case 1, 4:
					r.press("space")
				case 2:
					r.press("n")
				default:
					r.press("y")
				}
			}
			var want []string
			for _, name := range []string{"a", "c", "d", "f", "g", "h", "i", "j"} {
				want = append(want, name+" approve")
			}
			if got := r.changes(); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if last := r.intents[len(r.intents)-1]; last != (WalkEndedIntent{}) {
				t.Errorf("the last intent is %+v, want the end of the walk", last)
			}
			r.wantNo("make ")
		})
	}
}

// A request that takes the place of one decided elsewhere is not decided by the first key.
func TestTheWalkTakesNoKeyForARequestThatReplacedAnother(t *testing.T) {
	r := tenWaiting(t, 80, 24)
	r.press("f8")
	r.wait()
	r.want("make a")
	decided := waiting("a", 0)
	decided.Status, decided.Asked = protocol.Running, nil
	r.put(decided)
	r.wait()
	r.want("make b")
	r.press("y")
	r.want("this is another request now")
	if got := r.changes(); len(got) != 0 {
		t.Fatalf("%v, want nothing", got)
	}
	r.press("y")
	if got := r.changes(); !slices.Equal(got, []string{"b approve"}) {
		t.Errorf("%v, want the approval of b", got)
	}
	r.wait()
	r.press("y") // the key of the user decided the one before
	if got := r.changes(); !slices.Equal(got, []string{"b approve", "c approve"}) {
		t.Errorf("%v, want the approvals of b and c", got)
	}
}

func TestLeavingTheWalkEndsIt(t *testing.T) {
	r := tenWaiting(t, 80, 24)
	r.press("f8", "esc")
	r.wantNo("make ")
	if last := r.intents[len(r.intents)-1]; last != (WalkEndedIntent{Left: true}) {
		t.Errorf("the last intent is %+v", last)
	}
	if r.d.walk.active() {
		t.Error("the walk goes on")
	}
}

// All requests of a session are decided in its dialog.
func TestTheRequestsOfOneSessionAreDecidedInOneDialog(t *testing.T) {
	r := newRig(t, 80, 24, waiting("a", 2), waiting("b", 1))
	pending := []protocol.Approval{tuitest.CommandApproval(), tuitest.CommandApproval()}
	pending[0].Request, pending[0].Command = "r1", "make one"
	pending[1].Request, pending[1].Command = "r2", "make two"
	r.server.reply = func(_ string, verb protocol.Verb, _, result any) error {
		if verb == protocol.DoSnapshot {
			result.(*protocol.SnapshotResult).Snapshot.State = &protocol.State{Approvals: slices.Clone(pending)}
		}
		return nil
	}
	r.press("y")
	r.wait()
	r.want("make one", "1 of 2")
	r.press("y")
	r.wait()
	r.want("make two")
	r.wantNo("make one")
	pending = pending[1:]
	r.put(waiting("a", 1)) // the summary after the first decision
	r.press("y")
	if got := r.changes(); !slices.Equal(got, []string{"a approve", "a approve"}) {
		t.Errorf("%v, want two approvals", got)
	}
	if r.d.overlays.Top() != nil {
		t.Errorf("the dialog is open:\n%s", r.screen())
	}
}
