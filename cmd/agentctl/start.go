package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	startPatience = 15 * time.Second      // for a background server to answer
	startPoll     = 20 * time.Millisecond // between looks whether it does
	maxServerLog  = 1 << 20               // bytes of an old server.log that are kept

	defaultIdleExit = 10 * time.Minute // without sessions at work or clients, after which a background server ends
)

// errLocked says that another server runs on the data directory.
var errLocked = errors.New("another server runs on this data directory")

// ensureLocal returns when the local server answers, started in the background if need be. Of several that start one at the same
// time, one wins the lock and the others connect to it.
func (a *app) ensureLocal(ctx context.Context, d dataDir) error {
	if answers(ctx, d) {
		return nil
	}
	if a.flags.NoStart {
		return unreachablef("no server runs on %s", d).hinting("%s", hints[codeUnreachable])
	}
	if !canServe {
		return unreachablef("no server runs on %s", d).hinting("name one with --server: this system cannot run one yet")
	}
	if err := d.make(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("the server did not answer within %s", startPatience))
	defer cancel()
	return d.start(ctx)
}

// start starts servers until one answers. A server that ends at once is not tried again unless it gave way to another.
func (d dataDir) start(ctx context.Context) error {
	var child *background
	defer func() {
		if child != nil {
			child.leave(d.owner())
		}
	}()
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for {
		if child == nil && d.owner() == 0 {
			var err error
			if child, err = d.spawn(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTimeout) {
				return errTimeout
			}
			return unreachablef("%w", context.Cause(ctx)).hinting("its log: %s", d.path("server.log"))
		case <-tick.C:
		case <-child.ended():
			gaveWay := child.gaveWay()
			said := child.said()
			child = nil
			if !gaveWay {
				return unreachablef("the server did not start: %s", said).hinting("its log: %s", d.path("server.log"))
			}
		}
		if answers(ctx, d) {
			return nil
		}
	}
}

// answers reports whether something accepts connections on the local socket.
func answers(ctx context.Context, d dataDir) bool {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", d.socket())
	if err != nil {
		return false
	}
	c.Close()
	return true
}
