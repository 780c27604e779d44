package pipeline

import (
	"testing"

	"agentctl/server/agent"
)

// The blobs of an agent of the pipeline are blobs of the session.
func TestBlobsOfASolverAreTheSessions(t *testing.T) {
	r := &rig{t: t}
	in := &inner{Host: r}
	b := agent.NewBlob("image/png", []byte("image"))
	if err := in.SaveBlob(b); err != nil {
		t.Fatal(err)
	}
	if got, err := in.Blob(t.Context(), b.ID); err != nil || string(got.Data) != "image" || string(r.blob.Data) != "image" {
		t.Errorf("%+v, %v", got, err)
	}
}
