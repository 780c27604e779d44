package session

import (
	"context"
	"time"

	"agentctl/protocol"
)

// sizeInterval is the time between two looks at the size of the store.
const sizeInterval = 10 * time.Second

// watchSize notes whether the store is larger than Limits.Disk, until the hub closes.
func (h *Hub) watchSize(store Sizer) {
	tick := time.NewTicker(sizeInterval)
	defer tick.Stop()
	for {
		h.noteSize(store)
		select {
		case <-tick.C:
		case <-h.stop:
			return
		}
	}
}

func (h *Hub) noteSize(store Sizer) {
	limit := h.settings().Limits.Disk
	if limit <= 0 {
		h.diskFull.Store(false)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sizeInterval)
	defer cancel()
	size, err := store.Size(ctx)
	if err != nil {
		h.log.Warn("size of the store", "err", err)
		return
	}
	h.diskFull.Store(size > limit)
}

// checkDisk returns an error while the store is larger than Limits.Disk. Turns under way go on.
func (h *Hub) checkDisk() error {
	if !h.diskFull.Load() {
		return nil
	}
	return &protocol.Error{
		Code: protocol.CodeDiskLimit, Limit: h.settings().Limits.Disk,
		Message: "the server's sessions use as much disk as they may: remove sessions",
	}
}
