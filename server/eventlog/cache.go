package eventlog

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
)

// cacheRead is the size of a read of the store that fills the cache.
const cacheRead = 256 << 10

// A Cache holds events that the logs themselves do not keep in memory: events that a log dropped,
// and events that readers took from the store. Readers share them. One reader at a time reads a log
// from the store, so that many catching up cost one read of the store. The least recently used
// segments are evicted first.
type Cache struct {
	most int // bytes

	mu     sync.Mutex // taken after Log.mu
	bytes  int
	views  map[view][]*list.Element // by seq, without overlaps
	recent list.List                // of *cached; the last used one is the front
}

// A view is a log as some of its readers see it: all events, or folds instead of the runs of deltas
// that they cover. In a view of folds no segment has a part of a fold.
type view struct {
	*Log
	folded bool
}

// A cached is a segment of a view in the cache.
type cached struct {
	*segment
	view view
}

// NewCache returns a cache of that many bytes at most.
func NewCache(most int64) *Cache {
	return &Cache{most: int(most), views: map[view][]*list.Element{}}
}

// Bytes returns the size of the cached lines.
func (c *Cache) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// read returns the lines of a view in (after, through] that are not in the log's memory: at most
// most bytes, but at least one line. In a view of folds, through must not be inside a fold; if
// after is, the lines are the events of that fold.
func (c *Cache) read(ctx context.Context, v view, after, through uint64, most int) ([]byte, uint64, error) {
	g, _ := c.find(v, after)
	if g == nil {
		select {
		case v.reading <- struct{}{}:
		case <-ctx.Done():
			return nil, after, fmt.Errorf("read events of %s after %d: %w", v.session, after, ctx.Err())
		}
		var err error
		g, err = c.fill(ctx, v, after, through)
		<-v.reading
		if err != nil {
			return v.store.Read(ctx, v.session, after, through, v.folded, most, nil) // the lines before damage
		}
		if g == nil {
			return nil, after, nil
		}
	}
	if i := g.line(after + 1); g.lastOf(i-1) < after {
		return v.readEvents(ctx, after, g.lastOf(i), most)
	}
	lines, last := g.lines(after, through, most)
	return lines, last, nil
}

// fill returns the segment with the event after a seq. It reads the store if the cache does not
// have it, up to the next event that is in memory. It requires the right to read the log.
func (c *Cache) fill(ctx context.Context, v view, after, through uint64) (*segment, error) {
	g, next := c.find(v, after)
	if g != nil {
		return g, nil
	}
	if v.folded {
		start, err := v.store.FoldStart(ctx, v.session, after+1)
		if err != nil {
			return nil, err //nolint:wrapcheck // as Log.Read
		}
		if start != 0 {
			after = start - 1
		}
	} else if next == 0 {
		next = v.inMemory()
	}
	if next > after+1 {
		through = min(through, next-1)
	}
	buf := cacheBuffers.Get().(*[]byte)
	defer cacheBuffers.Put(buf)
	lines, last, err := v.store.Read(ctx, v.session, after, through, v.folded, cacheRead, (*buf)[:0])
	if err != nil || last == after {
		return nil, err //nolint:wrapcheck // as Log.Read
	}
	if cap(lines) <= 2*cacheRead {
		*buf = lines
	}
	g = newSegment(after+1, lines)
	if v.folded {
		if err := g.setLasts(last); err != nil {
			return nil, err
		}
	}
	c.add(v, g)
	return g, nil
}

// cacheBuffers holds buffers to read the store. They keep their growth.
var cacheBuffers = sync.Pool{New: func() any { return new([]byte) }}

// find returns the segment with the event after a seq, or nil and the first seq of the next one; 0
// for none.
func (c *Cache) find(v view, after uint64) (*segment, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.views[v]
	i := place(list, after+1)
	if i == len(list) {
		return nil, 0
	}
	g := list[i].Value.(*cached).segment
	if g.first > after+1 {
		return nil, g.first
	}
	c.recent.MoveToFront(list[i])
	return g, 0
}

// place returns the index of the first segment that ends at or after a seq.
func place(list []*list.Element, seq uint64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].Value.(*cached).last() >= seq })
}

// add adds a segment of a view, unless the cache has a part of it.
func (c *Cache) add(v view, g *segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.views[v]
	i := place(list, g.first)
	if v.ended || i < len(list) && list[i].Value.(*cached).first <= g.last() {
		return
	}
	c.views[v] = slices.Insert(list, i, c.recent.PushFront(&cached{g, v}))
	c.bytes += g.size()
	for c.bytes > c.most {
		c.evict()
	}
}

// evict removes the segment that was not used for the longest time. It requires mu.
func (c *Cache) evict() {
	oldest := c.recent.Back()
	g := c.recent.Remove(oldest).(*cached)
	c.bytes -= g.size()
	list := c.views[g.view]
	i := place(list, g.first)
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(c.views, g.view)
		return
	}
	c.views[g.view] = list
}

// end removes the events of a log. Readers that are left add none.
func (c *Cache) end(l *Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.ended = true
	for _, v := range []view{{l, false}, {l, true}} {
		for _, e := range c.views[v] {
			c.bytes -= c.recent.Remove(e).(*cached).size()
		}
		delete(c.views, v)
	}
}
