package session

import (
	"context"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A stored state has the blobs that the agent saved before it, however the server ends.
func TestAKilledServerKeepsTheBlobsOfStoredStates(t *testing.T) {
	for n := range 7 { // the blob and the state are stored by one commit or by two, of a second each
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			r.send(id, "go")
			r.store.set(func() { r.store.latency = time.Second })
			host := r.agents.run().agent.host
			blob := agent.NewBlob("image/png", []byte("image"))
			if err := host.SaveBlob(blob); err != nil {
				t.Fatal(err)
			}
			if err := r.agents.run().out.Save([]byte("state with image")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(n) * 400 * time.Millisecond)
			r.kill()
			r.state(id)
			spec := r.hub.list.Loaded(id).spec
			got, err := r.store.Blob(t.Context(), id, blob.ID)
			if string(spec.State) != "" && (err != nil || string(got.Data) != "image") {
				t.Errorf("after %d: state %q, blob %q, %v", n, spec.State, got.Data, err)
			}
			if n == 6 && string(spec.State) == "" {
				t.Error("the state was not stored")
			}
		})
	}
}

// An agent reads a blob that it saved, also before the commit.
func TestAnAgentReadsItsBlobs(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		host := r.agents.run().agent.host
		r.store.set(func() { r.store.latency = time.Second })
		blob := agent.NewBlob("image/png", []byte("image"))
		if err := host.SaveBlob(blob); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := host.Blob(t.Context(), blob.ID); err != nil || string(got.Data) != "image" || got.MediaType != "image/png" {
				t.Errorf("%+v, %v", got, err)
			}
		}
		if _, err := host.Blob(t.Context(), "b_0"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("an unknown blob: %v", err)
		}
	})
}

func TestAForkHasTheBlobsOfItsState(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(context.Context, string) error { return nil }
		fork := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoFork, r.create(), protocol.ForkData{}))).Session
		r.kill()
		blob := agent.NewBlob("image/png", []byte("image")) // of the fake agent's Fork
		if got, err := r.store.Blob(t.Context(), fork, blob.ID); err != nil || string(got.Data) != "image" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
