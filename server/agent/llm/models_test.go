package llm

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// fakeModels lists models once release is closed.
type fakeModels struct{ release chan struct{} }

func (fakeModels) Efforts(name string) []string {
	if name == "test/deep" {
		return []string{"low", "max"}
	}
	return nil
}

func (fakeModels) SameProvider(a, b string) bool {
	return strings.HasPrefix(a, "test/") == strings.HasPrefix(b, "test/")
}

func (m fakeModels) List(ctx context.Context, _ string) ([]string, error) {
	select {
	case <-m.release:
		return []string{"test/deep", "test/qwen"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func choices(o protocol.Options, setting int) (ids []string) {
	for _, c := range o.Settings[setting].Choices {
		ids = append(ids, c.ID)
	}
	return ids
}

// Without models in the configuration users choose from the models of the provider, and may name others.
// Efforts depend on the model.
func TestUsersChooseFromTheModelsOfTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", fakemodel.Say("x"))
		release := make(chan struct{})
		r.opts.Models, r.opts.Config.Models = fakeModels{release}, nil
		r.open(nil)
		if err := r.agent.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := func() protocol.Options { return r.events[len(r.events)-1].Data.(protocol.Options) }
		if got := choices(last(), 0); !slices.Equal(got, []string{"test/qwen"}) {
			t.Errorf("before the answer: %q", got)
		}
		close(release)
		synctest.Wait()
		if got := choices(last(), 0); !slices.Equal(got, []string{"test/qwen", "test/deep"}) {
			t.Errorf("after the answer: %q", got)
		}
		for value, want := range map[string]protocol.Code{
			"test/unlisted": "", "other/x": protocol.CodeInvalidMessage, "test/deep": "",
		} {
			if err := r.agent.Configure(t.Context(), "model", value); protocol.CodeOf(err) != want {
				t.Errorf("%s: %v", value, err)
			}
		}
		if err := r.agent.Configure(t.Context(), "model", "test/deep"); err != nil {
			t.Fatal(err)
		}
		if got := choices(last(), 1); !slices.Equal(got, []string{"default", "low", "max"}) {
			t.Errorf("efforts %q", got)
		}
		if err := r.agent.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// The configuration bounds the choice. An agent that closes waits for the request.
func TestTheListOfModelsIsNotRequestedInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", fakemodel.Say("x"))
		r.opts.Models = fakeModels{} // never answers
		for _, configured := range [][]string{{"test/other"}, nil} {
			r.opts.Config.Models = configured
			r.open(nil)
			if err := r.agent.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := r.agent.Configure(t.Context(), "model", "test/unlisted")
			if want := configured == nil; want != (err == nil) {
				t.Errorf("configured %q: %v", configured, err)
			}
			if err := r.agent.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAnEffortFitsTheModel(t *testing.T) {
	for _, c := range [][3]string{
		{"", "low high", ""},
		{"max", "low medium high", "high"},
		{"medium", "low high max", "low"},
		{"none", "low high", "low"},
		{"high", "low high max", "high"},
	} {
		if got := fitEffort(c[0], strings.Fields(c[1])); got != c[2] {
			t.Errorf("%q of %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
