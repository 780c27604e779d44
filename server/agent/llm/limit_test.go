package llm

import (
	"context"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// refuseFor3Hours answers that the account may send requests again after 3 hours.
func refuseFor3Hours(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
	out.Header("Retry-After", "10800")
	out.Fail(429, "the account has sent too much")
}

// The message of a turn that a limit ended comes again, if the model has not answered. The
// conversation has it once.
func TestALimitOfTheAccountEndsTheTurn(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		r := newRig(t, api, name, fakemodel.Turns(
			refuseFor3Hours, fakemodel.Say("yes"),
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Call("shell", x("ls")) },
			refuseFor3Hours, fakemodel.Say("on I go"),
		), echo("shell"))
		limited := func(text string, tookIn bool) {
			t.Helper()
			end, err := r.send(t.Context(), text)
			if err != nil || end.Reason != protocol.ReasonLimited || end.Limit == nil || end.Limit.TookIn != tookIn {
				t.Fatalf("%+v, %+v, %v\n%s", end, end.Limit, err, r.lines())
			}
			if in := time.Until(end.Limit.ResetsAt); in < 3*time.Hour-time.Second || in > 3*time.Hour {
				t.Errorf("resets in %s", in)
			}
		}
		completed := func(text string) string {
			t.Helper()
			if end, err := r.send(t.Context(), text); err != nil || end.Reason != protocol.ReasonCompleted {
				t.Fatalf("%+v, %v", end, err)
			}
			all := r.fake.Requests()
			return string(all[len(all)-1].Body)
		}
		limited("look around", false)
		if body := completed("look around"); strings.Count(body, "look around") != 1 {
			t.Errorf("the message comes twice: %s", body)
		}
		limited("list the files", true)
		if body := completed("continue"); strings.Count(body, "list the files") != 1 || !strings.Contains(body, "result of") {
			t.Errorf("the turn is forgotten: %s", body)
		}
	})
}
