package session

import (
	"context"
	"strings"
	"testing"

	"agentctl/protocol"
)

// A fork has its own settings: what is configured there does not change its source.
func TestAForkSharesNoSettingsWithItsSource(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(_ context.Context, what string) error {
			if strings.HasPrefix(what, "model=") && what != "model=other" {
				return protocol.Errorf(protocol.CodeInvalidMessage, "later")
			}
			return nil
		}
		data := protocol.CreateData{Lazy: true, Settings: map[string]string{"model": "big"}}
		source := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", data))).Session
		forking := newCommand(protocol.DoFork, source, protocol.ForkData{})
		fork := must[protocol.CreateResult](r, r.do(anna, forking)).Session
		set := protocol.ConfigureData{Setting: "model", Value: "other"}
		must[struct{}](r, r.do(anna, newCommand(protocol.DoConfigure, fork, set)))
		if got := r.hub.list.Loaded(source).spec.Settings["model"]; got != "big" {
			t.Errorf("the source's pending model is %q", got)
		}
		if got, ok := r.hub.list.Loaded(fork).spec.Settings["model"]; ok {
			t.Errorf("the fork's pending model is %q", got)
		}
	})
}

// The key of a fork belongs to the session that is forked, whichever of its names is used.
func TestTheKeyOfAForkIsThatOfItsSource(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(context.Context, string) error { return nil }
		one, two := r.create(), r.create()
		fork := func(session string) *testCall {
			c := newCommand(protocol.DoFork, session, protocol.ForkData{})
			c.Key = "the-key-of-this-fork"
			return r.do(anna, c)
		}
		first := must[protocol.CreateResult](r, fork(one)).Session
		if again := must[protocol.CreateResult](r, fork(one[:len(one)-1])).Session; again != first {
			t.Errorf("the same command made %s and %s", first, again)
		}
		refused(r, fork(two), protocol.CodeKeyReused)
	})
}
