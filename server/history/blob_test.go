package history

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestABlobIsReadInPieces(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.send(id, "go")
		raw := []byte(`"` + strings.Repeat("z", 1<<20) + `"`)
		r.agents.run().emit(agent.Event{Type: protocol.Raw, Data: protocol.RawData{Source: "acp", Data: raw}})
		synctest.Wait()
		var d protocol.RawData
		for _, e := range r.store.events(r.t, id) {
			if e.Type == protocol.Raw {
				_ = e.Decode(&d)
			}
		}
		var got []byte
		for offset := int64(0); offset < d.Bytes; {
			piece := must[protocol.BlobResult](
				r,
				r.do(newCommand(protocol.DoBlob, id, protocol.BlobData{Blob: d.Blob, Offset: offset})),
			)
			if len(piece.Data) == 0 || piece.Bytes != d.Bytes || piece.MediaType != "application/json" {
				t.Fatalf("piece at %d: %d of %d bytes", offset, len(piece.Data), piece.Bytes)
			}
			got, offset = append(got, piece.Data...), offset+int64(len(piece.Data))
		}
		if !bytes.Equal(got, raw) {
			t.Errorf("%d bytes of %d", len(got), len(raw))
		}
		refused(r, r.do(newCommand(protocol.DoBlob, id, protocol.BlobData{Blob: "b_none"})), protocol.CodeNotFound)
	})
}
