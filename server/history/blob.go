package history

import (
	"context"
	"errors"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// maxPiece bounds the bytes of a blob in one answer.
const maxPiece = 512 << 10

// Blob returns a blob of a session. The error has the code no_session or not_found.
func (r *Reader) Blob(ctx context.Context, name, blob string) (eventlog.Blob, error) {
	id, err := r.sessions.Resolve(name)
	if err != nil {
		return eventlog.Blob{}, err
	}
	b, err := r.store.Blob(ctx, id, blob)
	if errors.Is(err, eventlog.ErrNotFound) {
		return eventlog.Blob{}, protocol.Errorf(protocol.CodeNotFound, "session %s has no blob %.80q", id, blob)
	}
	if err != nil {
		return eventlog.Blob{}, r.readError(id, err)
	}
	return b, nil
}

// blobPiece returns the requested range of a blob, at most maxPiece bytes.
func (r *Reader) blobPiece(ctx context.Context, name string, d *protocol.BlobData) (*protocol.BlobResult, error) {
	b, err := r.Blob(ctx, name, d.Blob)
	if err != nil {
		return nil, err
	}
	if d.Limit <= 0 || d.Limit > maxPiece {
		d.Limit = maxPiece
	}
	size := int64(len(b.Data))
	from := max(0, min(d.Offset, size))
	return &protocol.BlobResult{
		Blob: d.Blob, MediaType: b.MediaType, Bytes: size, Offset: from, Data: b.Data[from:min(from+d.Limit, size)],
	}, nil
}
