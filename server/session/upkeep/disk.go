package upkeep

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"agentctl/protocol"
)

// A Sizer is a store that knows its size.
type Sizer interface {
	// Size returns the bytes of the store that hold rows.
	Size(ctx context.Context) (int64, error)
}

// sizeInterval is the time between two looks at the size of a store.
const sizeInterval = 10 * time.Second

// A Disk knows whether a store is larger than it may be. The methods may be called from any
// goroutine.
type Disk struct {
	limit func() int64 // in bytes; 0 or less: unlimited
	log   *slog.Logger
	full  atomic.Bool
}

// NewDisk returns a disk that is not full. limit may return another limit later.
func NewDisk(limit func() int64, log *slog.Logger) *Disk { return &Disk{limit: limit, log: log} }

// Watch compares the size of a store with the limit until ctx ends.
func (d *Disk) Watch(ctx context.Context, store Sizer) {
	Every(ctx, sizeInterval, func() { d.measure(ctx, store) })
}

// Every calls f now and after each interval, until ctx ends.
func Every(ctx context.Context, interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		f()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (d *Disk) measure(ctx context.Context, store Sizer) {
	limit := d.limit()
	if limit <= 0 {
		d.full.Store(false)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sizeInterval)
	defer cancel()
	size, err := store.Size(ctx)
	if err != nil {
		d.log.Warn("size of the store", "err", err)
		return
	}
	d.full.Store(size > limit)
}

// Check returns an error while the store is larger than the limit. Running turns continue.
func (d *Disk) Check() error {
	if !d.full.Load() {
		return nil
	}
	return protocol.Exceeded(protocol.CodeDiskLimit, d.limit(),
		"the server's sessions use as much disk as they may: remove sessions")
}
