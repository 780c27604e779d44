package session

import (
	"fmt"
	"maps"
	"testing"

	"agentctl/protocol"
)

func TestLabelsChangeTheStateAndTheSummary(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		created := protocol.CreateData{Labels: map[string]string{"team": "infra", "none": ""}}
		id := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", created))).Session
		label := func(changes map[string]string) protocol.Command {
			return newCommand(protocol.DoLabel, id, protocol.LabelData{Labels: changes})
		}
		for _, step := range []struct{ changes, want map[string]string }{
			{map[string]string{"env": "prod"}, map[string]string{"team": "infra", "env": "prod"}},
			{map[string]string{"env": "test", "team": ""}, map[string]string{"env": "test"}},
			{map[string]string{"env": "test", "gone": ""}, map[string]string{"env": "test"}},
		} {
			got := must[protocol.LabelResult](r, r.do(anna, label(step.changes))).Labels
			r.waitIdle()
			sum := r.hub.Sessions().List(true)[0].Labels
			state := r.state(id).Labels
			if !maps.Equal(got, step.want) || !maps.Equal(sum, step.want) || !maps.Equal(state, step.want) {
				t.Errorf("after %v: answer %v, summary %v, state %v, want %v", step.changes, got, sum, state, step.want)
			}
		}
		updates := 0
		for _, e := range r.events(id, false) {
			if e.Type == protocol.SessionUpdated {
				updates++
			}
		}
		if updates != 2 {
			t.Errorf("%d events for two changes: the third changed nothing", updates)
		}
	})
}

func TestLabelsAreReplaced(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		label := func(labels map[string]string, replace bool) map[string]string {
			d := protocol.LabelData{Labels: labels, Replace: replace}
			return must[protocol.LabelResult](r, r.do(anna, newCommand(protocol.DoLabel, id, d))).Labels
		}
		label(map[string]string{"team": "infra", "env": "test"}, false)
		for _, want := range []map[string]string{{"env": "prod", "ticket": "7"}, {"env": "prod"}, {}} {
			if got := label(want, true); !maps.Equal(got, want) || !maps.Equal(r.state(id).Labels, want) {
				t.Errorf("got %v, state %v, want %v", got, r.state(id).Labels, want)
			} else if got == nil {
				t.Error("null in JSON, want an object")
			}
		}
	})
}

func TestInvalidLabelsAreRefused(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		many := map[string]string{}
		for i := range protocol.MaxLabels {
			many[fmt.Sprint("k", i)] = "v"
		}
		label := func(changes map[string]string) protocol.Command {
			return newCommand(protocol.DoLabel, id, protocol.LabelData{Labels: changes})
		}
		must[protocol.LabelResult](r, r.do(anna, label(many)))
		for name, changes := range map[string]map[string]string{
			"one too many": {"more": "v"}, "key": {"a b": "v"}, "value": {"k0": "\x1b"},
		} {
			refused(r, r.do(anna, label(changes)), protocol.CodeInvalidMessage)
			if !maps.Equal(r.state(id).Labels, many) {
				t.Errorf("%s: the labels changed", name)
			}
		}
		must[protocol.LabelResult](r, r.do(anna, label(map[string]string{"k0": "", "more": "v"})))
		create := newCommand(protocol.DoCreate, "", protocol.CreateData{Labels: map[string]string{"a b": "v"}})
		refused(r, r.do(anna, create), protocol.CodeInvalidMessage)
	})
}
