package hook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestAChangedHookGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{Filter: Filter{Types: []string{TypeTurnEnded}}})
		other := r.hook
		other.Name = "other"
		r.sessions.create("s_1", nil)
		r.start(r.hook, other)
		replace := func(list ...Hook) {
			t.Helper()
			if err := r.hooks.Replace(list); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		goesOn := r.hooks.active["other"].runner
		r.receiver.set(func(*Notification) error { return &failure{reason: "down", absent: true} })
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		r.receiver.set(nil)
		changed := r.hook
		changed.Filter.Types = append([]string{TypeError}, r.hook.Filter.Types...)
		replace(changed, other)
		if got := turnsOf(r.receiver.taken()); got != "t1" || r.receiver.taken()[0].Hook != "phone" {
			t.Errorf("sent %q after the change", got)
		}
		if r.hooks.active["other"].runner != goesOn {
			t.Error("a hook that has not changed was started again")
		}
		replace(changed) // ends "other"
		r.sessions.endTurn("s_1", "t2", "", protocol.ReasonError)
		synctest.Wait()
		replace()
		r.sessions.endTurn("s_1", "t3", "", protocol.ReasonCompleted)
		synctest.Wait()
		replace(changed)
		r.close()
		if list := r.receiver.taken(); turnsOf(list) != "t1 t2 t3" || list[1].Type != TypeError {
			t.Errorf("sent %s", turnsOf(list))
		}
		replace(changed) // after the end of the server
		if len(r.hooks.active) != 0 {
			t.Error("a hook was started after Close")
		}
	})
}

func TestAListWithABadHookChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		r.sessions.create("s_1", nil)
		r.start()
		defer r.close()
		bad := Hook{Name: "bad", URL: "https://example.com/hook", Secret: []byte("short")}
		if err := r.hooks.Replace([]Hook{bad}); err == nil || !strings.Contains(err.Error(), "hooks.bad: the secret") {
			t.Errorf("error %v", err)
		}
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		if got := turnsOf(r.receiver.taken()); got != "t1" {
			t.Errorf("sent %q", got)
		}
	})
}

// A receiver that heeds no context does not keep the server from stopping.
func TestCloseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{Filter: Filter{Types: []string{TypeTurnEnded}}})
		stuck := make(chan struct{})
		r.receiver.set(func(*Notification) error { <-stuck; return nil })
		r.sessions.create("s_1", nil)
		r.start()
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.hooks.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "hook phone") {
			t.Errorf("close: %v", err)
		}
		close(stuck)
		synctest.Wait()
	})
}

func TestLinksEndWithTheirHook(t *testing.T) {
	l := newLinked(t, 0, nil)
	other := Hook{Name: "other", Command: []string{"true"}, Links: l.hook.Links}
	if err := l.hooks.Replace([]Hook{other}); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"GET", "POST"} {
		if code, _ := l.request(method, l.path(protocol.AllowOnce)); code != 404 {
			t.Errorf("%s: status %d", method, code)
		}
	}
	if len(l.sessions.decisions()) != 0 {
		t.Error("decided by a link of a hook that was removed")
	}
}
